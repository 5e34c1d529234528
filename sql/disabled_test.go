package vastsql

import (
	"slices"
	"testing"
	"time"

	"github.com/vastgo/vast"
)

// TestDisabledInTables: the tables have the entities and components that a vast.Disabled switches off, and
// DELETE deletes them.
func TestDisabledInTables(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	t.Cleanup(func() { w.Close() })
	positions := vast.NewColumn[Position](w)
	off, mute := vast.NewDisabled(w, "Off"), vast.NewDisabled(w, "Mute", positions)
	parent := vast.NewRelation(w, "Parent", vast.RelationOptions{})
	var es []vast.Entity
	for range 10 {
		es = append(es, w.Archetype(positions).New())
	}
	for i, e := range es[1:] {
		parent.Set(e, es[i])
	}
	db, err := Open(w, Options{MaxPause: time.Minute, Write: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w.Idle(func() { read(t, db, "SELECT 1") })
	ask := func(text string, want ...string) {
		t.Helper()
		var got []string
		w.Idle(func() { got = read(t, db, text) })
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	const count = "SELECT (SELECT count(*) FROM entities), (SELECT count(*) FROM position), " +
		"(SELECT count(*) FROM parent), (SELECT count(*) FROM off), (SELECT count(*) FROM mute)"
	ask(count, "10|10|9|0|0")
	off.Disable(es[2])
	off.Disable(es[3])
	mute.Disable(es[4])
	ask(count, "10|10|9|2|1")
	ask("SELECT count(*) FROM position WHERE entity NOT IN (SELECT entity FROM off)", "8")
	w.Idle(func() {
		if _, err := db.Exec("DELETE FROM entities WHERE entity IN (SELECT entity FROM off)"); err != nil {
			t.Error(err)
		}
	})
	if w.Len() != 8 || w.Alive(es[2]) {
		t.Errorf("%d entities are left, want 8", w.Len())
	}
}
