package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/vasttest"
	"github.com/vastgo/vast/internal/nodetest"
)

// TestGuide runs the commands of docs/guide/sql.md that export from a running Earth and ask DuckDB.
func TestGuide(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "guide", "sql.md"))
	if err != nil {
		t.Fatal(err)
	}
	export := regexp.MustCompile(`(?s)vastarrow export -addr :8080 -out road\.parquet \\\n  "([^"]*)"`).
		FindSubmatch(guide)
	ask := regexp.MustCompile(`(?s)duckdb -c "([^"]*)"`).FindSubmatch(guide)
	if export == nil || ask == nil {
		t.Fatal("the guide lacks the commands")
	}
	inspector, _, _ := vasttest.Earth(t)
	dir := t.TempDir()
	args := []string{"export", "-addr", inspector, "-out", filepath.Join(dir, "road.parquet"),
		string(export[1])}
	row := regexp.MustCompile(`^[A-Z]{2} [1-9][0-9]*$`)
	for began := time.Now(); ; { // there are no rows until the first travellers fall ill
		if status, out, notes := runTask(t, args...); status != 0 || out != "" || notes != "" {
			t.Fatalf("exit status %d\n%s%s", status, out, notes)
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
		if err := os.Remove(args[4]); err != nil {
			t.Fatal(err)
		}
	}
	if status, _, notes := runTask(t, args...); status != 1 || !strings.Contains(notes, "exists") {
		t.Errorf("a second export into the same file: exit status %d\n%s", status, notes)
	}
}
