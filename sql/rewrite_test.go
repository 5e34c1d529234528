package vastsql

import (
	"database/sql"
	"reflect"
	"strings"
	"testing"
)

// TestRewrittenSelects counts the SELECTs of statements that read aggregates of this package.
func TestRewrittenSelects(t *testing.T) {
	f := newFixture(t, 20, Options{})
	f.db.SetMaxOpenConns(1)
	if _, err := f.db.Exec("CREATE VIRTUAL TABLE temp.rare USING vast(position2, frozen)"); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"SELECT (SELECT sum(x) FROM position) + (SELECT count(*) FROM traveller WHERE age > 3)":               2,
		"SELECT s, age FROM (SELECT sum(x) AS s FROM position) JOIN traveller ON age > s":                     1,
		"SELECT s, age FROM traveller LEFT JOIN (SELECT sum(x) AS s FROM position) ON age > s":                1,
		"WITH a AS (SELECT sum(x) FROM position), b AS (SELECT * FROM a) SELECT * FROM a, b":                  1,
		"SELECT min(x) FROM position UNION SELECT x FROM position UNION ALL SELECT max(y) FROM position":      2,
		"SELECT sum(x) FROM position UNION SELECT 1 ORDER BY sum(x)":                                          0,
		"SELECT sum(x) FROM position UNION SELECT 1 ORDER BY 1":                                               1,
		"SELECT sum(x) AS n FROM position UNION SELECT 1 ORDER BY n LIMIT 1":                                  1,
		"SELECT x, (SELECT count(*) FROM traveller t WHERE mass < p.y) FROM position p":                       1,
		"SELECT x, (SELECT count(*) FROM traveller WHERE entity = p.entity) FROM position p":                  1,
		"SELECT x, (SELECT count(*) FROM lives_in WHERE target = p.entity) FROM position p":                   1,
		"SELECT count(*) FROM lives_in WHERE target = 5 AND target = 6":                                       0,
		"SELECT count(*) FROM lives_in WHERE target > 5":                                                      0,
		"SELECT x, (SELECT sum(p.y) FROM traveller) FROM position p":                                          0,
		"SELECT x, (SELECT sum(mass + y) FROM traveller) FROM position p":                                     0,
		"SELECT x, (SELECT sum(mass) + y FROM traveller) FROM position p":                                     1,
		"SELECT x FROM position WHERE x IN (SELECT max(x) FROM position)":                                     1,
		"SELECT x FROM position WHERE EXISTS (SELECT count(*) FROM position)":                                 0,
		"SELECT count(*) FROM position WHERE x > (SELECT avg(x) FROM position)":                               2,
		"SELECT count(*) FROM position p WHERE x > (SELECT avg(x) FROM position WHERE y < p.y)":               1,
		"SELECT count(*) FROM position WHERE x > (SELECT avg(mass) FROM traveller WHERE mass > x)":            1,
		"SELECT count(*), (SELECT max(x) FROM traveller, position p) FROM position":                           1,
		"SELECT count(*), (SELECT max(x) FROM (SELECT 1 AS x)) FROM position":                                 0,
		"SELECT count(*) FROM position WHERE x BETWEEN 1 AND 2 AND y > 3 AND y < 9":                           1,
		"SELECT count(*) FROM position WHERE x BETWEEN 1 AND 2 = 1":                                           0,
		"SELECT count(*) FROM position WHERE x BETWEEN 1 AND 2 ISNULL":                                        0,
		"SELECT count(*) FROM position WHERE NOT x = 1":                                                       0,
		"SELECT count(*) FROM position WHERE x > '3' AND y > NULL":                                            1,
		"SELECT count(*) FROM position WHERE x > abs(-3) * 2":                                                 1,
		"SELECT count(*) FROM position WHERE x > random()":                                                    0,
		"SELECT count(*) FROM position WHERE x > rowid":                                                       0,
		"SELECT count(*) FROM position WHERE x > 1 AND 2 > 1":                                                 0,
		"SELECT sum(x) / count(*) AS a FROM position ORDER BY sum(x)":                                         1,
		"SELECT sum(x) AS y FROM position ORDER BY y":                                                         1,
		"SELECT sum(x) FROM position ORDER BY y":                                                              0,
		"SELECT round(avg(x), 1), coalesce(max(y), 'none'), CASE WHEN count(*) > 3 THEN ?1 END FROM position": 1,
		"SELECT group_concat('a'), count(*) FROM position":                                                    0,
		"SELECT max(x), max(x, y) FROM position":                                                              0,
		"SELECT max(min(x), 3) FROM position":                                                                 1,
		"SELECT count(*) FILTER (WHERE x > 3) FROM position":                                                  0,
		"SELECT sum(x) OVER () FROM position":                                                                 0,
		`SELECT "count"(x) AS "größe" FROM "Position" /* é */ AS "ä" WHERE "ä"."x" > 3 -- ß`:                  1,
		"SELECT sum(position.x) FROM main.position":                                                           1,
		"SELECT sum(x) FROM temp.position":                                                                    0,
		"SELECT sum(position.x) FROM position p":                                                              0,
		"WITH position AS (SELECT 1 AS x) SELECT sum(x) FROM position":                                        0,
		"WITH position AS (SELECT 1 AS x) SELECT sum(x) FROM main.position":                                   1,
		"WITH a AS (SELECT (WITH POSITION AS (SELECT 1 AS x) SELECT sum(x) FROM position)) SELECT * FROM a":   0,
		`SELECT sum("position2.z") FROM rare`:                                                                 0,
		"EXPLAIN QUERY PLAN SELECT count(*) FROM position":                                                    1,
		"VALUES ((SELECT count(*) FROM position))":                                                            1,
	} {
		r := rewrite(text, schemaOf(t, f.db))
		if got := len(r.selects); got != want {
			t.Errorf("%s: %d SELECTs can read aggregates of this package, want %d", text, got, want)
			continue
		}
		plan, err := tryRead(f.db, "EXPLAIN QUERY PLAN "+strings.TrimPrefix(text, "EXPLAIN QUERY PLAN "), 5)
		if err != nil {
			plan, err = tryRead(f.db, "EXPLAIN QUERY PLAN "+strings.TrimPrefix(text, "EXPLAIN QUERY PLAN "))
		}
		if err == nil {
			if got := strings.Count(strings.Join(plan, "\n"), aggregatesOf); got != want {
				t.Errorf("%s: %d SELECTs read aggregates of this package, want %d: %q", text, got, want, plan)
			}
		}
	}
}

