package vastsql

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

// kept is a world in a store that keeps the checkpoints of ticks 1, 2 and 4. In each tick, all x grow by 1.
type kept struct {
	dir       string
	world     *vast.World
	positions vast.Column[Position]
}

func newKept(t *testing.T) *kept {
	k := &kept{dir: t.TempDir(), world: vast.NewWorld(vast.Options{})}
	k.positions = vast.NewColumn[Position](k.world)
	st, err := store.Open(k.dir, k.world, store.Options{Every: time.Hour, Keep: 10})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Recover(nil, nil); err != nil {
		t.Fatal(err)
	}
	k.world.Archetype(k.positions).NewN(1000, func(vast.Run) {})
	for tick := 1; tick <= 5; tick++ {
		err := st.Tick(func() error {
			for r := range k.world.Query(k.positions).Runs() {
				for i := range k.positions.Slice(r) {
					k.positions.Slice(r)[i].X++
				}
			}
			return nil
		})
		if tick != 3 && tick != 5 {
			err = errors.Join(err, st.Checkpoint())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := errors.Join(st.Close(), k.world.Close()); err != nil {
			t.Error(err)
		}
	})
	return k
}

// open opens a database about the world, whose owner admits statements until the test ends.
func (k *kept) open(t *testing.T, o Options) *sql.DB {
	db, err := Open(k.world, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			k.world.Admit(time.Millisecond)
			time.Sleep(50 * time.Microsecond)
		}
	}()
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		<-ended
	})
	return db
}

func TestAsOfTick(t *testing.T) {
	k := newKept(t)
	db := k.open(t, Options{
		Store:  k.dir,
		Tables: map[string][]vast.AnyColumn{"placed": {k.positions}},
		Lists:  map[string]any{"words": []struct{ Entity vast.Entity }{{}}},
	})
	const count = "SELECT count(*), sum(x), max(x) FROM position"
	for text, want := range map[string]string{
		count:                      "1000|5000|5",
		count + " AS OF TICK 4":    "1000|4000|4",
		count + " as of\ttick 2 ;": "1000|2000|2",
		count + " WHERE x > 0 /* a tick */ AS /**/ OF TICK 1 -- one": "1000|1000|1",
		"SELECT count(*), 'ü' FROM placed AS OF TICK 2":              "1000|ü",
		"SELECT count(*) FROM words AS OF TICK 2":                    "1",
		"SELECT 'AS OF TICK 2', max(x) FROM position":                "AS OF TICK 2|5",
		"SELECT max(x) AS tick FROM position -- AS OF TICK 2":        "5",
	} {
		for range 2 {
			if got := read(t, db, text); !reflect.DeepEqual(got, []string{want}) {
				t.Errorf("%s: %v, want %s", text, got, want)
			}
		}
	}
	statement, err := db.Prepare("SELECT count(*) FROM position WHERE x = ? AS OF TICK 2")
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range []int{0, 0, 1000} {
		var n int
		if err := statement.QueryRow(x).Scan(&n); err != nil || n != want {
			t.Errorf("x = %d: %d rows, %v; want %d", x, n, err, want)
		}
	}
	if err := statement.Close(); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		count + " AS OF TICK 3":              "tick 2, 4",
		count + " AS OF TICK 9":              "tick 4;",
		count + " AS OF TICK x":              "number of a tick",
		count + " AS OF TICK ?":              "number of a tick",
		count + " AS OF TICK 1 AS OF TICK 1": "Options.Store",
		"SELECT * FROM missing AS OF TICK 1": "no such table",
	} {
		if got, err := tryRead(db, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want an error with %q", text, got, err, want)
		}
	}
	other := k.open(t, Options{})
	if _, err := tryRead(other, count+" AS OF TICK 2"); !errors.Is(err, errNoStore) {
		t.Errorf("without a store: %v", err)
	}
	stored, _, err := OpenStored(k.dir, 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, stored, count+" AS OF TICK 1"); got[0] != "1000|1000|1" {
		t.Error(got)
	}
	if got := read(t, stored, count); got[0] != "1000|4000|4" {
		t.Error(got)
	}
	if err := stored.Close(); err != nil {
		t.Error(err)
	}
	limited, _, err := OpenStored(k.dir, 2, Options{MaxPause: 1, MaxCopyBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	c, err := limited.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var limit *LimitError
	if _, err := tryRead(limited, "SELECT sum(x + 0) FROM position"); !errors.As(err, &limit) {
		t.Errorf("got %v, want a LimitError, and no rows of another checkpoint", err)
	}
	if err := limited.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.QueryContext(t.Context(), count+" AS OF TICK 1"); err == nil {
		t.Error("a connection of a closed database opens a checkpoint")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestStatementsBeyondTheLimitReadTheNewestCheckpoint also closes the database while rows are open.
func TestStatementsBeyondTheLimitReadTheNewestCheckpoint(t *testing.T) {
	k := newKept(t)
	db := k.open(t, Options{Store: k.dir, MaxCopyBytes: 5000})
	var notes []string
	ctx := WithNotes(t.Context(), func(note string) { notes = append(notes, note) })
	var n, sum int
	one := db.QueryRowContext(ctx, "SELECT count(*), sum(x) FROM position WHERE x > ?", 1)
	if err := one.Scan(&n, &sum); err != nil {
		t.Fatal(err)
	}
	if n != 1000 || sum != 4000 || len(notes) != 1 || !strings.Contains(notes[0], "tick 4") {
		t.Errorf("%d rows with the sum %d and the notes %q, want 1000, 4000 and a note with the tick", n, sum,
			notes)
	}
	one = db.QueryRowContext(ctx, "SELECT count(*) FROM position")
	if err := one.Scan(&n); err != nil || len(notes) != 1 {
		t.Errorf("a statement within the limit: %v, notes %q", err, notes)
	}
	rows, err := db.QueryContext(ctx, "SELECT entity, x FROM position")
	if err != nil {
		t.Fatal(err)
	}
	if n = 0; !rows.Next() {
		t.Fatal(rows.Err())
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	for n = 1; rows.Next(); n++ {
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || n != 1000 {
		t.Errorf("%d rows after the database was closed, %v", n, err)
	}

	without := k.open(t, Options{MaxCopyBytes: 5000})
	var limit *LimitError
	if _, err := tryRead(without, "SELECT entity, x FROM position"); !errors.As(err, &limit) {
		t.Errorf("without a store: %v", err)
	}
	empty := k.open(t, Options{MaxCopyBytes: 5000, Store: t.TempDir()})
	if _, err := tryRead(empty, "SELECT entity, x FROM position"); !errors.As(err, &limit) ||
		!strings.Contains(err.Error(), "no checkpoint") {
		t.Errorf("with an empty store: %v", err)
	}
}
