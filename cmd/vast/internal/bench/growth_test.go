package bench

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/clock"
)

// TestStrategies checks the bytes held and the elements moved that each strategy reports.
func TestStrategies(t *testing.T) {
	const n = 5000
	for _, name := range growthNames {
		g := newGrowing(name, n)
		s := stopwatch{start: clock.Now()}
		moved, most := 0, 0
		for i := range n {
			before, _ := g.held()
			g.fillLapping(1, &s)
			now, worst := g.held()
			if now < bytesElements(i+1) || worst < now {
				t.Fatalf("%s: %d and %d bytes are held for %d elements", name, now, worst, i+1)
			}
			if name == "slice-grown" && now != before {
				moved += i
				if worst != before+now {
					t.Fatalf("%s: %d bytes are held while a slice of %d bytes grows to %d", name, worst,
						before, now)
				}
			}
			most = max(most, worst)
		}
		if g.sum() != n {
			t.Errorf("%s: the sum is %v", name, g.sum())
		}
		if g.moved() != moved || (moved > 0) != (name == "slice-grown") {
			t.Errorf("%s: %d elements were moved, want %d", name, g.moved(), moved)
		}
		if s.longest <= 0 {
			t.Errorf("%s: no append took any time", name)
		}
		g.close()
	}
}

func TestTraces(t *testing.T) {
	traces, err := traceGrowth(options{n: 20_000, rounds: 2, json: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, tr := range traces {
		last := 0
		for _, p := range tr.Points {
			if p.Elements <= last || p.LongestNs <= 0 || p.Held < 1 {
				t.Errorf("%s: %+v after %d elements", tr.Strategy, p, last)
			}
			last = p.Elements
		}
		if tr.Strategy != growthNames[i] || last != 20_000 || len(tr.Points) < pointsPerDecade {
			t.Errorf("%s: %d points, the last at %d elements", tr.Strategy, len(tr.Points), last)
		}
		if tr.WorstMB < tr.WasteMB || tr.HeldMB < 0.8 {
			t.Errorf("%s: %+v", tr.Strategy, tr)
		}
	}
}

func TestGrowthChart(t *testing.T) {
	name := filepath.Join(t.TempDir(), "growth.svg")
	var stdout, stderr bytes.Buffer
	if status := Run([]string{"growth", "-n", "20000", "-rounds", "1", "-svg", name}, &stdout,
		&stderr); status != 0 {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	if !strings.Contains(stdout.String(), "elements moved") ||
		!strings.Contains(stdout.String(), "growth-iterate") {
		t.Errorf("output:\n%s", &stdout)
	}
	drawn, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines, text := 0, "|"
	for d := xml.NewDecoder(bytes.NewReader(drawn)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				if a.Name.Local == "d" && strings.Contains(a.Value, "L") {
					lines++
				}
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("%s of %s is %s", a.Name.Local, token.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			text += string(token) + "|"
		}
	}
	if lines != 2*len(growthNames) {
		t.Errorf("%d lines, want one for each of %d strategies in two panels", lines, len(growthNames))
	}
	for _, want := range []string{"one reservation (Array)", "blocks of 16 KiB", "Longest single append",
		"1 k", "10 k", "1 ms", "1.5"} {
		if !strings.Contains(text, "|"+want+"|") {
			t.Errorf("the chart lacks %q: %s", want, text)
		}
	}
	if status := Run([]string{"growth", "-n", "2000", "-rounds", "1", "-svg", filepath.Join(name, "no")},
		&stdout, &stderr); status != 1 {
		t.Errorf("a file that cannot be written: status %d", status)
	}
}