// schemaOf returns the schema of a connection.
func schemaOf(t *testing.T, db *sql.DB) (s *schema) {
	t.Helper()
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = c.Raw(func(c any) error {
		s = c.(*conn).session.schema
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMisfit leaves one SELECT of a statement as it was written.
func TestMisfit(t *testing.T) {
	f := newFixture(t, 20, Options{})
	const text = "SELECT (SELECT sum(x) FROM position), (SELECT min(y) FROM position WHERE x > 2)"
	r := rewrite(text, schemaOf(t, f.db))
	if len(r.selects) != 2 || !r.drop(r.selects[0].mark) || r.drop(1) {
		t.Fatal(r)
	}
	got := r.apply()
	if !strings.Contains(got, "sum(x) FROM position") || !strings.Contains(got, `+"min(y)"`) {
		t.Errorf("without its first SELECT, the statement is %s", got)
	}
	if want := []string{"94.5|-19"}; !reflect.DeepEqual(read(t, f.db, got), want) {
		t.Errorf("%s: got %q, want %q", got, read(t, f.db, got), want)
	}
	// A mark of one condition, which the statement does not have.
	if _, err := tryRead(f.db, `SELECT "sum(x)" FROM temp."position$aggregates"(17)`); err == nil {
		t.Error("a table of aggregates has a row although its condition is missing")
	}
}

// TestNamesOfColumns checks that results of rewritten statements have the names that SQLite gives.
func TestNamesOfColumns(t *testing.T) {
	f := newFixture(t, 20, Options{})
	for text, want := range map[string][]string{
		"SELECT sum(x) /* a */, Count( * ), 3, avg(y) -- b\n FROM position":      {"sum(x) /* a */", "Count( * )", "3", "avg(y) -- b"},
		`SELECT 'ä' || sum(x)||"max"(y) , min(y) n, max(x,max(y)) FROM position`: {`'ä' || sum(x)||"max"(y)`, "n", "max(x,max(y))"},
		"SELECT count(*) FROM position UNION SELECT 1":                           {"count(*)"},
		"SELECT * FROM (SELECT sum(x), sum(x), (sum(y)) FROM position)":          {"sum(x)", "sum(x):1", "(sum(y))"},
		"SELECT (SELECT max(x) FROM position), p.y FROM position p LIMIT 1":      {"(SELECT max(x) FROM position)", "y"},
		"SELECT (SELECT count(*) FROM position), 2 -- ä":                         {"(SELECT count(*) FROM position)", "2 -- ä"},
		"SELECT 2, (SELECT count(*) FROM position) -- ä":                         {"2", "(SELECT count(*) FROM position) -- ä"},
		"SELECT (SELECT count(*) FROM position)|| '' WHERE 1 UNION SELECT 3;":    {"(SELECT count(*) FROM position)|| ''"},
	} {
		rows, err := f.db.Query(text)
		if err != nil {
			if want != nil {
				t.Error(text, err)
			}
			continue
		}
		got, err := rows.Columns()
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the columns are %q, want %q", text, got, want)
		}
	}
}
