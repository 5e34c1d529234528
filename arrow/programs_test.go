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
)

// node runs a script of testdata with Node and the libraries that it needs, and returns what the script
// prints. If VAST_SQL_REQUIRED is 1, node installs missing libraries into the user's cache. Otherwise it
// skips the test if something is missing.
func node(t *testing.T, script string, args ...string) []byte {
	t.Helper()
	lack := func(format string, a ...any) {
		t.Helper()
		if os.Getenv("VAST_SQL_REQUIRED") == "1" {
			t.Fatalf(format, a...)
		}
		t.Skipf(format, a...)
	}
	if _, err := exec.LookPath("node"); err != nil {
		lack("needs Node: %v", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		lack("needs a folder for libraries: %v", err)
	}
	dir := filepath.Join(cache, "vast-test-arrow-1")
	if _, err := os.Stat(filepath.Join(dir, "complete")); err != nil {
		if os.Getenv("VAST_SQL_REQUIRED") != "1" {
			t.Skip("needs @duckdb/node-api and apache-arrow: set VAST_SQL_REQUIRED=1 to install them with " +
				"npm")
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("npm", "install", "--no-audit", "--no-fund", "--no-save", "--prefix", dir,
			"@duckdb/node-api@1.5.6-r.1", "apache-arrow@21.2.0")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("npm install: %v\n%s", err, out)
		}
		if err := os.WriteFile(filepath.Join(dir, "complete"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var stderr bytes.Buffer
	c := exec.Command("node", append([]string{filepath.Join("testdata", script), dir}, args...)...)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, &stderr)
	}
	return out
}

// programs writes the fixture in a format, runs a script that writes the rows again, and reads the results.
func programs(t *testing.T, f Format, script string, results map[string]Format) []float64 {
	w := newFixture(t)
	w.fill(t, 3000)
	want := w.dump()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, mustWrite(t, f, mustEntities(t, w.Query(), w.columns()...)),
		0o644); err != nil {
		t.Fatal(err)
	}
	text := node(t, script, file, file)
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
