package vastsql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
)

type unit struct {
	A int8
	B int32
	C float64
	D bool
}

type spare struct {
	P uint16
	Q int64
}

type memo struct {
	Text string
	Raw  []byte
}

// trade is the value of edges.
type trade struct {
	Amount uint8
	Price  float64
}

// written is a world for tests of statements that write.
type written struct {
	world   *vast.World
	units   vast.Column[unit]
	spares  vast.SparseColumn[spare]
	memos   vast.HeapColumn[memo]
	frozen  vast.Tag
	childOf vast.Relation
	trades  vast.Edges[trade]
}

func newWritten(t testing.TB, o vast.Options) *written {
	w := &written{world: vast.NewWorld(o)}
	w.units, w.spares = vast.NewColumn[unit](w.world), vast.NewSparseColumn[spare](w.world)
	w.memos, w.frozen = vast.NewHeapColumn[memo](w.world), vast.NewTag(w.world, "Frozen")
	w.childOf = vast.NewRelation(w.world, "ChildOf", vast.RelationOptions{})
	w.trades = vast.NewEdges[trade](w.world, "Trades", vast.EdgesOptions{Capacity: 1 << 12})
	w.world.Names()
	return w
}

// serve admits statements until the test ends.
func (w *written) serve(t testing.TB) { (&fixture{w: w.world}).serve(t) }

// open opens a database of the world with Options.Write. Its statements wait until the owner admits them.
func (w *written) open(t testing.TB, o Options) *sql.DB {
	o.Write, o.MaxPause = true, time.Minute
	db, err := Open(w.world, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// dump returns the rows of all tables.
func dump(t testing.TB, db *sql.DB) (all []string) {
	t.Helper()
	for _, text := range []string{
		"SELECT entity FROM entities ORDER BY entity",
		"SELECT entity, a, b, c, +d FROM unit ORDER BY entity",
		"SELECT entity, p, q FROM spare ORDER BY entity",
		"SELECT entity, text, hex(raw) FROM memo ORDER BY entity",
		"SELECT entity FROM frozen ORDER BY entity",
		"SELECT source, target FROM child_of ORDER BY source",
		"SELECT source, target, amount, price FROM trades ORDER BY source, target",
		"SELECT entity, name FROM name ORDER BY entity",
	} {
		for _, row := range read(t, db, text) {
			all = append(all, text[strings.Index(text, "FROM "):]+": "+row)
		}
	}
	return all
}

// newSQLiteTables returns a database with the tables of a world of newWritten, stored by SQLite itself. The
// constraints of the tables allow only what a world allows.
func newSQLiteTables(t testing.TB) *sql.DB {
	db, err := driver.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	const of = " INTEGER PRIMARY KEY REFERENCES entities ON DELETE CASCADE"
	for _, text := range []string{
		"PRAGMA foreign_keys = ON",
		"CREATE TABLE entities(entity INTEGER PRIMARY KEY) STRICT",
		"CREATE TABLE unit(entity" + of + ", a INTEGER NOT NULL DEFAULT 0 CHECK (a BETWEEN -128 AND 127), " +
			"b INTEGER NOT NULL DEFAULT 0 CHECK (b BETWEEN -2147483648 AND 2147483647), " +
			"c REAL NOT NULL DEFAULT 0, d INTEGER NOT NULL DEFAULT 0 CHECK (d IN (0, 1))) STRICT",
		"CREATE TABLE spare(entity" + of + ", p INTEGER NOT NULL DEFAULT 0 CHECK (p BETWEEN 0 AND 65535), " +
			"q INTEGER NOT NULL DEFAULT 0) STRICT",
		"CREATE TABLE memo(entity" + of + ", text TEXT NOT NULL DEFAULT '', raw BLOB) STRICT",
		"CREATE TABLE frozen(entity" + of + ") STRICT",
		"CREATE TABLE child_of(source" + of + ", target INTEGER NOT NULL REFERENCES entities ON DELETE " +
			"CASCADE) STRICT",
		"CREATE TABLE trades(source INTEGER NOT NULL REFERENCES entities ON DELETE CASCADE, target INTEGER " +
			"NOT NULL REFERENCES entities ON DELETE CASCADE, amount INTEGER NOT NULL DEFAULT 0 CHECK " +
			"(amount BETWEEN 0 AND 255), price REAL NOT NULL DEFAULT 0, UNIQUE (source, target)) STRICT",
		"CREATE TABLE name(entity" + of + ", name TEXT NOT NULL UNIQUE CHECK (name <> '')) STRICT",
		"CREATE TRIGGER insert_link BEFORE INSERT ON child_of BEGIN SELECT RAISE(ABORT, 'circle') WHERE " +
			"NEW.source IN " +
			"(WITH RECURSIVE up(e) AS (SELECT NEW.target UNION SELECT target FROM child_of JOIN up ON " +
			"source = e) " +
			"SELECT e FROM up); END",
		"CREATE TRIGGER update_link BEFORE UPDATE ON child_of BEGIN SELECT RAISE(ABORT, 'circle') WHERE " +
			"NEW.source IN " +
			"(WITH RECURSIVE up(e) AS (SELECT NEW.target UNION SELECT target FROM child_of JOIN up ON " +
			"source = e) " +
			"SELECT e FROM up); END",
	} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(text, err)
		}
	}
	return db
}

