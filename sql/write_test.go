package vastsql

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
)

// isRefused checks that an error is a WriteError with a code and a text.
func isRefused(t *testing.T, what string, err error, code, says string) {
	t.Helper()
	e, ok := errors.AsType[*WriteError](err)
	if !ok || e.Code != code || e.SQLState() != code || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: the error is %v, want a WriteError with code %s and %q", what, err, code, says)
	}
}

func exec(t *testing.T, db *sql.DB, text string, args ...any) (last, rows int64) {
	t.Helper()
	r, err := db.Exec(text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	last, _ = r.LastInsertId()
	rows, _ = r.RowsAffected()
	return last, rows
}

func TestReadOnlyDatabases(t *testing.T) {
	f := newFixture(t, 5, Options{})
	before := read(t, f.db, "SELECT * FROM position")
	for _, text := range []string{"UPDATE position SET x = 1", "INSERT INTO position(x) VALUES (1)",
		"DELETE FROM position", "DELETE FROM entities", "EXPLAIN UPDATE position SET x = 1",
		"WITH one AS (SELECT 1) INSERT INTO frozen SELECT entity FROM position"} {
		_, err := f.db.Exec(text)
		isRefused(t, text, err, codeReadOnly, "Options.Write")
	}
	if got := read(t, f.db, "SELECT * FROM position"); !slices.Equal(got, before) {
		t.Errorf("the rows are %q, want %q", got, before)
	}
	k := newKept(t)
	db := k.open(t, Options{Store: k.dir, Write: true, MaxCopyBytes: 100})
	_, err := db.Exec("UPDATE position SET x = 1 AS OF TICK 2")
	isRefused(t, "AS OF TICK", err, codeReadOnly, "a stored moment is read-only")
	_, err = db.Exec("UPDATE position SET x = 1 WHERE y >= 0") // must not read a checkpoint instead
	if limit, ok := errors.AsType[*LimitError](err); !ok || limit.Option != "MaxCopyBytes" {
		t.Errorf("the error is %v, want MaxCopyBytes", err)
	}
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "a stored moment does not change") {
			t.Error(text)
		}
	}()
	_, _, _ = OpenStored(t.TempDir(), 0, Options{Write: true})
}

