package vast

import (
	"io"
	"testing"

	"github.com/vastgo/vast/vm"
)

func FuzzWorld(f *testing.F) {
	f.Fuzz(func(t *testing.T, stream []byte) {
		if len(stream) < 2 {
			return
		}
		o := Options{MaxEntities: 64 << (stream[0] % 6), Pages: vm.Pages(stream[0] / 64)}
		m := newModel(t, o, io.Discard)
		m.run(stream[1:min(len(stream), 1<<14)])
	})
}

func FuzzEntityOf(f *testing.F) {
	w := NewWorld(Options{MaxEntities: 4096})
	f.Cleanup(func() { w.Close() })
	born, later := NewColumn[uint64](w), NewColumn[[3]uint64](w)
	alive := map[Entity]bool{}
	for i := range 3000 {
		e := w.Archetype(born).New()
		if i%3 == 0 {
			w.Delete(e)
			continue
		}
		*born.Get(e) = e.ID()
		later.Add(e, [3]uint64{e.ID()})
		alive[e] = true
	}
	for e := range alive {
		f.Add(e.ID())
		f.Add(e.ID() + 1<<32)
		f.Add(e.ID() &^ (1<<32 - 1) << 8)
		break
	}
	f.Add(uint64(0))
	f.Add(^uint64(0))
	f.Add(uint64(1)<<32 - 64)
	f.Add(uint64(4096))
	f.Fuzz(func(t *testing.T, id uint64) {
		e := EntityOf(id)
		if e.ID() != id {
			t.Fatalf("EntityOf(%#x).ID() is %#x", id, e.ID())
		}
		if !alive[e] {
			changes := w.Stats().Changes
			if w.Alive(e) || born.Has(e) || born.Get(e) != nil || born.Set(e, 1) || born.Add(e, 1) != nil ||
				born.Remove(e) ||
				later.Has(e) || later.Get(e) != nil || later.Add(e, [3]uint64{}) != nil || later.Remove(e) ||
				w.Delete(e) {
				t.Fatalf("a method finds the dead entity %#x", id)
			}
			if w.Stats().Changes != changes {
				t.Fatalf("a call with the dead entity %#x changed the world", id)
			}
			return
		}
		if !w.Alive(e) || *born.Get(e) != id || later.Get(e)[0] != id {
			t.Fatalf("the live entity %#x is not found", id)
		}
	})
}
