package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// elements counts the elements of an XML document by name, and collects its text.
func elements(t *testing.T, document []byte) (count map[string]int, words []string) {
	t.Helper()
	count = make(map[string]int)
	decoder := xml.NewDecoder(bytes.NewReader(document))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return count, words
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			count[token.Name.Local]++
		case xml.CharData:
			words = append(words, strings.TrimSpace(string(token)))
		}
	}
}

func TestChartShowsEveryLine(t *testing.T) {
	var out bytes.Buffer
	c := newChartReport(&out)
	for _, r := range []row{
		{Work: "query2comp", N: 1, Peer: peerArk, Ratio: 0.04},
		{Work: "query2comp", N: 1_000_000, Peer: peerArk, Ratio: 700},
		{Work: "add_remove", N: 16, Peer: peerArkBatch, Ratio: 2},
		{Work: "create2comp", N: 16, Peer: peerUOT, Ratio: 2},
		{Work: "new_world", N: 1, Peer: peerUOT, Ratio: 2},        // no line, because the work has no panel
		{Work: "query_parallel", N: 64, Peer: peerSelf, Ratio: 2}, // no line, because the peer is Vast
	} {
		if err := c.add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.finish(); err != nil {
		t.Fatal(err)
	}
	count, words := elements(t, out.Bytes())
	if count["svg"] != 1 || count["style"] != 1 || count["path"] == 0 {
		t.Errorf("elements %v, want one svg, one style and some paths", count)
	}
	text := "|" + strings.Join(words, "|") + "|"
	for _, want := range []string{"query2comp", "add_remove, one call", "create2comp", "Iterating",
		"Deleting", "0.1", "100", "1 M"} {
		if !strings.Contains(text, "|"+want+"|") {
			t.Errorf("the chart lacks %q: %s", want, text)
		}
	}
	for _, unwanted := range []string{"new_world", "query_parallel"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("the chart has a line %q", unwanted)
		}
	}
	// chartStyle names each colour once. If a colour occurs again, something is drawn with it.
	for _, colour := range []string{"fill:#FFFFFE", "fill:#1F2328", "stroke:#E1E4E9"} {
		if strings.Count(out.String(), colour) < 2 {
			t.Errorf("nothing is drawn with %s", colour)
		}
	}
}

func TestChartIsDrawnBesideTheTable(t *testing.T) {
	name := filepath.Join(t.TempDir(), "chart.svg")
	var stdout, stderr bytes.Buffer
	args := []string{"-work", "random", "-peer", "ark", "-n", "3", "-rounds", "1", "-svg", name}
	if status := run(args, &stdout, &stderr); status != exitOK {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	drawn, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stdout.String(), "random") || !bytes.Contains(drawn, []byte("random")) {
		t.Errorf("the table or the chart lacks the work random: table %q, chart of %d bytes", &stdout,
			len(drawn))
	}
}

func TestRatioTicks(t *testing.T) {
	for _, c := range []struct {
		min, max float64
		want     string
	}{{0.4, 12, "0.5 1 2 5 10"}, {0.8, 1.2, "1"}, {0.02, 90, "0.1 1 10"}} {
		var labels []string
		for _, tick := range ratioTicks(c.min, c.max) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("ticks from %v to %v: %s, want %s", c.min, c.max, got, c.want)
		}
	}
}
