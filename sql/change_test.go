package vastsql

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/vastgo/vast"
)

// TestUpdateSetsOnlyItsFields changes other fields of a row between the read and the write of a statement.
func TestUpdateSetsOnlyItsFields(t *testing.T) {
	w := newWritten(t, vast.Options{})
	e := w.world.Archetype(w.units, w.memos, w.spares).New()
	changed := vast.NewTracker(w.world, w.units, w.memos)
	w.serve(t)
	meanwhile := func() {}
	db := w.open(t, Options{Edit: func(ctx context.Context, edit []byte) error {
		return w.world.Visit(ctx, func() bool {
			meanwhile()
			_ = Apply(w.world, edit)
			return true
		})
	}})
	meanwhile = func() {
		w.units.Set(e, unit{A: 1, B: 2, C: 3})
		w.memos.Set(e, memo{"old", []byte{1}})
		changed.Next()
	}
	exec(t, db, "UPDATE unit SET b = b + 100 WHERE a = 0")
	exec(t, db, "UPDATE memo SET text = 'new' FROM unit WHERE unit.entity = memo.entity")
	var u unit
	var m memo
	var written []vast.Entity
	if err := w.world.Visit(t.Context(), func() bool {
		u, m = *w.units.Get(e), *w.memos.Get(e)
		written = slices.Collect(changed.Changed(w.memos))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if want := (unit{A: 1, B: 2, C: 3}); u != want || !reflect.DeepEqual(m, memo{"new", []byte{1}}) {
		t.Errorf("the values are %+v and %+v, want %+v and the text new", u, m, want)
	}
	if !slices.Equal(written, []vast.Entity{e}) {
		t.Errorf("the tracker returns %v, want %v", written, e)
	}
	meanwhile = func() { w.units.Set(e, unit{A: 1, B: 2, C: 3}) }
	exec(t, db, "UPDATE unit SET b = 100 WHERE entity = ?", int64(e.ID()))
	if got := read(t, db, "SELECT a, b, c FROM unit"); !slices.Equal(got, []string{"1|100|3"}) {
		t.Error(got)
	}
}

// TestConflicts changes the world between the read and the write of a statement.
func TestConflicts(t *testing.T) {
	for _, c := range []struct {
		text, code, says string
		meanwhile        func(w *written, a, b vast.Entity)
	}{
		{"UPDATE unit SET a = 1", codeConflict, "row 2", func(w *written, a,
			b vast.Entity) {
			w.world.Delete(b)
		}},
		{"UPDATE unit SET a = 1", codeConflict, "deleted meanwhile",
			func(w *written, a, b vast.Entity) { w.world.Delete(b) }},
		{"UPDATE unit SET a = 1", codeConflict, "has no unit any more",
			func(w *written, a, b vast.Entity) { w.units.Remove(b) }},
		{"DELETE FROM unit", codeConflict, "has no unit any more",
			func(w *written, a, b vast.Entity) { w.units.Remove(b) }},
		{"DELETE FROM entities", codeConflict, "deleted meanwhile",
			func(w *written, a, b vast.Entity) { w.world.Delete(b) }},
		{"UPDATE trades SET amount = 1", codeConflict, "the entity was deleted meanwhile",
			func(w *written, a, b vast.Entity) { w.world.Delete(b) }},
		{"UPDATE trades SET price = 1", codeConflict, "the edge to 1.1 in Trades was removed meanwhile",
			func(w *written, a, b vast.Entity) { w.trades.Remove(b, b) }},
		{"DELETE FROM trades", codeConflict, "removed meanwhile",
			func(w *written, a, b vast.Entity) { w.trades.Remove(b, b) }},
		{"UPDATE trades SET target = (SELECT min(entity) FROM unit) WHERE price > 0", codeExists,
			"has an edge to 0.1 in Trades already: use UPDATE OR REPLACE",
			func(w *written, a, b vast.Entity) { w.trades.Add(b, a, trade{}) }},
		{"INSERT INTO trades SELECT max(entity), min(entity), 0, 0 FROM unit", codeExists,
			"has an edge to 0.1 in Trades already: UPDATE this edge",
			func(w *written, a, b vast.Entity) { w.trades.Add(b, a, trade{}) }},
		{"INSERT INTO trades(target) SELECT entity FROM unit", codeNoEntity, "the target 1.1 is not alive",
			func(w *written, a, b vast.Entity) { w.world.Delete(b) }},
		{"INSERT INTO frozen SELECT entity FROM unit", codeExists, "has Frozen already",
			func(w *written, a, b vast.Entity) { w.frozen.Add(b) }},
		{"INSERT INTO frozen SELECT entity FROM unit", codeNoEntity, "no such entity lives",
			func(w *written, a, b vast.Entity) { w.world.Delete(b) }},
		{"INSERT INTO child_of SELECT min(entity), max(entity) FROM unit", codeCircle, "circle",
			func(w *written, a, b vast.Entity) { w.childOf.Set(b, a) }},
		{"INSERT INTO name SELECT entity, 'Ann' FROM unit LIMIT 1", codeExists, "belongs to another",
			func(w *written, a, b vast.Entity) { _, _ = w.world.Names().Set(b, "Ann") }},
	} {
		w := newWritten(t, vast.Options{})
		both := w.world.Archetype(w.units)
		a, b := both.New(), both.New()
		w.trades.Add(a, a, trade{})
		w.trades.Add(b, b, trade{Price: 1})
		w.serve(t)
		var after []string
		var applied error
		plain := w.open(t, Options{})
		db := w.open(t, Options{Edit: func(ctx context.Context, edit []byte) error {
			err := w.world.Visit(ctx, func() bool {
				c.meanwhile(w, a, b)
				return true
			})
			after = dump(t, plain)
			return errors.Join(err, w.world.Visit(ctx, func() bool {
				applied = Apply(w.world, edit)
				return true
			}))
		}})
		_, err := db.Exec(c.text)
		isRefused(t, c.text, err, c.code, c.says)
		if fmt.Sprint(applied) != err.Error() {
			t.Errorf("%s: Apply returns %v, and the statement %v", c.text, applied, err)
		}
		if got := dump(t, plain); !slices.Equal(got, after) {
			t.Errorf("%s: the rows are %q, want %q", c.text, got, after)
		}
	}
}

// TestDeletedEntities deletes targets of relations and edges with the rules Refuse and Cascade.
func TestDeletedEntities(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	docked := vast.NewRelation(w, "Docked", vast.RelationOptions{OnDelete: vast.Refuse})
	owned := vast.NewRelation(w, "Owned", vast.RelationOptions{OnDelete: vast.Cascade})
	roads := vast.NewEdges[struct{}](w, "Roads", vast.EdgesOptions{OnDelete: vast.Refuse})
	var all []vast.Entity
	for range 6 {
		all = append(all, w.Archetype().New())
	}
	ship, port, owner, town, other, guest := all[0], all[1], all[2], all[3], all[4], all[5]
	docked.Set(ship, port)
	owned.Set(ship, owner)
	roads.Add(other, town, struct{}{})
	docked.Set(guest, owner)
	(&fixture{w: w}).serve(t)
	db, err := Open(w, Options{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	id := func(e vast.Entity) int64 { return int64(e.ID()) }
	for _, c := range []struct {
		of   []any
		says string
	}{
		{[]any{id(port)}, "links to it in Docked"},
		{[]any{id(town)}, "links to it in Roads"},
		{[]any{id(owner), id(port)}, "links to it in Docked"}, // the cascade deletes ship, but not guest
	} {
		_, err := db.Exec("DELETE FROM entities WHERE entity IN (?1, ?2)", c.of[0], c.of[len(c.of)-1])
		isRefused(t, fmt.Sprint(c.of), err, codeRefused, c.says)
	}
	if got := read(t, db, "SELECT count(*) FROM entities"); got[0] != "6" {
		t.Fatalf("%s entities live, want 6", got)
	}
	_, rows := exec(t, db, "DELETE FROM entities WHERE entity IN (?, ?, ?)", id(owner), id(port), id(guest))
	if got := read(t, db, "SELECT count(*) FROM entities"); got[0] != "2" || rows != 3 {
		t.Errorf("%s entities live, want 2; %d rows are affected, want 3", got, rows)
	}
	exec(t, db, "DELETE FROM entities")
	if got := read(t, db, "SELECT count(*) FROM entities"); got[0] != "0" {
		t.Errorf("%s entities live, want 0", got)
	}
}

// TestHooks checks the values that the callbacks of a program get, and the error after a callback panics.
func TestHooks(t *testing.T) {
	w := newWritten(t, vast.Options{})
	w.world.Require(w.spares, w.units)
	e := w.world.Archetype().New()
	var seen []string
	see := func(format string, args ...any) { seen = append(seen, fmt.Sprintf(format, args...)) }
	w.units.OnAdd(func(e vast.Entity, u *unit) { see("unit %d", u.A) })
	w.spares.OnAdd(func(e vast.Entity, s *spare) {
		if s.P == 9 {
			panic("nine")
		}
		see("spare %d of %d", s.P, w.units.Get(e).A)
	})
	w.units.OnRemove(func(e vast.Entity, u *unit) { see("no unit %d", u.A) })
	w.childOf.OnAdd(func(_, to vast.Entity) { see("child of %v", to) })
	w.serve(t)
	db := w.open(t, Options{})
	exec(t, db, "INSERT INTO unit(a) VALUES (1), (2)")
	exec(t, db, "INSERT INTO spare(entity, p) VALUES (?, 3)", int64(e.ID()))
	exec(t, db, "INSERT INTO child_of(target) VALUES (?)", int64(e.ID()))
	exec(t, db, "UPDATE unit SET a = 5 WHERE a = 2")
	exec(t, db, "DELETE FROM unit WHERE a = 1")
	exec(t, db, "DELETE FROM entities WHERE entity IN (SELECT entity FROM unit WHERE a = 5)")
	want := []string{"unit 1", "unit 2", "unit 0", "spare 3 of 0", "child of " + e.String(), "no unit 1",
		"no unit 5"}
	if !slices.Equal(seen, want) {
		t.Errorf("the callbacks have seen %q, want %q", seen, want)
	}
	_, err := db.Exec("INSERT INTO spare(p) VALUES (9)")
	isRefused(t, "a callback panics", err, codePanic, "the program panicked")
}
