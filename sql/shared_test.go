package vastsql

import (
	"slices"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/shared"
)

type Material struct {
	Color uint32
	Gloss float64
}

// TestSharedColumn checks that statements see the values of a shared column, and that a statement changes the
// value of the chosen entities only.
func TestSharedColumn(t *testing.T) {
	f := &fixture{w: vast.NewWorld(vast.Options{})}
	materials := shared.New[Material](f.w)
	wood := Material{7, 0.25}
	f.w.Archetype(materials).NewN(100, func(r vast.Run) {
		for _, e := range r.All() {
			f.entities = append(f.entities, e)
		}
	})
	for _, e := range f.entities[:40] {
		materials.Set(e, wood)
	}
	f.serve(t)
	db, err := Open(f.w, Options{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	mustRead := func(text string, want ...string) {
		t.Helper()
		if got := read(t, db, text); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	mustRead("SELECT color, gloss, count(*) FROM material GROUP BY color ORDER BY color", "0|0|60",
		"7|0.25|40")
	mustRead("SELECT count(*) FROM material WHERE gloss > 0.1", "40")
	chosen := int64(f.entities[3].ID())
	if _, err := db.Exec("UPDATE material SET gloss = 0.5 WHERE entity = ?", chosen); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE material SET color = 9 WHERE color = 0"); err != nil {
		t.Fatal(err)
	}
	mustRead("SELECT color, gloss, count(*) FROM material GROUP BY color, gloss ORDER BY color, gloss",
		"7|0.25|39", "7|0.5|1", "9|0|60")
}
