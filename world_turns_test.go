package vast

import (
	"math/rand/v2"
	"testing"

	"github.com/vastgo/vast/vm"
)

func TestWorldsInTurn(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	limit := vm.NewLimit(64 << 20)
	var old []Entity
	for range 300 {
		w := NewWorld(Options{MaxEntities: 1 << 13, Limit: limit})
		var columns []AnyColumn
		var masses Column[number]
		var blocks Column[[100]byte]
		makers := []func(){
			func() { masses = NewColumn[number](w); columns = append(columns, masses) },
			func() { blocks = NewColumn[[100]byte](w); columns = append(columns, blocks) },
			func() { columns = append(columns, NewTag(w, "tag")) },
		}
		// Make the columns in random order, so that a column gets memory of another column of a closed world.
		rnd.Shuffle(len(makers), func(i, j int) { makers[i], makers[j] = makers[j], makers[i] })
		for _, make := range makers {
			make()
		}
		a := w.Archetype(columns...)
		n := 1 + rnd.IntN(1<<rnd.IntN(12))
		var run Run
		a.NewN(n, func(r Run) {
			run = r
			for i, m := range masses.Slice(r) {
				if block := blocks.Slice(r)[i]; m != (number{}) || block != ([100]byte{}) {
					t.Fatalf("a new entity has %v and %v, want zeros", m, block)
				}
				masses.Slice(r)[i].N = 1
				blocks.Slice(r)[i] = [100]byte{0: 2, 99: 3}
			}
		})
		for _, e := range old {
			if w.Alive(e) || masses.Get(e) != nil {
				t.Fatalf("%v of an older world is alive", e)
			}
		}
		if w.Query(columns...).Count() != n || w.Len() != n {
			t.Fatalf("%d entities match, %d are alive, want %d", w.Query(columns...).Count(), w.Len(), n)
		}
		w.checkInvariants()
		old = append(old[:0], run.Entity(0), run.Entity(run.Len()-1))
		m, block := masses.Get(old[0]), blocks.Get(old[1])
		if err := w.Close(); err != nil || limit.Used() != 0 {
			t.Fatalf("Close returned %v, and the limit counts %d bytes, want 0", err, limit.Used())
		}
		if vm.HeapStandIn() {
			continue
		}
		for what, use := range map[string]func(){
			"a component":       func() { m.N++ },
			"a large component": func() { block[99]++ },
		} {
			if f := faultOf(t, use); f == nil || !f.Closed {
				t.Fatalf("an access to %s of a closed world faults with %v, want a fault with Closed set",
					what, f)
			}
		}
	}
}
