package vastarrow

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/nodetest"
)

// programs writes the fixture to a file and runs a script that reads this file and writes the rows to new
// files. results holds the endings and the formats of the new files. programs checks that Read makes the same
// entities of each new file, and returns the figures that the script prints.
func programs(t *testing.T, f Format, script string, results map[string]Format) []float64 {
	w := newFixture(t)
	w.fill(t, 3000)
	want := w.dump()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, mustWrite(t, f, mustEntities(t, w.Query(), w.columns()...)),
		0o644); err != nil {
		t.Fatal(err)
	}
	text := nodetest.Run(t, filepath.Join("testdata", script), file, file)
	var figures []float64
	if err := json.Unmarshal(text, &figures); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for ending, format := range results {
		data, err := os.ReadFile(file + ending)
		if err != nil {
			t.Fatal(err)
		}
		g := newFixture(t)
		report, err := Read(context.Background(), g.World, bytes.NewReader(data), format, ReadOptions{})
		if err != nil || report.Refused+report.Nulls+len(report.Unknown)+len(report.Missing) > 0 {
			t.Errorf("%s: %+v, %v", ending, report, err)
			continue
		}
		if got := g.dump(); got != want {
			t.Log(ending)
			diff(t, got, want)
		}
	}
	return figures
}

func TestDuckDB(t *testing.T) {
	got := programs(t, Parquet, "duckdb.mjs", map[string]Format{".parquet": Parquet, ".csv": CSV,
		".json": JSONLines})
	sum, colors := 0.0, 0.0
	for i := range 3000 {
		sum += float64(i) / 3
		colors += float64(i % 256)
	}
	want := []float64{3000, sum, 0, 0, 1500, 2250, colors, 1000}
	equalFigures(t, got, want)
}

func TestJavaScriptArrow(t *testing.T) {
	got := programs(t, ArrowStream, "arrow.mjs", map[string]Format{".arrows": ArrowStream,
		".arrow": ArrowFile})
	sum, colors := 0.0, 0.0
	for i := range 3000 {
		sum += float64(i) / 3
		colors += float64(i % 256)
	}
	equalFigures(t, got, []float64{3000, sum, 1500, colors, 1000})
}

func equalFigures(t *testing.T, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-6*math.Abs(want[i]) {
			t.Errorf("figure %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// TestPython reads CSV and JSON lines with Python's own modules.
func TestPython(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("VAST_SQL_REQUIRED") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	w := newFixture(t)
	w.fill(t, 100)
	dir := t.TempDir()
	for _, f := range []Format{CSV, JSONLines} {
		b := mustWrite(t, f, mustEntities(t, w.Query(), w.columns()...))
		if err := os.WriteFile(filepath.Join(dir, f.String()), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("python3", "-c", `
import csv, json
a = list(csv.DictReader(open("csv", newline="", encoding="utf-8")))
b = [json.loads(l) for l in open("json lines", encoding="utf-8")]
print(len(a), len(b), sum(float(r["position.x"]) for r in a) == sum(r["position.x"] for r in b),
    all((r["note.text"] or None) == s["note.text"] for r, s in zip(a, b)),
    a[3]["name"], json.loads(a[5]["body.color"]))
`)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != "100 100 True True entity 3 [1, 5, 255]" {
		t.Errorf("%v: %s", err, got)
	}
}
