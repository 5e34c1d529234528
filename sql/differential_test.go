package vastsql

import (
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
)

// Odd has fields for values at the limits of their types.
type Odd struct {
	A int8
	B uint16
	C int64
	D float32
	E float64
	F bool
	G uint64
	H vast.Entity
}

var oddInts = []int64{0, 1, -1, 7, 127, -128, 255, 65535, 1 << 53, 1<<53 + 1, math.MaxInt64, math.MinInt64}

var oddFloats = []float64{0, 0.5, -1.5, 3, 7, 127.5, 1 << 53, 1 << 63, -(1 << 63), 1e300, math.Inf(1),
	math.Inf(-1), math.NaN(), math.SmallestNonzeroFloat64}

// newOddWorld makes a world with random values. own has the same rows in SQLite's own tables.
func newOddWorld(t testing.TB, rng *rand.Rand) (f *fixture, own *sql.DB) {
	f = newFixture(t, 60, Options{MaxPause: time.Minute})
	err := f.w.Visit(t.Context(), func() bool {
		odds := vast.NewColumn[Odd](f.w)
		others := vast.NewSparseColumn[struct{ P, Q int32 }](f.w)
		for i, e := range f.entities {
			if !f.w.Alive(e) {
				continue
			}
			pick := func() int64 { return oddInts[rng.IntN(len(oddInts))] }
			float := func() float64 { return oddFloats[rng.IntN(len(oddFloats))] }
			odds.Add(e, Odd{int8(pick()), uint16(pick()), pick(), float32(float()), float(),
				rng.IntN(2) == 0, uint64(pick()), f.entities[i/2]})
			if i%3 == 0 {
				others.Add(e, struct{ P, Q int32 }{int32(i % 4), int32(pick())})
			}
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	f.addRoads(t)
	own, err = driver.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	own.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := own.Close(); err != nil {
			t.Error(err)
		}
	})
	f.db.SetMaxOpenConns(1)
	for _, name := range read(t, f.db, "SELECT name FROM sqlite_schema") {
		copyTable(t, f.db, own, name)
	}
	return f, own
}

// copyTable copies the rows of a table into a new table of SQLite.
func copyTable(t testing.TB, from, into *sql.DB, name string) {
	var declarations, marks []string
	for _, c := range read(t, from, "SELECT name, type FROM pragma_table_info(?)", name) {
		column, typ, _ := strings.Cut(c, "|")
		declarations = append(declarations, quote(column)+" "+typ)
		marks = append(marks, "?")
	}
	_, err := into.Exec("CREATE TABLE " + quote(name) + "(" + strings.Join(declarations, ",") + ")")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := from.Query("SELECT * FROM " + quote(name))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		values, targets := make([]any, len(marks)), make([]any, len(marks))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		if _, err := into.Exec("INSERT INTO "+quote(name)+" VALUES ("+strings.Join(marks, ",")+")",
			values...); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// generator makes random statements over the tables of newOddWorld.
type generator struct {
	rng      *rand.Rand
	entities []vast.Entity
	args     []any
	tables   int // number of aliases so far
}

func (g *generator) of(choices ...string) string { return choices[g.rng.IntN(len(choices))] }

// column returns a random column of the table with the given alias: odd (o), traveller (v), position (p), the
// table of P and Q (r), roads (w), entities (e) or the table of an archetype (a).
func (g *generator) column(alias string) string {
	names := map[string][]string{
		"o": {"a", "b", "c", "d", "e", "f", "g", "h", "entity"},
		"v": {"age", "sick", `"home.city"`, `"history.1"`, "mass", "number", "entity"},
		"p": {"x", "y", "entity"},
		"r": {"p", "q", "entity"},
		"w": {"lanes", "length", `"to"`, `"stops.1"`, "source", "target"},
		"e": {"name", "components", "slot", "generation", "entity"},
		"a": {`"position.x"`, `"traveller.age"`, `"traveller.sick"`, "entity"},
	}[alias[:1]]
	return alias + "." + names[g.rng.IntN(len(names))]
}

// key returns a column of entities of the table with the given alias.
func (g *generator) key(alias string) string {
	if alias == "w" {
		return alias + g.of(".source", ".target", `."to"`)
	}
	return alias + ".entity"
}

func (g *generator) constant() string {
	var v any
	switch g.rng.IntN(6) {
	case 0:
		v = oddInts[g.rng.IntN(len(oddInts))]
	case 1, 2:
		v = int64(g.rng.IntN(200) - 50)
	case 3:
		v = oddFloats[g.rng.IntN(len(oddFloats))]
	case 4:
		v = int64(g.entities[g.rng.IntN(len(g.entities))].ID())
	default:
		v = g.of("abc", "12", " 7.5 ", "", "1e1", "0x10")
	}
	if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) || g.rng.IntN(2) == 0 {
		g.args = append(g.args, v)
		return fmt.Sprintf("?%d", len(g.args))
	}
	switch v := v.(type) {
	case string:
		return "'" + v + "'"
	case float64:
		return fmt.Sprintf("%g", v)
	case int64:
		if v == math.MinInt64 {
			return "(-9223372036854775807 - 1)"
		}
	}
	return fmt.Sprint(v)
}

func (g *generator) condition(aliases []string) string {
	a := aliases[g.rng.IntN(len(aliases))]
	c := g.column(a)
	switch g.rng.IntN(9) {
	case 0:
		return c + " BETWEEN " + g.constant() + " AND " + g.constant()
	case 1:
		return c + " IN (" + g.constant() + ", " + g.constant() + ", " + g.constant() + ")"
	case 2:
		return c + g.of(" IS NULL", " IS NOT NULL")
	case 3:
		return "(" + g.condition(aliases) + " OR " + g.condition(aliases) + ")"
	case 4:
		return g.constant() + g.of(" < ", " >= ", " = ") + c
	case 5:
		return c + g.of(" < ", " = ", " <> ") + g.column(aliases[g.rng.IntN(len(aliases))])
	}
	return c + g.of(" < ", " <= ", " > ", " >= ", " = ", " <> ") + g.constant()
}

func (g *generator) aggregate(alias string) string {
	if g.rng.IntN(4) == 0 {
		return "count(*)"
	}
	return g.of("count", "sum", "total", "avg", "min", "max", "Sum", "MIN") + "(" + g.column(alias) + ")"
}

func (g *generator) statement() (string, []any) {
	g.args = nil
	if g.rng.IntN(2) == 0 {
		return g.nested(), g.args
	}
	tables := []string{"odd o", "traveller v", "position p", `"` + pqTable + `" r`, "roads w", "entities e",
		"archetype_position_traveller a"}
	g.rng.Shuffle(len(tables), func(i, j int) { tables[i], tables[j] = tables[j], tables[i] })
	n := 1
	if g.rng.IntN(3) == 0 {
		n = 2
	}
	var aliases []string
	from := ""
	for i, table := range tables[:n] {
		alias := table[strings.LastIndexByte(table, ' ')+1:]
		if i > 0 {
			from += g.of(" JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ") + table + " ON " +
				g.key(alias) + " = " + g.key(aliases[0]) + g.of("", "", " + 0")
		} else {
			from = table
		}
		aliases = append(aliases, alias)
	}
	where := ""
	for i := range g.rng.IntN(4) {
		where += map[bool]string{true: " WHERE ", false: " AND "}[i == 0] + g.condition(aliases)
	}
	a := aliases[g.rng.IntN(len(aliases))]
	switch g.rng.IntN(5) {
	case 0:
		return "SELECT " + g.column(a) + " AS k, " + g.aggregate(a) + " FROM " + from + where + " GROUP BY k",
			g.args
	case 1, 2:
		return "SELECT " + g.aggregate(a) + ", " + g.aggregate(a) + " AS two, -" + g.aggregate(a) +
			" * 2 AS three FROM " + from + where, g.args
	}
	return "SELECT " + g.column(a) + ", " + g.column(aliases[0]) + " FROM " + from + where, g.args
}

// pqTable stands for the name of the table of P and Q, which depends on the number of its column. Tests
// replace pqTable by that name.
const pqTable = "column_%d"

// TestAgainstSQLite compares the results of random statements over a world with those over SQLite's own
// tables of the same rows.
func TestAgainstSQLite(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	f, own := newOddWorld(t, rng)
	g := generator{rng: rng, entities: f.entities}
	pq := ""
	for _, name := range read(t, f.db, "SELECT name FROM sqlite_schema") {
		if strings.HasPrefix(name, "column_") {
			pq = name
		}
	}
	fast, failures := 0, 0
	for i := range longtest.Pick(2_000, 50_000) {
		text, args := g.statement()
		text = strings.ReplaceAll(text, pqTable, pq)
		ours, err := tryRead(f.db, text, args...)
		theirs, errOwn := tryRead(own, text, args...)
		if overflows(err) || overflows(errOwn) {
			failures++ // the order of conditions decides whether SQLite evaluates a subquery that overflows
			continue
		}
		if (err == nil) != (errOwn == nil) {
			t.Fatalf("statement %d: %s %v: %v, SQLite's own tables %v", i, text, args, err, errOwn)
		}
		if err != nil {
			failures++
			continue
		}
		if plan, err := tryRead(f.db, "EXPLAIN QUERY PLAN "+text, args...); err == nil &&
			strings.Contains(strings.Join(plan, " "), aggregatesOf) {
			fast++
		}
		if strings.Contains(text, "JOIN") || strings.Contains(text, "GROUP") {
			rounded(ours)
			rounded(theirs)
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		if !slices.Equal(ours, theirs) {
			t.Fatalf("statement %d: %s %v:\n%q\nSQLite's own tables:\n%q", i, text, args, ours, theirs)
		}
	}
	t.Logf("%d statements used aggregates of this package, %d failed", fast, failures)
	if fast < 30 {
		t.Errorf("only %d statements used aggregates of this package", fast)
	}
}

// rounded rounds the floats in rows to 12 digits, in place. SQLite may join and group rows of its own tables
// in another order, and then the sums of floats differ in the last digits.
func rounded(rows []string) {
	for i, row := range rows {
		parts := strings.Split(row, "|")
		for j, p := range parts {
			var v float64
			if n, err := fmt.Sscanf(p, "%g", &v); n == 1 && err == nil && strings.ContainsAny(p, ".e") {
				parts[j] = fmt.Sprintf("%.12g", v)
			}
		}
		rows[i] = strings.Join(parts, "|")
	}
}
