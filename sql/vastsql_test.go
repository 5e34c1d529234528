package vastsql

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
)

type Position struct{ X, Y float32 }

type Traveller struct {
	Age     int16
	Sick    bool
	Home    struct{ City, Floor uint8 }
	History [3]int32
	Mass    float64
	Number  uint64
}

type Note struct {
	Text string
	Raw  []byte
	Tags map[string]int
}

// fixture is a world whose owner admits visits until the test ends.
type fixture struct {
	w          *vast.World
	positions  vast.Column[Position]
	travellers vast.Column[Traveller]
	notes      vast.HeapColumn[Note]
	rare       vast.SparseColumn[Position2]
	frozen     vast.Tag
	livesIn    vast.Relation
	entities   []vast.Entity
	db         *sql.DB
}

type Position2 struct{ Z float64 }

func newFixture(t testing.TB, n int, o Options) *fixture {
	f := &fixture{w: vast.NewWorld(vast.Options{})}
	f.positions = vast.NewColumn[Position](f.w)
	f.travellers = vast.NewColumn[Traveller](f.w)
	f.notes = vast.NewHeapColumn[Note](f.w)
	f.rare = vast.NewSparseColumn[Position2](f.w)
	f.frozen = vast.NewTag(f.w, "Frozen")
	f.livesIn = vast.NewRelation(f.w, "LivesIn", vast.RelationOptions{})
	both := f.w.Archetype(f.positions, f.travellers)
	for i := range n {
		e := both.New()
		f.entities = append(f.entities, e)
		f.positions.Set(e, Position{float32(i) / 2, float32(-i)})
		tr := Traveller{Age: int16(i % 90), Sick: i%7 == 0, Mass: float64(i) * 1.5, Number: uint64(i)}
		tr.Home.City, tr.History[1] = uint8(i%200), int32(i*i)
		f.travellers.Set(e, tr)
		if i%5 == 0 {
			f.frozen.Add(e)
			f.rare.Add(e, Position2{float64(i)})
		}
		if i > 0 && i%2 == 0 {
			f.livesIn.Set(e, f.entities[0])
		}
	}
	if n > 3 {
		f.notes.Add(f.entities[2], Note{Text: "it's", Raw: []byte{0, 255}, Tags: map[string]int{"a": 1}})
		if _, err := f.w.Names().Set(f.entities[3], "Ann"); err != nil {
			t.Fatal(err)
		}
		f.w.Delete(f.entities[1])
	}
	f.serve(t)
	var err error
	if f.db, err = Open(f.w, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.db.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// serve starts a goroutine that owns the world from then on and admits visits until the test ends.
func (f *fixture) serve(t testing.TB) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		f.w.Idle(func() { <-end })
	}()
	t.Cleanup(func() {
		close(end)
		<-ended
		if err := f.w.Close(); err != nil {
			t.Error(err)
		}
	})
}

// read returns the rows of a statement as text.
func read(t testing.TB, db *sql.DB, text string, args ...any) (all []string) {
	t.Helper()
	all, err := tryRead(db, text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return all
}

func tryRead(db *sql.DB, text string, args ...any) (all []string, err error) {
	rows, err := db.Query(text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return textOfRows(rows)
}

// textOfRows returns each row as text, with | between values and nothing for NULL.
func textOfRows(rows *sql.Rows) (all []string, err error) {
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values := make([]any, len(names))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			return nil, err
		}
		var b strings.Builder
		for i, v := range values {
			if i > 0 {
				b.WriteByte('|')
			}
			if v := *v.(*any); v != nil {
				fmt.Fprint(&b, v)
			}
		}
		all = append(all, b.String())
	}
	return all, rows.Err()
}

