package vastsql

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// incomparable matches statements that the test cannot compare. They change something, or their results
// depend on the order of rows, on the time, on chance, or on something that only one of the two databases
// has.
var incomparable = regexp.MustCompile(`(?i)` + strings.Join([]string{"limit", "offset", "over", "window",
	"rowid", "oid", "random", "concat", "string_agg", "json", "date", "time", "julian", "pragma", "sqlite_",
	"changes", `\$aggregates`, "explain", "first_value", "median", "percentile", "create", "drop", "begin",
	"commit", "end", "rollback", "savepoint", "release", "attach", "detach", "vacuum", "analyze", "reindex",
	"insert", "update", "delete", "replace", "alter", "zeroblob", "printf", "format", "vast_",
	"load_extension", "subtype", "likely", "likelihood", "tick"}, "|"))

// FuzzStatement runs any text on a small world. A statement must not panic, and its rows must be those that
// SQLite returns for its own tables with the same rows.
func FuzzStatement(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 1))
	w, own := newOddWorld(f, rng)
	g := generator{rng: rng, entities: w.entities}
	for range 60 {
		text, args := g.statement()
		if len(args) == 0 {
			f.Add(strings.ReplaceAll(text, pqTable, "odd"))
		}
	}
	for _, text := range []string{
		"SELECT sum(x), count(*) FROM position WHERE y BETWEEN -9 AND 3 AND x > 1",
		"WITH a(n) AS (SELECT max(a) FROM odd) SELECT n, (SELECT min(d) FROM odd WHERE c > n) FROM a",
		"SELECT count(*) FROM odd UNION ALL SELECT avg(mass) FROM traveller",
		"SELECT x FROM position p WHERE x = (SELECT max(x) FROM position WHERE y < p.y)",
		"SELECT count(*) \"é\" FROM main.\"Odd\" -- ß",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		ours, err := fuzzRows(ctx, w.db, text)
		if err != nil && strings.Contains(err.Error(), "SQLite failed") {
			t.Fatalf("%q: %v", text, err)
		}
		if err != nil || incomparable.MatchString(text) {
			return
		}
		theirs, err := fuzzRows(ctx, own, text)
		if err != nil {
			if text := err.Error(); strings.Contains(text, "no such column") ||
				strings.Contains(text, "no such table") {
				t.Fatalf("%q: %v on SQLite's own tables, no error here", text, err)
			}
			return
		}
		rounded(ours)
		rounded(theirs)
		slices.Sort(ours)
		slices.Sort(theirs)
		if !slices.Equal(ours, theirs) {
			t.Fatalf("%q:\n%q\nSQLite's own tables:\n%q", text, ours, theirs)
		}
	})
}

// fuzzRows returns the rows of a statement, or an error if they are more than 1000.
func fuzzRows(ctx context.Context, db *sql.DB, text string) ([]string, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	rows, err := c.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all, err := textOfRows(rows)
	if err == nil && len(all) > 1000 {
		err = errors.New("too many rows")
	}
	return all, err
}
