package vastsql

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

// TestEdgeWrites runs statements that write edges, and checks the edges after each statement.
func TestEdgeWrites(t *testing.T) {
	w := newWritten(t, vast.Options{})
	born := w.world.Archetype(w.units)
	for i := range int8(3) {
		e := born.New()
		w.units.Set(e, unit{A: i})
	}
	roads := vast.NewEdges[struct{}](w.world, "Roads", vast.EdgesOptions{Capacity: 1 << 10})
	w.serve(t)
	db := w.open(t, Options{})
	// The entities have the IDs 0, 1 and 2 plus first.
	var first int64
	if err := db.QueryRow("SELECT min(entity) FROM unit").Scan(&first); err != nil {
		t.Fatal(err)
	}
	const all = "SELECT source - ?1, target - ?1, amount, price FROM trades ORDER BY 1, 2"
	for _, c := range []struct {
		text string
		rows int64
		want []string
	}{
		{"INSERT INTO trades VALUES (?1, ?1 + 1, 5, 0.5), (?1, ?1 + 2, 6, 1), (?1 + 1, ?1 + 1, 7, 2)", 3,
			[]string{"0|1|5|0.5", "0|2|6|1", "1|1|7|2"}},
		{"UPDATE trades SET amount = amount + 10 WHERE source = ?1 AND target = ?1 + 2", 1,
			[]string{"0|1|5|0.5", "0|2|16|1", "1|1|7|2"}},
		{"UPDATE trades SET price = price * 2 WHERE target = ?1 + 1", 2,
			[]string{"0|1|5|1", "0|2|16|1", "1|1|7|4"}},
		{"UPDATE trades SET target = ?1 WHERE amount = 5", 1, []string{"0|0|5|1", "0|2|16|1", "1|1|7|4"}},
		{"UPDATE trades SET target = target, amount = 1 WHERE source = target AND price = 4 + 0 * ?1", 1,
			[]string{"0|0|5|1", "0|2|16|1", "1|1|1|4"}},
		{"INSERT OR IGNORE INTO trades(source, target, amount) VALUES (?1, ?1, 9), (?1 + 1, ?1 + 2, 9)", 1,
			[]string{"0|0|5|1", "0|2|16|1", "1|1|1|4", "1|2|9|0"}},
		{"REPLACE INTO trades(source, target, amount) VALUES (?1, ?1, 8)", 1,
			[]string{"0|0|8|0", "0|2|16|1", "1|1|1|4", "1|2|9|0"}},
		// The statement changes the row (0, 2) first. This row becomes (0, 0) and replaces the old row
		// (0, 0), which the statement then leaves out.
		{"UPDATE OR REPLACE trades SET target = ?1, price = 3 WHERE source = ?1", 1,
			[]string{"0|0|16|3", "1|1|1|4", "1|2|9|0"}},
		// The row (1, 1) becomes (1, 0), and the row (1, 2) takes its place.
		{"UPDATE trades SET target = target - 1 WHERE source = ?1 + 1", 2,
			[]string{"0|0|16|3", "1|0|1|4", "1|1|9|0"}},
		{"UPDATE OR IGNORE trades SET target = ?1 WHERE source = ?1 + 1", 1,
			[]string{"0|0|16|3", "1|0|1|4", "1|1|9|0"}},
		{"UPDATE trades SET amount = u.a + 1 FROM unit u WHERE u.entity = target AND source >= ?1", 3,
			[]string{"0|0|1|3", "1|0|1|4", "1|1|2|0"}},
		{"DELETE FROM trades WHERE source = ?1 + 1 AND target = ?1", 1, []string{"0|0|1|3", "1|1|2|0"}},
		{"DELETE FROM trades WHERE (source, target) IN (SELECT target, source FROM trades WHERE source > ?1)",
			1, []string{"0|0|1|3"}},
		{"UPDATE trades SET target = ?1 + 2", 1, []string{"0|2|1|3"}},
		{"DELETE FROM unit WHERE entity = ?1 + 2", 1, []string{"0|2|1|3"}},
		{"DELETE FROM entities WHERE entity = ?1 + 2", 1, nil},
	} {
		if _, rows := exec(t, db, c.text, first); rows != c.rows {
			t.Errorf("%s: %d rows are affected, want %d", c.text, rows, c.rows)
		}
		if got := read(t, db, all, first); !slices.Equal(got, c.want) {
			t.Errorf("after %s: %q, want %q", c.text, got, c.want)
		}
	}
	ids := read(t, db, "INSERT INTO roads(target) VALUES (?1), (?1) RETURNING source", first)
	exec(t, db, "INSERT INTO roads VALUES (?1, ?1), (?1, ?1 + 1)", first)
	exec(t, db, "DELETE FROM roads WHERE source = ?1 AND target = ?1", first)
	exec(t, db, "UPDATE roads SET target = source WHERE source = ?1", first)
	want := []string{fmt.Sprint(first, "|", first), ids[0] + "|" + fmt.Sprint(first),
		ids[1] + "|" + fmt.Sprint(first)}
	slices.Sort(want)
	got := read(t, db, "SELECT source, target FROM roads")
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if n := roads.Len(); n != 3 {
		t.Errorf("the world has %d roads, want 3", n)
	}
}

