package vast

import (
	"math/rand/v2"
	"testing"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/longtest"
)

// storage is a column of one of the four kinds, with its methods as functions of entities and numbers.
type storage struct {
	name   string
	column AnyColumn
	add    func(Entity, uint64) bool
	set    func(Entity, uint64) bool
	get    func(Entity) (uint64, bool)
	remove func(Entity) bool
	count  func() int
}

type number struct{ N uint64 }

type boxed struct{ N *uint64 }

func storages(w *World) []storage {
	c := NewColumn[number](w).Named("column")
	s := NewSparseColumn[number](w).Named("sparse")
	h := NewHeapColumn[boxed](w).Named("heap")
	g := NewTag(w, "tag")
	deref := func(v *number) (uint64, bool) {
		if v == nil {
			return 0, false
		}
		return v.N, true
	}
	return []storage{
		{"column", c, func(e Entity, n uint64) bool { return c.Add(e, number{n}) != nil },
			func(e Entity, n uint64) bool { return c.Set(e, number{n}) },
			func(e Entity) (uint64, bool) { return deref(c.Get(e)) }, c.Remove, c.Len},
		{"sparse", s, func(e Entity, n uint64) bool { return s.Add(e, number{n}) != nil },
			func(e Entity, n uint64) bool { return s.Set(e, number{n}) },
			func(e Entity) (uint64, bool) { return deref(s.Get(e)) }, s.Remove, s.Len},
		{"heap", h, func(e Entity, n uint64) bool { return h.Add(e, boxed{&n}) != nil },
			func(e Entity, n uint64) bool { return h.Set(e, boxed{&n}) },
			func(e Entity) (uint64, bool) {
				v := h.Get(e)
				switch {
				case v == nil:
					return 0, false
				case v.N == nil:
					return 0, true
				}
				return *v.N, true
			}, h.Remove, h.Len},
		{"tag", g, func(e Entity, _ uint64) bool { return g.Add(e) },
			func(e Entity, _ uint64) bool { return g.Has(e) },
			func(e Entity) (uint64, bool) { return 0, g.Has(e) }, g.Remove, g.Len},
	}
}