func TestTables(t *testing.T) {
	f := newFixture(t, 20, Options{})
	id := func(i int) int64 { return int64(f.entities[i].ID()) }
	for _, c := range []struct {
		text string
		args []any
		want []string
	}{
		{"SELECT name FROM sqlite_schema ORDER BY name", nil, []string{"archetype_position_traveller",
			"entities", "frozen", "lives_in", "name", "note", "position", "position2", "traveller",
			"vast_checkpoints", "vast_memory", "vast_systems"}},
		{"SELECT name FROM pragma_table_info('traveller')", nil, []string{"entity", "age", "sick",
			"home.city", "home.floor", "history.0", "history.1", "history.2", "mass", "number"}},
		{"SELECT count(*), count(entity), count(age) FROM traveller", nil, []string{"19|19|19"}},
		{"SELECT x, y FROM position WHERE entity = ?", []any{id(4)}, []string{"2|-4"}},
		{"SELECT x FROM position WHERE entity = ?", []any{id(1)}, nil},
		{"SELECT x FROM position WHERE entity IN (?, ?) ORDER BY x", []any{id(4), id(2)}, []string{"1", "2"}},
		{"SELECT sick, number, \"history.1\" FROM traveller WHERE age >= 18", nil, []string{"false|18|324",
			"false|19|361"}},
		{"SELECT text, hex(raw), tags FROM note", nil, []string{`it's|00FF|{"a":1}`}},
		{"SELECT z FROM position2 WHERE z > 5", nil, []string{"10", "15"}},
		{"SELECT count(*) FROM frozen", nil, []string{"4"}},
		{"SELECT count(*) FROM lives_in WHERE target = ?", []any{id(0)}, []string{"9"}},
		{"SELECT n.name, p.x FROM name n JOIN position p USING (entity)", nil, []string{"Ann|1.5"}},
		{"SELECT slot, generation FROM entities WHERE entity = ?", []any{id(4)},
			[]string{fmt.Sprint(f.entities[4].Slot(), "|", f.entities[4].Generation())}},
		{"SELECT count(*) FROM entities", nil, []string{"19"}},
		{"SELECT round(distance(x, y, 0, 0), 2) FROM position WHERE within(x, y, 2, -4, 1)", nil,
			[]string{"4.47"}},
		{"SELECT sum(age) AS s, min(mass) * 2 AS m FROM traveller WHERE age BETWEEN 3 AND 5", nil,
			[]string{"12|9"}},
		{"SELECT SUM(x) FROM position WHERE x > '3' AND y < 0", nil, []string{"84.5"}},
	} {
		if got := read(t, f.db, c.text, c.args...); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestJoinedTables(t *testing.T) {
	f := newFixture(t, 20, Options{})
	tables := map[string][]vast.AnyColumn{"cold": {f.positions, f.frozen, f.livesIn}}
	db, err := Open(f.w, Options{Tables: tables})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := read(t, db, `SELECT "position.x", "lives_in.target" = ? FROM cold WHERE "position.x" > 1`,
		int64(f.entities[0].ID())); !reflect.DeepEqual(got, []string{"5|1"}) {
		t.Error(got)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE VIRTUAL TABLE temp.both USING vast(position, traveller)"); err != nil {
		t.Fatal(err)
	}
	got := read(t, db, `SELECT max("position.x"), sum("traveller.age") FROM both WHERE "traveller.sick" = 1`)
	if want := []string{"7|21"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := db.Exec("CREATE VIRTUAL TABLE temp.none USING vast(nothing)"); err == nil ||
		!strings.Contains(err.Error(), "no such table: nothing") {
		t.Error(err)
	}
	if _, err := db.Exec("CREATE VIRTUAL TABLE temp.position USING vast(position, frozen)"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, db, "SELECT count(*) FROM position"); !reflect.DeepEqual(got, []string{"4"}) {
		t.Errorf("the table in temp does not hide the table of the world: %q, want 4", got)
	}
	if _, err := db.Exec("DROP TABLE temp.position"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, db, "SELECT count(*) FROM position"); !reflect.DeepEqual(got, []string{"19"}) {
		t.Errorf("after DROP TABLE: %q, want 19", got)
	}
}

func TestLists(t *testing.T) {
	f := newFixture(t, 20, Options{})
	type label struct {
		Of      vast.Entity
		Text    string
		Numbers [2]int8
	}
	labels := []label{{f.entities[4], "four", [2]int8{4, 5}}, {f.entities[6], "six", [2]int8{6, 7}},
		{f.entities[1], "deleted", [2]int8{1, 2}}}
	db, err := Open(f.w, Options{Lists: map[string]any{"label": labels}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for text, want := range map[string][]string{
		`SELECT l.text, p.x FROM position p JOIN label l USING (entity) ORDER BY 1`:      {"four|2", "six|3"},
		`SELECT l.text FROM label l LEFT JOIN position p USING (entity) WHERE x IS NULL`: {"deleted"},
		`SELECT sum("numbers.1"), count(*) FROM label WHERE "numbers.0" > 1`:             {"12|2"},
	} {
		if got := read(t, db, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	got := read(t, db, "SELECT text FROM label WHERE entity = ?", int64(f.entities[6].ID()))
	if !reflect.DeepEqual(got, []string{"six"}) {
		t.Error(got)
	}
}

// TestOddNames uses tables and columns whose names look like operators or keywords, or are prefixes of
// others.
func TestOddNames(t *testing.T) {
	f := newFixture(t, 5, Options{})
	db, err := Open(f.w, Options{Lists: map[string]any{`x AND "y" #1>`: []struct {
		E       vast.Entity
		A       int32
		A1      int32
		Between int32
	}{{f.entities[2], 1, 2, 3}, {f.entities[3], 4, 5, 6}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const table = ` FROM "x AND ""y"" #1>" `
	for text, want := range map[string]string{
		`SELECT a` + table + `WHERE a1 >= 5`:                                 "4",
		`SELECT sum("between"), count(*)` + table + `WHERE a < 4 AND a1 > 1`: "3|1",
		`SELECT max(a)` + table + `AS t WHERE t.a1 BETWEEN 2 AND 9`:          "4",
	} {
		if got := read(t, db, text); !reflect.DeepEqual(got, []string{want}) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestHarmlessStatements runs statements that must neither panic nor stop later statements of the connection.
func TestHarmlessStatements(t *testing.T) {
	f := newFixture(t, 20, Options{MaxMemoryBytes: 16 << 20})
	f.db.SetMaxOpenConns(1)
	sixteen := strings.Repeat(" AND x >= 1", 16)
	for _, text := range []string{
		"", ";", "-- nothing", "/* nothing */",
		"SELECT " + strings.Repeat("(", 1_200_000),
		`SELECT x, y FROM "position$aggregates"`,
		"CREATE VIRTUAL TABLE temp.a USING vast_aggregates",
		"CREATE VIRTUAL TABLE temp.a USING vast(position, position)",
		`CREATE VIRTUAL TABLE temp."late$aggregates" USING vast(position)`,
		"SELECT length('" + strings.Repeat("x", 20<<20) + "')",
	} {
		_, _ = tryRead(f.db, text) // an error is allowed
		if got := read(t, f.db, "SELECT count(*) FROM position"); !reflect.DeepEqual(got, []string{"19"}) {
			t.Fatalf("after %.40q: %q", text, got)
		}
	}
	for text, want := range map[string]string{
		"SELECT count(*), sum(x) FROM position WHERE x >= 1" + sixteen: "18|94.5",
		"SELECT count(*) = '19' AS a FROM position":                    "0",
		"SELECT count(*) FROM position WHERE entity = 0.5":             "0",
	} {
		if got := read(t, f.db, text); !reflect.DeepEqual(got, []string{want}) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	tx, err := f.db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
}

// TestHeapValuesAreCopied reads maps and blobs while a visitor of the world changes them.
func TestHeapValuesAreCopied(t *testing.T) {
	f := newFixture(t, 5, Options{MaxPause: time.Minute})
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-end:
				return
			default:
			}
			err := f.w.Visit(t.Context(), func() bool {
				note := f.notes.Edit(f.entities[2])
				note.Tags[fmt.Sprint(i%100)] = i
				note.Raw[0]++
				note.Raw[1] = 255 - note.Raw[0]
				return true
			})
			if err != nil {
				return
			}
		}
	}()
	for range 200 {
		rows := read(t, f.db, "SELECT hex(raw), json_valid(tags) FROM note")
		var a, b uint8
		var valid int
		_, err := fmt.Sscanf(rows[0], "%2x%2x|%d", &a, &b, &valid)
		if err != nil || a+b != 255 || valid != 1 {
			t.Fatal(rows, err)
		}
	}
	close(end)
	<-ended
}

func TestReadOnly(t *testing.T) {
	f := newFixture(t, 5, Options{})
	for _, text := range []string{
		"UPDATE position SET x = 1", "DELETE FROM position", "INSERT INTO position VALUES (1, 2, 3)",
		"CREATE TABLE t(a)", "CREATE TEMP TABLE t(a)", "ATTACH ':memory:' AS a", "PRAGMA query_only=0",
		"DROP TABLE position", "VACUUM INTO '/tmp/x'",
	} {
		if _, err := f.db.Exec(text); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
	if got := read(t, f.db, "SELECT count(*) FROM position"); !reflect.DeepEqual(got, []string{"4"}) {
		t.Error(got)
	}
}

func TestLimits(t *testing.T) {
	f := newFixture(t, 2000, Options{MaxCopyBytes: 1000, MaxRows: 100})
	var limit *LimitError
	if _, err := tryRead(f.db, "SELECT x FROM position"); !errors.As(err, &limit) ||
		limit.Option != "MaxCopyBytes" {
		t.Error(err)
	}
	if _, err := tryRead(f.db, "SELECT 1 FROM position"); !errors.As(err, &limit) ||
		limit.Option != "MaxRows" {
		t.Error(err)
	}
	db, err := Open(f.w, Options{MaxTime: 50 * time.Millisecond, MaxMemoryBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const endless = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c) SELECT count(*) FROM c"
	if _, err := tryRead(db, endless); !errors.As(err, &limit) || limit.Option != "MaxTime" {
		t.Error(err)
	}
	db2, err := Open(f.w, Options{MaxMemoryBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer db2.Close()
	const large = "SELECT hex(zeroblob(20000000))"
	if _, err := tryRead(db2, large); !errors.As(err, &limit) || limit.Option != "MaxMemoryBytes" {
		t.Error(err)
	}
	if got := read(t, db2, "SELECT count(*) FROM position"); !reflect.DeepEqual(got, []string{"1999"}) {
		t.Error(got)
	}
}

func TestPlans(t *testing.T) {
	f := newFixture(t, 20, Options{})
	for text, want := range map[string]string{
		"SELECT count(*) FROM position":                  "aggregates of rows with ",
		"SELECT sum(x) FROM position WHERE y > 2":        "aggregates of rows with y>?",
		"SELECT x FROM position WHERE entity = 3":        "entity=?",
		"SELECT x FROM position WHERE x > 3 AND y <= 1":  "x>? AND y<=?",
		"SELECT x FROM position WHERE x > 3 OR y <= 1":   "SCAN position VIRTUAL TABLE INDEX 0:",
		"SELECT sum(x) FROM position WHERE x + 1 > 2":    "SCAN position VIRTUAL TABLE INDEX 0:",
		"SELECT sum(x) FROM position p WHERE p.x > -2e3": "x>?",
	} {
		got := strings.Join(read(t, f.db, "EXPLAIN QUERY PLAN "+text), "\n")
		if !strings.Contains(got, want) {
			t.Errorf("%s: the plan is %s, want %s", text, got, want)
		}
	}
}

// TestNewColumn makes a column after the first statement.
func TestNewColumn(t *testing.T) {
	f := newFixture(t, 5, Options{})
	read(t, f.db, "SELECT 1 FROM position")
	type Late struct{ N int32 }
	err := f.w.Visit(t.Context(), func() bool {
		late := vast.NewColumn[Late](f.w)
		late.Add(f.entities[0], Late{7})
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, f.db, "SELECT n FROM late"); !reflect.DeepEqual(got, []string{"7"}) {
		t.Error(got)
	}
}