// TestEdgeUpdateFrom updates edges for which a join has several rows. The statement uses one of the rows.
func TestEdgeUpdateFrom(t *testing.T) {
	w := newWritten(t, vast.Options{})
	a := w.world.Archetype(w.units).New()
	for range 2 {
		w.world.Archetype(w.units).New()
	}
	w.trades.Add(a, a, trade{Amount: 1})
	w.serve(t)
	db := w.open(t, Options{})
	exec(t, db, "UPDATE trades SET target = unit.entity FROM unit WHERE unit.entity <> source")
	got := read(t, db, "SELECT amount, target <> source FROM trades")
	if !slices.Equal(got, []string{"1|1"}) {
		t.Errorf("%q, want one edge to another entity", got)
	}
}

// TestEdgeUpdateSetsOnlyItsFields changes another field of an edge between the read and the write of a
// statement. The statement also moves the edge to another target. A tracker reports a write of the source,
// and neither an addition nor a removal.
func TestEdgeUpdateSetsOnlyItsFields(t *testing.T) {
	w := newWritten(t, vast.Options{})
	a, b := w.world.Archetype().New(), w.world.Archetype().New()
	w.trades.Add(a, b, trade{Amount: 1, Price: 1})
	changed := vast.NewTracker(w.world, w.trades)
	w.serve(t)
	db := w.open(t, Options{Edit: func(ctx context.Context, edit []byte) error {
		return w.world.Visit(ctx, func() bool {
			w.trades.Get(a, b).Amount = 2
			changed.Next()
			_ = Apply(w.world, edit)
			return true
		})
	}})
	exec(t, db, "UPDATE trades SET price = price + 5, target = source")
	var got trade
	var written, added, removed []vast.Entity
	if err := w.world.Visit(t.Context(), func() bool {
		got = *w.trades.Get(a, a)
		written = slices.Collect(changed.Changed(w.trades))
		added, removed = slices.Collect(changed.Added(w.trades)), slices.Collect(changed.Removed(w.trades))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if want := (trade{Amount: 2, Price: 6}); got != want || w.trades.Len() != 1 {
		t.Errorf("%d edges, one with %+v, want one edge with %+v", w.trades.Len(), got, want)
	}
	if !slices.Equal(written, []vast.Entity{a}) || added != nil || removed != nil {
		t.Errorf("the tracker returns the writes %v, additions %v and removals %v, want a write of %v",
			written, added, removed, a)
	}
}

// TestEdgeCapacity fills the room of edges. A move of an edge needs room for one more edge.
func TestEdgeCapacity(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	pairs := vast.NewEdges[int32](w, "Pairs", vast.EdgesOptions{Capacity: 58})
	for range 20 {
		w.Archetype().New()
	}
	(&fixture{w: w}).serve(t)
	db, err := Open(w, Options{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const some = "INSERT INTO pairs SELECT a.entity, b.entity, 1 FROM entities a, entities b WHERE " +
		"a.slot < 20 AND b.slot < 20 AND a.slot * 20 + b.slot "
	_, err = db.Exec(some + ">= 0")
	isRefused(t, "too many edges", err, codeNoMemory, "")
	if n := pairs.Len(); n != 0 {
		t.Errorf("the refused statement has made %d edges", n)
	}
	exec(t, db, some+"< 60 AND b.slot < 19")
	exec(t, db, "UPDATE pairs SET target = (SELECT max(entity) FROM entities) WHERE source = target")
	exec(t, db, "UPDATE pairs SET value = 2")
	if got := read(t, db, "SELECT count(*), sum(value) FROM pairs"); got[0] != "57|114" {
		t.Errorf("%s, want 57|114", got)
	}
}

// TestEdgesOfLoadedTypes writes edges whose type is known only from a file, and edges of the program.
func TestEdgesOfLoadedTypes(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	w := newWritten(t, vast.Options{Mark: 7})
	for range 20 {
		w.world.Archetype(w.units).New()
	}
	var file bytes.Buffer
	if err := store.Save(w.world, &file, store.Options{}); err != nil {
		t.Fatal(err)
	}
	loaded, _, err := store.LoadAny(&file, vast.Options{Mark: 7})
	if err != nil {
		t.Fatal(err)
	}
	w.serve(t)
	(&fixture{w: loaded}).serve(t)
	db := w.open(t, Options{})
	again, err := Open(loaded, Options{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	g := &writer{Rand: rand.New(rand.NewPCG(seed, 1)), db: db, own: db}
	for _, id := range read(t, db, "SELECT entity FROM unit") {
		var n int64
		if _, err := fmt.Sscan(id, &n); err != nil {
			t.Fatal(err)
		}
		g.ids = append(g.ids, n)
	}
	for range 150 {
		text := g.trades(g.pick("", " OR REPLACE"))
		_, err := db.Exec(text)
		_, errAgain := again.Exec(text)
		if fmt.Sprint(err) != fmt.Sprint(errAgain) {
			t.Fatalf("%s: %v, want %v", text, errAgain, err)
		}
		if got, want := dump(t, again), dump(t, db); !slices.Equal(got, want) {
			t.Fatalf("after %s: %q, want %q", text, got, want)
		}
	}
}
