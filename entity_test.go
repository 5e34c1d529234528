package vast

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestEntity(t *testing.T) {
	var zero Entity
	if !zero.IsZero() || zero.ID() != 0 || unsafe.Sizeof(zero) != 8 {
		t.Errorf("the zero Entity: %v, ID %d, %d bytes", zero.IsZero(), zero.ID(), unsafe.Sizeof(zero))
	}
	w := NewWorld(Options{MaxEntities: 640})
	defer w.Close()
	a := w.Archetype()
	es := []Entity{a.New(), a.New(), a.New()}
	w.Delete(es[1])
	again := a.New()
	if again.Slot() != 1 || again.Generation() != 2 || again.String() != "1.2" || again == es[1] ||
		again.IsZero() {
		t.Errorf("the second entity in slot 1 is %v", again)
	}
	if EntityOf(again.ID()) != again || EntityOf(es[1].ID()) == again {
		t.Errorf("EntityOf(%v.ID()) is %v", again, EntityOf(again.ID()))
	}
	if w.Alive(es[1]) || !w.Alive(again) || !w.Alive(es[2]) || w.Alive(zero) {
		t.Errorf("Alive returns %v, %v, %v and %v, want false, true, true and false", w.Alive(es[1]),
			w.Alive(again), w.Alive(es[2]), w.Alive(zero))
	}
}

func foundBy(w *World, c Column[uint64], e Entity) bool {
	return w.Alive(e) || c.Has(e) || c.Get(e) != nil || c.Set(e, 1) || c.Remove(e) || w.Delete(e)
}

func TestForeignEntities(t *testing.T) {
	worlds := [3]*World{}
	var columns [3]Column[uint64]
	var es [3][]Entity
	for i := range worlds {
		worlds[i] = NewWorld(Options{MaxEntities: 1024})
		columns[i] = NewColumn[uint64](worlds[i])
		for range 100 {
			es[i] = append(es[i], worlds[i].Archetype(columns[i]).New())
		}
	}
	if err := worlds[2].Close(); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		for j := range worlds {
			if i == j {
				continue
			}
			for _, e := range es[j] {
				if foundBy(worlds[i], columns[i], e) || columns[i].Add(e, 1) != nil {
					t.Fatalf("world %d finds %v of world %d", i, e, j)
				}
			}
		}
		if columns[i].Len() != 100 || worlds[i].Len() != 100 {
			t.Errorf("world %d has %d entities and %d components, want 100", i, worlds[i].Len(),
				columns[i].Len())
		}
	}
	for j := range worlds {
		for _, e := range es[j] {
			if foundBy(worlds[2], columns[2], e) {
				t.Fatalf("the closed world finds %v of world %d", e, j)
			}
		}
	}
	worlds[0].Close()
	worlds[1].Close()
}

func TestEntitiesOfRandomBits(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	w := NewWorld(Options{})
	c := anotherColumn[uint64](w)
	empty := anotherColumn[uint64](w)
	alive := map[Entity]bool{}
	w.Archetype(c).NewN(1000, func(run Run) {
		for i := range run.Len() {
			alive[run.Entity(i)] = true
		}
	})
	closed := NewWorld(Options{})
	gone := NewColumn[uint64](closed)
	closed.Archetype(gone).NewN(1000, nil)
	closed.Close()
	for range 200_000 {
		id := r.Uint64()
		switch r.IntN(3) {
		case 0:
			id &^= 0xFFFF_F000 // a low slot, near the used slots
		case 1:
			id = id&0x03_FFFF_FFFF | uint64(uint32(w.mark))<<32 // the mark of the world and a low generation
		}
		e := EntityOf(id)
		if !alive[e] && (foundBy(w, c, e) || c.Add(e, 1) != nil || foundBy(w, empty, e)) ||
			foundBy(closed, gone, e) {
			t.Fatalf("the ID %#x is found but belongs to no living entity", id)
		}
	}
	if w.Len() != 1000 {
		t.Errorf("%d entities are left, want 1000", w.Len())
	}
	w.Close()
}