// TestRefusedWrites runs statements that cannot write. No statement changes the world.
func TestRefusedWrites(t *testing.T) {
	type label struct {
		Of   vast.Entity
		Text string
	}
	w := newWritten(t, vast.Options{})
	roads := vast.NewEdges[int32](w.world, "Roads", vast.EdgesOptions{})
	type hidden struct {
		inner []byte
		Any   any
		Row   [20]int16
		At    map[string]int
	}
	secret := vast.NewHeapColumn[hidden](w.world).Named("Secret")
	both := w.world.Archetype(w.units, w.spares)
	a, b := both.New(), both.New()
	w.childOf.Set(b, a)
	secret.Add(a, hidden{inner: []byte{1}})
	roads.Add(a, b, 7)
	w.memos.Add(a, memo{Text: "a"})
	if _, err := w.world.Names().Set(a, "Ann"); err != nil {
		t.Fatal(err)
	}
	w.world.Delete(w.world.Archetype().New())
	w.serve(t)
	db := w.open(t, Options{Lists: map[string]any{"labels": []label{{a, "x"}}},
		Tables: map[string][]vast.AnyColumn{"both": {w.units, w.spares}, "linked": {w.units, w.childOf}}})
	db.SetMaxOpenConns(1)
	exec(t, db, "CREATE VIRTUAL TABLE temp.own USING vast(unit, spare)")
	exec(t, db, "CREATE VIRTUAL TABLE temp.starts USING vast(frozen, roads)")
	exec(t, db, "CREATE VIRTUAL TABLE temp.ends USING vast(roads)")
	before := dump(t, db)
	id, idB := int64(a.ID()), int64(b.ID())
	for _, c := range []struct {
		code, says, text string
		args             []any
	}{
		{codeReadOnly, "shows a slice", "UPDATE labels SET text = 'y'", nil},
		{codeReadOnly, "entities that have links of Roads", "INSERT INTO starts VALUES (?)", []any{idB}},
		{codeReadOnly, "entities that have links of Roads", "DELETE FROM temp.ends", nil},
		{codeReadOnly, "each query computes the rows", "DELETE FROM vast_memory", nil},
		{codeReadOnly, "is read-only", `UPDATE "unit$aggregates" SET a = 1`, nil},
		{codeReadOnly, "UPDATE the table of a component", "UPDATE entities SET slot = 1", nil},
		{codeUnsupported, "DELETE FROM entities to delete", "DELETE FROM both", nil},
		{codeUnsupported, "DELETE FROM entities to delete", "DELETE FROM temp.own WHERE entity = 1", nil},
		{codeFixedColumn, "column entity of table unit cannot be set", "UPDATE unit SET a = 1, Entity = 2",
			nil},
		{codeFixedColumn, "column source of table child_of", "UPDATE child_of SET source = 2", nil},
		{codeFixedColumn, "column source of table roads", "UPDATE roads SET source = 2", nil},
		{codeFixedColumn, "column rowid of table roads", "UPDATE roads SET rowid = 2", nil},
		{codeFixedColumn, "rowid", "INSERT INTO roads(rowid, target) VALUES (2, 2)", nil},
		{codeFixedColumn, "column rowid of table unit", "UPDATE unit SET rowid = 2", nil},
		{codeFixedColumn, "rowid", "INSERT INTO unit(rowid, a) VALUES (2, 2)", nil},
		{codeFixedColumn, "leave entity out", "INSERT INTO entities(entity) VALUES (?)", []any{id}},
		{codeFixedColumn, "leave slot out", "INSERT INTO entities(slot) VALUES (3)", nil},
		{codeRange, "row 1, entity", "UPDATE unit SET a = 300", nil},
		{codeRange, "a holds -128 to 127, not 300", "UPDATE unit SET a = 300", nil},
		{codeRange, "a holds -128 to 127, not -1e+30", "UPDATE unit SET a = -1e30", nil},
		{codeRange, "p holds 0 to 65535, not -1", "UPDATE spare SET p = -1", nil},
		{codeRange, "d holds 0 to 1, not 2", "UPDATE unit SET d = 2", nil},
		{codeRange, "row 3: b holds", "INSERT INTO unit(b) VALUES (1), (2), (3000000000)", nil},
		{codeMismatch, `a must be a whole number, not "5"`, "UPDATE unit SET a = '5'", nil},
		{codeMismatch, "a must be a whole number, not 1.5", "UPDATE unit SET a = ?", []any{1.5}},
		{codeMismatch, `c must be a number, not "x"`, "UPDATE unit SET c = 'x'", nil},
		{codeMismatch, "c must be a number, not a BLOB of 2 bytes", "UPDATE unit SET c = x'0102'", nil},
		{codeMismatch, "text must be a text, not 5", "UPDATE memo SET text = 5", nil},
		{codeMismatch, "raw must be a BLOB", "UPDATE memo SET raw = 'x'", nil},
		{codeMismatch, "target must be the ID of an entity", "UPDATE child_of SET target = 'x'", nil},
		{codeMismatch, "target must be the ID of an entity", "UPDATE roads SET target = 'x'", nil},
		{codeMismatch, "source must be the ID of an entity", "INSERT INTO roads(source) VALUES (1.5)", nil},
		{codeMismatch, "row 1, entity", "UPDATE roads SET value = 1.5", nil},
		{codeRange, "value holds", "INSERT INTO roads VALUES (NULL, 7, 1e10)", nil},
		{codeMismatch, "entity must be the ID of an entity", "INSERT INTO unit(entity) VALUES ('x')", nil},
		{codeNull, "a must not be NULL", "UPDATE unit SET a = NULL", nil},
		{codeNull, "c must not be NULL", "INSERT INTO unit(entity, c) VALUES (NULL, NULL)", nil},
		{codeNull, "c must not be NULL", "INSERT INTO unit VALUES (NULL, 1, 2, NULL, 0)", nil},
		{codeNull, "a row of ChildOf needs a target", "UPDATE child_of SET target = NULL", nil},
		{codeNull, "a row of ChildOf needs a target", "INSERT INTO child_of DEFAULT VALUES", nil},
		{codeNull, "a row of Roads needs a target", "INSERT INTO roads(value) VALUES (1)", nil},
		{codeNull, "a row of Roads needs a target", "UPDATE roads SET target = NULL", nil},
		{codeNull, "value must not be NULL", "UPDATE roads SET value = NULL", nil},
		{codeNull, "a name must not be empty", "UPDATE name SET name = ''", nil},
		{codeNull, "a name must not be empty", "INSERT INTO name(entity) VALUES (NULL)", nil},
		{codeNoEntity, "no such entity lives", "INSERT INTO unit(entity) VALUES (7)", nil},
		{codeNoEntity, "no such entity lives", "INSERT INTO roads(source, target) VALUES (7, ?)", []any{id}},
		{codeNoEntity, "the target 7.0 is not alive", "INSERT INTO roads(target) VALUES (?), (7)", []any{id}},
		{codeNoEntity, "the target 7.0 is not alive", "UPDATE roads SET target = 7", nil},
		{codeNoEntity, "the target 7.0 is not alive", "UPDATE child_of SET target = 7", nil},
		{codeExists, "the entity has unit already", "INSERT INTO unit(entity, a) VALUES (?, 1)", []any{id}},
		{codeExists, "has an edge to 1.1 in Roads already", "INSERT INTO roads VALUES (?, ?, 1)",
			[]any{id, idB}},
		{codeExists, "row 2", "INSERT INTO roads(source, target) VALUES (?1, ?1), (?1, ?1)", []any{id}},
		{codeExists, "row 2", "INSERT INTO frozen VALUES (?), (?)", []any{id, id}},
		{codeExists, "unit or spare already", `INSERT INTO both(entity) VALUES (?)`, []any{id}},
		{codeExists, `"Ann" belongs to another entity`, "INSERT INTO name VALUES (?, 'Bob'), (NULL, 'Ann')",
			[]any{idB}},
		{codeExists, `"Eve" belongs to another entity`, "INSERT INTO name(name) VALUES ('Eve'), ('Eve')",
			nil},
		{codeCircle, "would close a circle in ChildOf", "INSERT INTO child_of VALUES (?, ?)", []any{id, idB}},
		{codeCircle, "would close a circle", "UPDATE child_of SET target = source", nil},
		{codeFixedColumn, "unexported field", "UPDATE secret SET inner = x'00'", nil},
		{codeFixedColumn, "SQL does not show all of a value of type interface",
			`UPDATE secret SET "any" = '1'`, nil},
		{codeInvalidText, "is not valid JSON", "UPDATE secret SET at = '{'", nil},
		{codeInvalidText, "the array has 20 elements, not 1", "UPDATE secret SET row = '[1]'", nil},
		{codeInvalidText, "text follows the value", "UPDATE secret SET at = '{} {}'", nil},
		{codeMismatch, "at must be JSON text", "UPDATE secret SET at = 3", nil},
		{codeUnsupported, "RETURNING can only return entity", "INSERT INTO unit(a) VALUES (1) RETURNING a",
			nil},
		{codeUnsupported, "RETURNING can only return entity", "INSERT INTO unit(a) VALUES (1) RETURNING *",
			nil},
		{codeUnsupported, "RETURNING can only return entity",
			"INSERT INTO unit(a) VALUES (1) RETURNING entity + 1", nil},
		{codeUnsupported, "RETURNING can only return entity",
			"INSERT INTO unit(a) VALUES (1) RETURNING entity, a", nil},
		{codeUnsupported, "RETURNING can only return source",
			"INSERT INTO roads(target) VALUES (?) RETURNING source, target", []any{id}},
		{codeUnsupported, "OR FAIL", "INSERT OR FAIL INTO unit(a) VALUES (1)", nil},
		{codeUnsupported, `write x or "x"`, "INSERT INTO unit(`a`) VALUES (1)", nil},
	} {
		_, err := db.Exec(c.text, c.args...)
		isRefused(t, c.text, err, c.code, c.says)
	}
	// The errors of these statements come from SQLite and are no WriteErrors. The authorizer of this package
	// denies the last statement.
	for _, c := range [][2]string{
		{"UPDATE unit SET a = 1 RETURNING a", "RETURNING is not available on virtual tables"},
		{"INSERT INTO unit(a) VALUES (1) ON CONFLICT DO UPDATE SET a = 1", "UPSERT not implemented"},
		{"UPDATE unit SET z = 1", "no such column"},
		{"UPDATE sqlite_schema SET name = 'x'", "may not be modified"},
		{"CREATE TEMP TRIGGER x AFTER INSERT ON unit BEGIN DELETE FROM unit; END", "cannot create triggers"},
		{"CREATE TABLE x(y)", "not authorized"},
	} {
		if _, err := db.Exec(c[0]); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: the error is %v, want %q", c[0], err, c[1])
		}
	}
	if got := dump(t, db); !slices.Equal(got, before) {
		t.Errorf("refused statements have changed the rows:\n%s\nwant\n%s", strings.Join(got, "\n"),
			strings.Join(before, "\n"))
	}
	if _, err := db.Exec("DROP TABLE temp.own"); err != nil {
		t.Error(err)
	}
}