// writer makes random statements, and runs them in a world and in SQLite's own tables.
type writer struct {
	*rand.Rand
	db, own *sql.DB // the world, and SQLite's own tables
	ids     []int64 // IDs of entities that live or lived
	names   int     // number of names so far
	done    int     // number of statements that wrote
	refused int     // number of statements that failed
}

// entity returns the ID of an entity that lives or lived, or 1 if there was no entity yet.
func (g *writer) entity() int64 {
	if len(g.ids) == 0 {
		return 1
	}
	return g.ids[g.IntN(len(g.ids))]
}

// living returns the ID of an entity that lives, or 1 if no entity lives. Statements with OR IGNORE use
// living, because SQLite ignores some rows with unknown entities, and a world refuses these rows.
func (g *writer) living() (id int64) {
	if g.own.QueryRow("SELECT entity FROM entities ORDER BY entity * ? % 101",
		1+g.IntN(100)).Scan(&id) != nil {
		return 1
	}
	return id
}

func (g *writer) pick(of ...string) string { return of[g.IntN(len(of))] }

// small returns a number that may be out of range for some fields.
func (g *writer) small() int {
	return []int{g.IntN(100), g.IntN(100) - 50, g.IntN(100), 300, 70_000}[g.IntN(5)]
}

func (g *writer) where() string {
	return g.pick("", fmt.Sprintf(" WHERE entity = %d", g.entity()), fmt.Sprintf(" WHERE entity %% 3 = %d",
		g.IntN(3)),
		fmt.Sprintf(" WHERE entity IN (%d, %d)", g.entity(), g.entity()),
		fmt.Sprintf(" WHERE entity IN (SELECT source FROM child_of WHERE target <> %d)", g.entity()),
		" WHERE entity IN (SELECT entity FROM frozen)")
}

func (g *writer) text() string { return fmt.Sprintf("'t%d'", g.IntN(30)) }

// statement returns a statement that has the same effect in a world and in SQLite.
func (g *writer) statement() string {
	or := g.pick("", "", " OR REPLACE", " OR ABORT")
	if g.IntN(4) == 0 {
		return g.trades(or)
	}
	switch g.IntN(15) {
	case 0:
		return "UPDATE unit SET " + g.pick("a = a + 7", "b = b * 3 - a", "c = c / 2 + b", "d = a > 0, c = -c",
			fmt.Sprintf("a = %d", g.small()), "b = 2.0, c = 3", "a = 1.5", "c = NULL", "b = x'00'") +
			g.where()
	case 1:
		return fmt.Sprintf("UPDATE unit SET b = b + 1, a = %d WHERE b < %d AND entity = %d", g.IntN(100),
			g.small(),
			g.entity())
	case 2:
		return "UPDATE unit SET b = s.p FROM spare s WHERE s.entity = unit.entity AND s.p % 2 = 0"
	case 3:
		return fmt.Sprintf("UPDATE spare SET p = p + %d, q = q - p", g.small()) + g.where()
	case 4:
		return "UPDATE memo SET text = text || 'x', raw = " + g.pick("NULL", "x'0102'", "raw") + g.where()
	case 5:
		return fmt.Sprintf("INSERT%s INTO unit(entity, b, c) VALUES (%d, %d, 0.5), (%d, 2, 3)", or,
			g.entity(),
			g.small(), g.entity())
	case 6:
		return fmt.Sprintf("INSERT%s INTO spare(entity, p) SELECT entity, min(abs(b), 60000) FROM unit",
			g.pick(" OR IGNORE", " OR REPLACE", "")) + g.where()
	case 7:
		return fmt.Sprintf("INSERT%s INTO memo(raw, entity, text) VALUES (x'ff', %d, %s)", or, g.entity(),
			g.text())
	case 8:
		return fmt.Sprintf("INSERT%s INTO frozen VALUES (%d)", g.pick(" OR IGNORE", ""), g.living())
	case 9:
		return fmt.Sprintf("INSERT%s INTO child_of VALUES (%d, %d)", or, g.entity(), g.entity())
	case 10:
		return fmt.Sprintf("UPDATE child_of SET target = %d WHERE %s", g.entity(), g.pick("source % 4 = 1",
			fmt.Sprintf("source = %d", g.entity())))
	case 11:
		return fmt.Sprintf("INSERT%s INTO name VALUES (%d, %s), (%d, %s)", g.pick(or, " OR IGNORE"),
			g.living(),
			g.text(), g.living(), g.text())
	case 12:
		return fmt.Sprintf("UPDATE%s name SET name = %s WHERE entity = %d", g.pick(or, " OR IGNORE"),
			g.pick(g.text(),
				"name || 'y'"), g.entity())
	case 13:
		return "DELETE FROM " + g.pick("unit", "spare", "memo", "frozen", "name") + g.where()
	}
	return g.pick(fmt.Sprintf("DELETE FROM entities WHERE entity = %d", g.entity()),
		fmt.Sprintf("DELETE FROM entities WHERE entity %% 11 = %d", g.IntN(11)),
		fmt.Sprintf("DELETE FROM child_of WHERE target = %d", g.entity()))
}

