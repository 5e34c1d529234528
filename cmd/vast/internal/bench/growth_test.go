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

func TestStrategies(t *testing.T) {
	const n = 5000
	for _, name := range growthNames {
		g := newGrowing(name, n)
		s := stopwatch{start: clock.Now()}
		moved := 0
		for i := range n {
			before, _ := g.held()
			g.fillLapping(1, &s)
			now, largest := g.held()
			if now < bytesElements(i+1) || largest < now {
				t.Fatalf("%s: held returns %d, %d for %d elements of %d bytes", name, now, largest, i+1,
					bytesElement)
			}
			if name == "slice-grown" && now != before {
				moved += i
				if largest != before+now {
					t.Fatalf("%s: growth from %d to %d bytes holds at most %d bytes, want the sum",
						name, before, now, largest)
				}
			}
		}
		if g.sum() != n {
			t.Errorf("%s: the sum is %v, want %d", name, g.sum(), n)
		}
		if g.moved() != moved || (moved > 0) != (name == "slice-grown") {
			t.Errorf("%s: %d elements were moved, want %d", name, g.moved(), moved)
		}
		if s.longest <= 0 {
			t.Errorf("%s: the longest append took %v", name, s.longest)
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
				t.Errorf("%s: the point %+v follows a point at %d elements", tr.Strategy, p, last)
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
		t.Errorf("the chart has %d lines, want two for each of the %d strategies", lines, len(growthNames))
	}
	for _, want := range []string{"one reservation (Array)", "blocks of 16 KiB", "Longest single append",
		"1 k", "10 k", "1 ms", "1.5"} {
		if !strings.Contains(text, "|"+want+"|") {
			t.Errorf("the chart lacks %q: %s", want, text)
		}
	}
	if status := Run([]string{"growth", "-n", "2000", "-rounds", "1", "-svg", filepath.Join(name, "no")},
		&stdout, &stderr); status != 1 {
		t.Errorf("with a file that cannot be written, the status is %d, want 1", status)
	}
}
