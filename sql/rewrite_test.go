package vastsql

import (
	"database/sql"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// TestRewrittenSelects counts the SELECTs of a statement that can read aggregates of this package.
func TestRewrittenSelects(t *testing.T) {
	f := newFixture(t, 20, Options{})
	f.db.SetMaxOpenConns(1)
	if _, err := f.db.Exec("CREATE VIRTUAL TABLE temp.rare USING vast(position2, frozen)"); err != nil {
		t.Fatal(err)
	}
	for want, texts := range [][]string{
		{ // no SELECT
			"SELECT sum(x) FROM position UNION SELECT 1 ORDER BY sum(x)",
			"SELECT count(*) FROM lives_in WHERE target = 5 AND target = 6",
			"SELECT count(*) FROM lives_in WHERE target > 5",
			"SELECT x, (SELECT sum(p.y) FROM traveller) FROM position p",
			"SELECT x, (SELECT sum(mass + y) FROM traveller) FROM position p",
			"SELECT x FROM position WHERE EXISTS (SELECT count(*) FROM position)",
			"SELECT count(*), (SELECT max(x) FROM (SELECT 1 AS x)) FROM position",
			"SELECT count(*) FROM position WHERE x BETWEEN 1 AND 2 = 1",
			"SELECT count(*) FROM position WHERE x BETWEEN 1 AND 2 ISNULL",
			"SELECT count(*) FROM position WHERE NOT x = 1",
			"SELECT count(*) FROM position WHERE x > random()",
			"SELECT count(*) FROM position WHERE x > rowid",
			"SELECT count(*) FROM position WHERE x > 1 AND 2 > 1",
			"SELECT sum(x) FROM position ORDER BY y",
			"SELECT group_concat('a'), count(*) FROM position",
			"SELECT max(x), max(x, y) FROM position",
			"SELECT count(*) FILTER (WHERE x > 3) FROM position",
			"SELECT sum(x) OVER () FROM position",
			"SELECT sum(x) FROM temp.position",
			"SELECT sum(position.x) FROM position p",
			"WITH position AS (SELECT 1 AS x) SELECT sum(x) FROM position",
			"WITH a AS (WITH POSITION AS (SELECT 1 AS x) SELECT sum(x) FROM position) SELECT * FROM a",
			`SELECT sum("position2.z") FROM rare`,
		},
		{ // one SELECT
			"SELECT s, age FROM (SELECT sum(x) AS s FROM position) JOIN traveller ON age > s",
			"SELECT s, age FROM traveller LEFT JOIN (SELECT sum(x) AS s FROM position) ON age > s",
			"WITH a AS (SELECT sum(x) FROM position), b AS (SELECT * FROM a) SELECT * FROM a, b",
			"SELECT sum(x) FROM position UNION SELECT 1 ORDER BY 1",
			"SELECT sum(x) AS n FROM position UNION SELECT 1 ORDER BY n LIMIT 1",
			"SELECT x, (SELECT count(*) FROM traveller t WHERE mass < p.y) FROM position p",
			"SELECT x, (SELECT count(*) FROM traveller WHERE entity = p.entity) FROM position p",
			"SELECT x, (SELECT count(*) FROM lives_in WHERE target = p.entity) FROM position p",
			"SELECT x, (SELECT sum(mass) + y FROM traveller) FROM position p",
			"SELECT x FROM position WHERE x IN (SELECT max(x) FROM position)",
			"SELECT count(*) FROM position p WHERE x > (SELECT avg(x) FROM position WHERE y < p.y)",
			"SELECT count(*) FROM position WHERE x > (SELECT avg(mass) FROM traveller WHERE mass > x)",
			"SELECT count(*), (SELECT max(x) FROM traveller, position p) FROM position",
			"SELECT count(*) FROM position WHERE x BETWEEN 1 AND 2 AND y > 3 AND y < 9",
			"SELECT count(*) FROM position WHERE x > '3' AND y > NULL",
			"SELECT count(*) FROM position WHERE x > abs(-3) * 2",
			"SELECT sum(x) / count(*) AS a FROM position ORDER BY sum(x)",
			"SELECT sum(x) AS y FROM position ORDER BY y",
			"SELECT round(avg(x), 1), coalesce(max(y), ''), CASE WHEN count(*) > 3 THEN ?1 END FROM position",
			"SELECT max(min(x), 3) FROM position",
			`SELECT "count"(x) AS "größe" FROM "Position" /* é */ AS "ä" WHERE "ä"."x" > 3 -- ß`,
			"SELECT sum(position.x) FROM main.position",
			"WITH position AS (SELECT 1 AS x) SELECT sum(x) FROM main.position",
			"EXPLAIN QUERY PLAN SELECT count(*) FROM position",
			"VALUES ((SELECT count(*) FROM position))",
		},
		{ // two SELECTs
			"SELECT (SELECT sum(x) FROM position) + (SELECT count(*) FROM traveller WHERE age > 3)",
			"SELECT min(x) FROM position UNION SELECT x FROM position UNION ALL SELECT max(y) FROM position",
			"SELECT count(*) FROM position WHERE x > (SELECT avg(x) FROM position)",
		},
	} {
		for _, text := range texts {
			checkRewritten(t, f.db, text, want)
		}
	}
}

func checkRewritten(t *testing.T, db *sql.DB, text string, want int) {
	t.Helper()
	r := rewrite(text, schemaOf(t, db))
	if got := len(r.selects); got != want {
		t.Errorf("%s: %d SELECTs can read aggregates of this package, want %d", text, got, want)
		return
	}
	plan, err := tryRead(db, "EXPLAIN QUERY PLAN "+strings.TrimPrefix(text, "EXPLAIN QUERY PLAN "), 5)
	if err != nil { // most statements have no parameter
		plan, err = tryRead(db, "EXPLAIN QUERY PLAN "+strings.TrimPrefix(text, "EXPLAIN QUERY PLAN "))
	}
	if err == nil {
		if got := strings.Count(strings.Join(plan, "\n"), aggregatesOf); got != want {
			t.Errorf("%s: %d SELECTs read aggregates of this package, want %d: %q", text, got, want, plan)
		}
	}
}

// TestTypesOfColumns checks that only aggregates of this package in the outermost result have declared types,
// and that comparisons of aggregates convert no values.
func TestTypesOfColumns(t *testing.T) {
	f := newFixture(t, 5, Options{})
	for text, want := range map[string]string{
		"SELECT count(*), avg(x), max(age) FROM traveller JOIN position USING (entity)": ",,",
		"SELECT count(*), avg(x), abs(min(x)) FROM position":                            "INTEGER,REAL,",
		"SELECT * FROM (SELECT count(*), avg(x) FROM position)":                         ",",
	} {
		rows, err := f.db.Query(text)
		if err != nil {
			t.Fatal(err)
		}
		types, err := rows.ColumnTypes()
		if err := errors.Join(err, rows.Close()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, typ := range types {
			got = append(got, typ.DatabaseTypeName())
		}
		if got := strings.Join(got, ","); got != want {
			t.Errorf("%s: the types are %s, want %s", text, got, want)
		}
	}
	const text = "SELECT max(sum(age), '7') = '7', sum(age) = '6' FROM traveller"
	for _, text := range []string{text, text + " WHERE age IN (1, 2, 3) OR 1 = 1"} {
		if got := read(t, f.db, text); !reflect.DeepEqual(got, []string{"1|0"}) {
			t.Errorf("%s: got %q", text, got)
		}
	}
}

// TestParametersOfSelects checks that parameters keep their numbers and names.
func TestParametersOfSelects(t *testing.T) {
	f := newFixture(t, 20, Options{})
	for _, c := range []struct {
		text string
		args []any
		want string
	}{
		{"SELECT (SELECT count(*) FROM position WHERE x > ?), ?, (SELECT max(y) FROM position WHERE y < ? " +
			"AND x > ?)", []any{8, "b", -3, 2.5}, "3|b|-6"},
		{"SELECT min(x) + ?1 AS a, ?3 AS b FROM position WHERE x > ?2 AND y < ?1", []any{-10, 3, 4},
			"-4.5|4"},
		{"SELECT :a, (SELECT sum(x) FROM position WHERE x BETWEEN @b AND :a) FROM name WHERE entity <> $c",
			[]any{sql.Named("c", 0), sql.Named("b", 2), sql.Named("a", 3)}, "3|7.5"},
	} {
		if got := read(t, f.db, c.text, c.args...); !reflect.DeepEqual(got, []string{c.want}) {
			t.Errorf("%s: got %q, want %s", c.text, got, c.want)
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

// TestMisfit rewrites one of two SELECTs, and reads a table of aggregates without one of its conditions.
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
	// The mark 17 stands for one condition. The statement has no condition.
	if _, err := tryRead(f.db, `SELECT "sum(x)" FROM temp."position$aggregates"(17)`); err == nil {
		t.Error("a table of aggregates has a row although its condition is missing")
	}
}

// TestNamesOfColumns checks that columns of rewritten statements have the names that SQLite gives without
// rewriting.
func TestNamesOfColumns(t *testing.T) {
	f := newFixture(t, 20, Options{})
	for _, c := range []struct {
		text string
		want []string
	}{
		{"SELECT sum(x) /* a */, Count( * ), 3, avg(y) -- b\n FROM position",
			[]string{"sum(x) /* a */", "Count( * )", "3", "avg(y) -- b"}},
		{`SELECT 'ä' || sum(x)||"max"(y) , min(y) n, max(x,max(y)) FROM position`,
			[]string{`'ä' || sum(x)||"max"(y)`, "n", "max(x,max(y))"}},
		{"SELECT count(*) FROM position UNION SELECT 1",
			[]string{"count(*)"}},
		{"SELECT * FROM (SELECT sum(x), sum(x), (sum(y)) FROM position)",
			[]string{"sum(x)", "sum(x):1", "(sum(y))"}},
		{"SELECT (SELECT max(x) FROM position), p.y FROM position p LIMIT 1",
			[]string{"(SELECT max(x) FROM position)", "y"}},
		{"SELECT (SELECT count(*) FROM position), 2 -- ä",
			[]string{"(SELECT count(*) FROM position)", "2 -- ä"}},
		{"SELECT 2, (SELECT count(*) FROM position) -- ä",
			[]string{"2", "(SELECT count(*) FROM position) -- ä"}},
		{"SELECT (SELECT count(*) FROM position)|| '' WHERE 1 UNION SELECT 3;",
			[]string{"(SELECT count(*) FROM position)|| ''"}},
	} {
		rows, err := f.db.Query(c.text)
		if err != nil {
			t.Fatal(c.text, err)
		}
		got, err := rows.Columns()
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: the columns are %q, want %q", c.text, got, c.want)
		}
	}
}