// trades returns a statement that writes edges.
func (g *writer) trades(or string) string {
	// The order of the rows decides which rows UPDATE OR IGNORE and UPDATE OR REPLACE keep, so these
	// statements write at most one row.
	one := fmt.Sprintf(" WHERE source = %d AND target = %d", g.entity(), g.entity())
	if g.own.QueryRow("SELECT ' WHERE target = ' || target || ' AND source = ' || source FROM trades ORDER "+
		"BY source * ? % 101", 1+g.IntN(100)).Scan(&one) != nil && g.IntN(2) == 0 {
		one = ""
	}
	some := g.pick("", one, fmt.Sprintf(" WHERE source = %d", g.entity()), fmt.Sprintf(" WHERE target = %d",
		g.living()), fmt.Sprintf(" WHERE (source + target) %% 3 = %d", g.IntN(3)),
		" WHERE source IN (SELECT entity FROM unit)", " WHERE target IN (SELECT target FROM trades WHERE "+
			"amount > 50)")
	switch g.IntN(8) {
	case 0, 1, 2:
		return fmt.Sprintf("INSERT%s INTO trades(price, source, target) VALUES (%d, %d, %d), (0.5, %d, %d)",
			g.pick(or, " OR IGNORE"), g.IntN(9), g.living(), g.living(), g.living(), g.living())
	case 3:
		return fmt.Sprintf("INSERT%s INTO trades VALUES (%d, %d, %d, 2)", or, g.entity(), g.entity(),
			g.small())
	case 4:
		return "INSERT" + or + " INTO trades SELECT target, source, amount / 2, price FROM trades" + some
	case 5:
		return "UPDATE trades SET " + g.pick("amount = amount + 40", "price = price / 2 + amount",
			"amount = 1.5", "price = NULL", "price = -price, amount = 255 - amount") + some
	case 6:
		if g.IntN(2) == 0 {
			return fmt.Sprintf("UPDATE trades SET target = %d", g.entity()) + some
		}
		return fmt.Sprintf("UPDATE%s trades SET target = %d, price = 7", g.pick(or, " OR IGNORE"),
			g.living()) + one
	}
	return "DELETE FROM trades" + g.pick(one, some)
}

// birth runs a statement that makes entities in the world, and inserts the same rows in SQLite's own tables.
func (g *writer) birth(t *testing.T) {
	n := 1 + g.IntN(4)
	table, columns, row := "entities", "entity", func() string { return "NULL" }
	switch g.IntN(7) {
	case 0:
		table, columns = "unit", "a, b, c"
		row = func() string { return fmt.Sprintf("%d, %d, 1.5", g.IntN(50), g.IntN(1000)) }
	case 1:
		table, columns = "spare", "q"
		row = func() string { return fmt.Sprint(g.IntN(1000)) }
	case 2:
		table, columns = "memo", "text, raw"
		row = func() string { return g.text() + ", x'0a0b'" }
	case 3:
		table, columns = "child_of", "target"
		row = func() string { return fmt.Sprint(g.entity()) }
	case 4:
		table, columns = "name", "name"
		row = func() string { g.names++; return fmt.Sprintf("'new %d'", g.names) }
	case 5:
		table, columns = "trades", "amount, target"
		row = func() string { return fmt.Sprintf("%d, %d", g.IntN(200), g.entity()) }
	}
	rows := make([]string, n)
	for i := range rows {
		rows[i] = row()
	}
	key := "entity"
	if table == "child_of" || table == "trades" {
		key = "source"
	}
	text := "INSERT INTO " + table + "(" + columns + ") VALUES (" + strings.Join(rows, "), (") +
		") RETURNING " + key
	born, err := tryRead(g.db, text)
	if dead := key == "source" && err != nil; dead {
		return // the target of a row is dead
	}
	if err != nil || len(born) != n {
		t.Fatalf("%s: %v, %d rows", text, err, len(born))
	}
	for i, id := range born {
		var number int64
		if _, err := fmt.Sscan(id, &number); err != nil {
			t.Fatal(err)
		}
		g.ids = append(g.ids, number)
		_, err := g.own.Exec("INSERT INTO entities VALUES (?)", number)
		if err == nil && table != "entities" {
			_, err = g.own.Exec("INSERT INTO "+table+"("+key+", "+columns+") VALUES (?, "+rows[i]+")", number)
		}
		if err != nil {
			t.Fatal(text, err)
		}
	}
}