func TestWrites(t *testing.T) {
	w := newWritten(t, vast.Options{})
	e := w.world.Archetype(w.units).New()
	w.serve(t)
	db := w.open(t, Options{Tables: map[string][]vast.AnyColumn{"both": {w.units, w.spares, w.childOf,
		w.world.Names()}}})
	id := int64(e.ID())
	for _, c := range []struct {
		text string
		args []any
		rows int64
		then string
		want []string
	}{
		{"INSERT INTO spare(entity, q) VALUES (?, 5)", []any{id}, 1, "SELECT p, q FROM spare",
			[]string{"0|5"}},
		{"INSERT INTO frozen VALUES (?)", []any{id}, 1, "SELECT count(*) FROM frozen", []string{"1"}},
		{"UPDATE unit SET a = ?, c = 2.0, d = true", []any{int64(-5)}, 1, "SELECT a, b, c, d FROM unit",
			[]string{"-5|0|2|true"}},
		{"UPDATE unit SET b = 3.0 WHERE d", nil, 1, "SELECT b FROM unit", []string{"3"}},
		{"UPDATE unit SET b = 4 WHERE b = 9", nil, 0, "SELECT b FROM unit", []string{"3"}},
		{`INSERT INTO both("unit.a", "spare.q", "child_of.target", "name.name") VALUES (1, 2, ?, 'Eve')`,
			[]any{id}, 1,
			`SELECT "unit.a", "spare.q", "child_of.target" = ?1, "name.name" FROM both`,
			[]string{"1|2|1|Eve"}},
		{`UPDATE both SET "name.name" = 'Zoe', "spare.p" = 9, "unit.b" = 8`, nil, 1,
			`SELECT "unit.a", "unit.b", "spare.p", "spare.q", "name.name" FROM both`,
			[]string{"1|8|9|2|Zoe"}},
		{"INSERT OR REPLACE INTO name(name) VALUES ('Zoe'), ('Ann')", nil, 2,
			"SELECT name FROM name ORDER BY name",
			[]string{"Ann", "Zoe"}},
		{"INSERT OR IGNORE INTO name(name) VALUES ('Zoe'), ('Bob')", nil, 1, "SELECT count(*) FROM name",
			[]string{"3"}},
		{"REPLACE INTO unit(entity, b) VALUES (?, 7)", []any{id}, 1,
			"SELECT a, b, c FROM unit WHERE entity = ?1",
			[]string{"0|7|0"}},
		{"INSERT INTO memo(text, raw) VALUES ('it''s', NULL), ('é', x'00')", nil, 2,
			"SELECT text, raw IS NULL FROM memo", []string{"it's|1", "é|0"}},
		{"DELETE FROM spare WHERE q = 2", nil, 1, "SELECT count(*) FROM spare", []string{"1"}},
		{"DELETE FROM child_of", nil, 1, "SELECT count(*) FROM child_of", []string{"0"}},
		{"DELETE FROM name WHERE name IN ('Bob', 'Ann')", nil, 2, "SELECT name FROM name", []string{"Zoe"}},
		{"INSERT INTO entities DEFAULT VALUES", nil, 1, "SELECT count(*) FROM entities WHERE components = ''",
			[]string{"3"}},
		{"INSERT INTO unit DEFAULT VALUES", nil, 1, "SELECT count(*) FROM unit", []string{"3"}},
		{"INSERT INTO unit VALUES (NULL, 1, 2, 3, 0)", nil, 1, "SELECT a, b, c FROM unit WHERE c = 3",
			[]string{"1|2|3"}},
		{"WITH n(i) AS (VALUES (1), (2)) INSERT INTO main.unit (a) SELECT i FROM n", nil, 2,
			"SELECT count(*) FROM unit WHERE a > 0", []string{"4"}},
		{"DELETE FROM entities WHERE entity <> ?", []any{id}, 11, "SELECT count(*) FROM entities",
			[]string{"1"}},
		{"EXPLAIN DELETE FROM entities", nil, 0, "SELECT count(*) FROM entities", []string{"1"}},
	} {
		if _, rows := exec(t, db, c.text, c.args...); rows != c.rows {
			t.Errorf("%s: %d rows are affected, want %d", c.text, rows, c.rows)
		}
		var args []any
		if strings.Contains(c.then, "?1") {
			args = []any{id}
		}
		if got := read(t, db, c.then, args...); !slices.Equal(got, c.want) {
			t.Errorf("after %s: %s: %q, want %q", c.text, c.then, got, c.want)
		}
	}
}