// TestStoragesAgree applies random operations to a column of each kind and to a map, and compares them.
func TestStoragesAgree(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for kind := range 4 {
		w := NewWorld(Options{MaxEntities: 1 << 14})
		all := storages(w)
		s := all[kind]
		hasValue := s.name != "tag"
		with, without := w.Archetype(s.column), w.Archetype()
		q, rest := w.Query(s.column), w.Query().Without(s.column)
		r := rand.New(rand.NewPCG(seed, 0))
		model := map[Entity]uint64{} // the value of each entity that has the component
		alive := []Entity{}
		steps := longtest.Pick(5_000, 30_000)
		born := func(e Entity, has bool) {
			alive = append(alive, e)
			if has {
				model[e] = 0
			}
		}
		for step := range steps {
			var e Entity
			if len(alive) > 0 {
				e = alive[r.IntN(len(alive))]
			}
			n := r.Uint64()
			_, had := model[e]
			living := w.Alive(e)
			switch op := r.IntN(100); {
			case op < 20:
				has := r.IntN(2) == 0
				a := without
				if has {
					a = with
				}
				if len(alive) < 8000 {
					born(a.New(), has)
				}
			case op < 22:
				if len(alive) < 8000 {
					with.NewN(r.IntN(200), func(run Run) {
						for i := range run.Len() {
							born(run.Entity(i), true)
						}
					})
				}
			case op < 45:
				if got := s.add(e, n); got != living {
					t.Fatalf("%s, step %d: Add of %v reports %v", s.name, step, e, got)
				}
				if living {
					model[e] = n
				}
			case op < 60:
				if got := s.set(e, n); got != had {
					t.Fatalf("%s, step %d: Set of %v reports %v", s.name, step, e, got)
				}
				if had {
					model[e] = n
				}
			case op < 80:
				if got := s.remove(e); got != had {
					t.Fatalf("%s, step %d: Remove of %v reports %v", s.name, step, e, got)
				}
				delete(model, e)
			case op < 99:
				if got := w.Delete(e); got != living {
					t.Fatalf("%s, step %d: Delete of %v reports %v", s.name, step, e, got)
				}
				delete(model, e)
			case r.IntN(10) == 0:
				w.DeleteAll(q)
				clear(model)
			case r.IntN(10) == 0:
				w.DeleteAll(rest)
			}
			if step%500 != 0 && step != steps-1 {
				continue
			}
			if s.count() != len(model) || q.Count() != len(model) {
				t.Fatalf("%s, step %d: Len is %d, the query counts %d, want %d", s.name, step, s.count(),
					q.Count(), len(model))
			}
			kept := alive[:0]
			for _, e := range alive {
				want, has := model[e]
				if got, ok := s.get(e); ok != has || hasValue && got != want {
					t.Fatalf("%s, step %d: Get of %v is %d, %v; want %d, %v", s.name, step, e, got, ok, want,
						has)
				}
				if w.Alive(e) {
					kept = append(kept, e)
				}
			}
			alive = kept
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHeapColumnFreesElements(t *testing.T) {
	w := NewWorld(Options{})
	defer w.Close()
	names := NewHeapColumn[[]string](w)
	a := w.Archetype(names)
	block := 1 << heapBlockShift
	es := make([]Entity, 3*block)
	for i := range es {
		es[i] = a.New()
		*names.Get(es[i]) = []string{"a", "b"}
	}
	first := names.Get(es[0])
	names.Remove(es[0])
	if *first != nil {
		t.Errorf("the element of a removed component still refers to %v", *first)
	}
	for _, e := range es[block : 2*block] {
		w.Delete(e)
	}
	if names.heap.blocks[0] == nil || names.heap.blocks[1] != nil || names.heap.blocks[2] == nil {
		t.Errorf("only the block without elements should be freed; elements of each block: %v",
			names.heap.used)
	}
	if got := names.Get(es[5]); got == nil || len(*got) != 2 {
		t.Errorf("an entity in another block lost its component: %v", got)
	}
}

func TestSparseColumnStaysSmall(t *testing.T) {
	w := NewWorld(Options{})
	defer w.Close()
	rare := NewSparseColumn[kilobyte](w)
	var es []Entity
	w.Archetype().NewN(20_000, func(r Run) {
		for i := range r.Len() {
			es = append(es, r.Entity(i))
		}
	})
	pointers := map[Entity]*kilobyte{}
	for i := 0; i < len(es); i += 1000 {
		pointers[es[i]] = rare.Add(es[i], kilobyte{byte(i / 1000)})
	}
	for i := 0; i < len(es); i += 1000 {
		if p := rare.Get(es[i]); p != pointers[es[i]] || p[0] != byte(i/1000) {
			t.Fatalf("entity %d: the component moved or changed", i)
		}
	}
	if rare.pool.pool.Len() != 20 {
		t.Errorf("the pool holds %d elements, want 20", rare.pool.pool.Len())
	}
	w.DeleteAll(w.Query(rare))
	if rare.pool.pool.Len() != 0 {
		t.Errorf("the pool holds %d elements after all were deleted", rare.pool.pool.Len())
	}
}

func TestTagTakesBitsOnly(t *testing.T) {
	w := NewWorld(Options{})
	defer w.Close()
	tag := NewTag(w, "Docked")
	e := w.Archetype(tag).New()
	if !tag.Has(e) || tag.Len() != 1 || tag.Name() != "Docked" {
		t.Errorf("Has %v, Len %d, Name %q", tag.Has(e), tag.Len(), tag.Name())
	}
	if s := w.Stats().Columns[0]; s.Reserved != 0 || s.Size != 0 || s.Type != "" {
		t.Errorf("a tag reserves %d bytes for elements of %d bytes of type %q", s.Reserved, s.Size, s.Type)
	}
	if err := tag.Grow(1); err != nil || !tag.Remove(e) || tag.Remove(e) || tag.Has(e) {
		t.Errorf("Grow: %v, or Remove did not remove the tag exactly once", err)
	}
}

func TestPointersAreAllowedOnTheHeapOnly(t *testing.T) {
	w := NewWorld(Options{})
	defer w.Close()
	mustPanic(t, "boxed.N is a pointer", func() { NewSparseColumn[boxed](w) })
	NewHeapColumn[boxed](w)
	if invariants.Enabled {
		w.checkInvariants()
	}
}

func TestHeapColumnOfLargeElements(t *testing.T) {
	type large struct {
		Text string
		B    [1 << 20]byte
	}
	w := NewWorld(Options{MaxEntities: 1 << 16})
	defer w.Close()
	c, small := NewHeapColumn[large](w), NewHeapColumn[[200]string](w)
	var es []Entity
	w.Archetype().NewN(60_000, func(r Run) {
		for i := range r.Len() {
			es = append(es, r.Entity(i))
		}
	})
	before := heapInUse()
	for _, i := range []int{0, 1, 59_999} {
		c.Add(es[i], large{Text: "far"}).B[1<<20-1] = byte(i)
		small.Add(es[i], [200]string{199: "last"})
	}
	if took := heapInUse() - before; took > 5<<20 {
		t.Errorf("three elements of 1 MiB and three of 3 KiB take %d bytes", took)
	}
	for _, i := range []int{0, 1, 59_999} {
		if v := c.Get(es[i]); v.Text != "far" || v.B[1<<20-1] != byte(i) || small.Get(es[i])[199] != "last" {
			t.Errorf("element %d has changed", i)
		}
	}
	gone := c.Get(es[1])
	if !c.Remove(es[1]) || gone.Text != "" || c.Get(es[0]) == nil || c.Len() != 2 {
		t.Error("Remove did not remove exactly one element")
	}
	w.checkInvariants()
	c.RemoveAll(w.Query())
	small.RemoveAll(w.Query())
	if left := heapInUse() - before; left > 1<<20 {
		t.Errorf("two columns without elements keep %d bytes", left)
	}
}