// joined runs a statement on the table both, and two statements with the same effect on SQLite's own tables.
func (g *writer) joined(t *testing.T) {
	b, p, e := g.small(), g.small(), g.entity()
	const text = `UPDATE both SET "unit.b" = ?, "spare.p" = "spare.p" + ? WHERE entity <> ? AND "unit.a" > 0`
	_, err := g.db.Exec(text, b, p, e)
	tx, ownErr := g.own.Begin()
	if ownErr != nil {
		t.Fatal(ownErr)
	}
	const both = " WHERE entity IN (SELECT entity FROM unit JOIN spare USING (entity) WHERE entity <> ? " +
		"AND a > 0)"
	_, ownErr = tx.Exec("UPDATE unit SET b = ?"+both, b, e)
	if ownErr == nil {
		_, ownErr = tx.Exec("UPDATE spare SET p = p + ?"+both, p, e)
	}
	if (err != nil) != (ownErr != nil) {
		t.Fatalf("joined: %v, want %v", err, ownErr)
	}
	if ownErr != nil {
		ownErr = tx.Rollback()
	} else {
		ownErr = tx.Commit()
	}
	if ownErr != nil {
		t.Fatal(ownErr)
	}
}

func (g *writer) step(t *testing.T) (text string) {
	if len(g.ids) < 60 && g.IntN(4) == 0 {
		g.birth(t)
		return "birth"
	}
	if g.IntN(20) == 0 {
		g.joined(t)
		return "joined"
	}
	text = g.statement()
	result, err := g.db.Exec(text)
	own, ownErr := g.own.Exec(text)
	if (err != nil) != (ownErr != nil) {
		t.Fatalf("%s: %v, want %v", text, err, ownErr)
	}
	if err != nil {
		g.refused++
		if _, known := errors.AsType[*WriteError](err); !known {
			t.Fatalf("%s: the error is %v, want a WriteError", text, err)
		}
		return text
	}
	n, _ := result.RowsAffected()
	want, _ := own.RowsAffected()
	if n != want {
		t.Fatalf("%s: %d rows are affected, want %d", text, n, want)
	}
	if n > 0 {
		g.done++
	}
	return text
}

// TestWritesLikeSQLite compares random writes with the same writes to SQLite's own tables. With
// recorded=true, the program applies encoded edits to two worlds, which must get the same rows.
func TestWritesLikeSQLite(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		t.Run(fmt.Sprint("recorded=", recorded), func(t *testing.T) {
			seed := rand.Uint64()
			t.Log("seed", seed)
			w := newWritten(t, vast.Options{Mark: 7})
			o := Options{Tables: map[string][]vast.AnyColumn{"both": {w.units, w.spares}}}
			again := newWritten(t, vast.Options{Mark: 7})
			if recorded {
				o.Edit = func(ctx context.Context, edit []byte) error {
					var err, replayErr error
					visit := w.world.Visit(ctx, func() bool {
						err = Apply(w.world, edit)
						return true
					})
					replay := again.world.Visit(ctx, func() bool {
						replayErr = Apply(again.world, edit)
						return true
					})
					if fmt.Sprint(err) != fmt.Sprint(replayErr) {
						t.Errorf("the replay returns %v, want %v", replayErr, err)
					}
					return errors.Join(visit, replay)
				}
			}
			w.serve(t)
			again.serve(t)
			g := &writer{Rand: rand.New(rand.NewPCG(seed, 1)), db: w.open(t, o), own: newSQLiteTables(t)}
			for range longtest.Pick(200, 20_000) {
				text := g.step(t)
				if got, want := dump(t, g.db), dump(t, g.own); !slices.Equal(got, want) {
					t.Fatalf("after %s:\n%s\nwant\n%s", text, strings.Join(got, "\n"), strings.Join(want,
						"\n"))
				}
				if len(g.ids) > 200 {
					g.ids = g.ids[100:]
				}
			}
			if g.done < 30 || g.refused < 10 {
				t.Errorf("%d statements wrote and %d were refused, want more of them", g.done, g.refused)
			}
			if recorded {
				if got, want := dump(t, again.open(t, Options{})), dump(t, g.db); !slices.Equal(got, want) {
					t.Errorf("the second world has the rows %q, want %q", got, want)
				}
			}
		})
	}
}