// TestInsertedIDs checks the three ways to learn the ID of a new entity.
func TestInsertedIDs(t *testing.T) {
	w := newWritten(t, vast.Options{})
	w.serve(t)
	db := w.open(t, Options{})
	db.SetMaxOpenConns(1)
	last, rows := exec(t, db, "INSERT INTO unit(a) VALUES (1), (2)")
	if got := read(t, db, "SELECT entity FROM unit WHERE a = 2"); rows != 2 || got[0] != fmt.Sprint(last) {
		t.Errorf("%d rows and the last ID %d, want 2 rows and %s", rows, last, got)
	}
	if got := read(t, db, "SELECT last_insert_rowid()"); got[0] != fmt.Sprint(last) {
		t.Errorf("last_insert_rowid() is %s, want %d", got, last)
	}
	got := read(t, db, "INSERT INTO unit(a) VALUES (3), (4) RETURNING unit.entity AS id")
	if want := read(t, db, "SELECT entity FROM unit WHERE a > 2 ORDER BY a"); !slices.Equal(got, want) {
		t.Errorf("RETURNING returns %s, want %s", got, want)
	}
	got = read(t, db, "INSERT OR IGNORE INTO frozen VALUES (?), (?), (NULL) RETURNING entity -- new ones",
		last, last)
	if want := read(t, db, "SELECT entity FROM frozen ORDER BY entity = ? DESC", last); !slices.Equal(got,
		want) {
		t.Errorf("RETURNING returns %s, want %s", got, want)
	}
	if last, rows := exec(t, db, "INSERT INTO unit(a) SELECT 1 WHERE false"); rows != 0 || last != 0 {
		t.Errorf("an INSERT without rows: %d rows and ID %d, want 0 and 0", rows, last)
	}
}

