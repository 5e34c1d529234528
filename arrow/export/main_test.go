package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/arrow/internal/nodetest"
)

// TestGuide runs the commands of docs/guide/sql.md that export from a running Earth and ask DuckDB.
func TestGuide(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command vast")
	}
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide", "sql.md"))
	if err != nil {
		t.Fatal(err)
	}
	export := regexp.MustCompile(`(?s)-addr 127\.0\.0\.1:5432 -out road\.parquet \\\n  "([^"]*)"`).
		FindSubmatch(guide)
	ask := regexp.MustCompile(`(?s)duckdb -c "([^"]*)"`).FindSubmatch(guide)
	if export == nil || ask == nil {
		t.Fatal("the guide lacks the commands")
	}
	dir := t.TempDir()
	vast := filepath.Join(dir, "vast")
	if out, err := exec.Command("go", "build", "-o", vast, "../../cmd/vast").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	address := startEarth(t, vast)
	out := filepath.Join(dir, "road.parquet")
	o, err := parse([]string{"-addr", address, "-out", out, string(export[1])}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`^[A-Z]{2} [1-9][0-9]*$`)
	for began := time.Now(); ; { // the first travellers fall ill in the first simulated hours
		if err := run(t.Context(), o, nil); err != nil {
			t.Fatal(err)
		}
		var rows [][]string
		text := nodetest.Run(t, filepath.Join("testdata", "ask.mjs"), dir, string(ask[1]))
		if err := json.Unmarshal(text, &rows); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if len(rows) >= 2 && len(rows) <= 5 {
			for _, r := range rows {
				if !row.MatchString(strings.Join(r, " ")) {
					t.Errorf("row %q", r)
				}
			}
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("after a minute, DuckDB returns %q", rows)
		}
		if err := os.Remove(out); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(t.Context(), o, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second export into the same file returned %v", err)
	}
}

// startEarth starts `vast earth -sql` and returns the address of its SQL server.
func startEarth(t *testing.T, vast string) string {
	t.Helper()
	c := exec.Command(vast, "earth", "-plain", "-travellers", "100000", "-sql", "127.0.0.1:0")
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait() // an interrupt ends the command with exit status 130
	})
	address := regexp.MustCompile(`^# sql: psql -h (\S+) -p (\d+)$`)
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if m := address.FindStringSubmatch(lines.Text()); m != nil {
			return m[1] + ":" + m[2]
		}
	}
	t.Fatal("the command printed no address of the SQL server")
	return ""
}

func TestMisuse(t *testing.T) {
	for _, args := range [][]string{nil, {"SELECT 1"}, {"-data", "a"},
		{"-data", "a", "-addr", "b", "SELECT 1"}, {"-data", "a", "-format", "xml", "SELECT 1"},
		{"-data", "a", "SELECT", "1"}} {
		if _, err := parse(args, os.Stderr); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
	o, err := parse([]string{"-data", filepath.Join(t.TempDir(), "none"), "SELECT 1"}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), o, nil); err == nil {
		t.Error("a folder that does not exist: no error")
	}
}