func TestTransactionsCannotWrite(t *testing.T) {
	w := newWritten(t, vast.Options{})
	w.world.Archetype(w.units).New()
	w.serve(t)
	db := w.open(t, Options{})
	db.SetMaxOpenConns(1)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.Exec("UPDATE unit SET a = 1")
	isRefused(t, "BEGIN", err, codeTransaction, "transaction")
	if err := tx.QueryRow("SELECT a FROM unit").Scan(new(int)); err != nil {
		t.Error("a read after the refused write:", err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	exec(t, db, "SAVEPOINT s")
	_, err = db.Exec("DELETE FROM unit")
	isRefused(t, "SAVEPOINT", err, codeTransaction, "SAVEPOINT")
	exec(t, db, "RELEASE s")
	exec(t, db, "UPDATE unit SET a = a + 1")
	if got := read(t, db, "SELECT a FROM unit"); got[0] != "1" {
		t.Errorf("a is %s, want 1", got)
	}
}

// TestPreparedWrites runs prepared statements many times, before and after SQLite prepares the statements
// again.
func TestPreparedWrites(t *testing.T) {
	w := newWritten(t, vast.Options{})
	w.serve(t)
	db := w.open(t, Options{})
	db.SetMaxOpenConns(1)
	exec(t, db, "CREATE VIRTUAL TABLE temp.own USING vast(unit, spare)")
	prepare := func(text string) *sql.Stmt {
		s, err := db.Prepare(text)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	insert := prepare(`INSERT INTO temp.own("spare.p", "unit.a") VALUES (?, ?)`)
	update := prepare(`UPDATE temp.own SET "unit.b" = "unit.b" + ?, "spare.q" = ? WHERE "spare.p" = ?`)
	one := prepare("UPDATE unit SET c = ? WHERE entity = ?")
	remove := prepare("DELETE FROM spare WHERE p = ?")
	for i := range 100 {
		if i == 50 { // the new column makes SQLite prepare the statements again
			exec(t, db, "SELECT 1")
			if err := w.world.Visit(t.Context(), func() bool {
				vast.NewTag(w.world, "Late")
				return true
			}); err != nil {
				t.Fatal(err)
			}
			exec(t, db, "INSERT INTO late DEFAULT VALUES")
		}
		r, err := insert.Exec(i, i%100)
		if err != nil {
			t.Fatal(i, err)
		}
		id, _ := r.LastInsertId()
		_, err1 := update.Exec(i, -i, i)
		_, err2 := one.Exec(float64(i)/2, id)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(i, err)
		}
		if i%2 == 0 {
			if r, err = remove.Exec(i); err != nil {
				t.Fatal(i, err)
			}
			if n, _ := r.RowsAffected(); n != 1 {
				t.Fatalf("%d rows were deleted, want 1", n)
			}
		}
	}
	got := read(t, db, "SELECT count(*), sum(b), sum(c) FROM unit")
	got = append(got, read(t, db, "SELECT count(*), sum(p), sum(q) FROM spare")...)
	if want := []string{"100|4950|2475", "50|2500|-2500"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWritesWhileTheWorldTicks runs statements while the owner changes the world. The owner and one statement
// change different fields of the same entities.
func TestWritesWhileTheWorldTicks(t *testing.T) {
	w := newWritten(t, vast.Options{})
	w.world.Archetype(w.units).NewN(100, nil)
	ticks := 0
	stop, stopped := make(chan struct{}), make(chan struct{})
	db := w.open(t, Options{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			for r := range w.world.Query(w.units).Runs() {
				for i := range w.units.Slice(r) {
					w.units.Slice(r)[i].B++
				}
			}
			ticks++
			for range 3 {
				w.world.Archetype(w.spares).New()
			}
			w.world.Admit(0)
		}
	}()
	const rounds = 30
	done := make(chan error, 3)
	for g := range 3 {
		go func() {
			var err error
			for range rounds {
				switch g {
				case 0:
					_, err = db.Exec("UPDATE unit SET c = c + 1")
				case 1:
					_, err = db.Exec("INSERT INTO memo(text) VALUES ('x'), ('y')")
				default:
					_, err = db.Exec("INSERT INTO spare(q) VALUES (1)")
					if err == nil {
						_, err = db.Exec("DELETE FROM spare WHERE q = 1")
					}
				}
				if err != nil {
					break
				}
			}
			done <- err
		}()
	}
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-stopped
	w.serve(t)
	got := read(t, db, "SELECT count(*), min(c), max(c), min(b), max(b) FROM unit")
	got = append(got, read(t, db, "SELECT (SELECT count(*) FROM memo), (SELECT count(*) FROM spare)")...)
	want := []string{fmt.Sprintf("100|%d|%d|%d|%d", rounds, rounds, ticks, ticks),
		fmt.Sprintf("%d|%d", 2*rounds, 3*ticks)}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
