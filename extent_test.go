package vast

import (
	"math/rand/v2"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

func runsOf(q Query) (lens []int) {
	for r := range q.Runs() {
		lens = append(lens, r.Len())
	}
	return lens
}

func TestLocality(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 16})
	defer w.Close()
	var cs [3]Column[uint64]
	var as [3]*Archetype
	for i := range cs {
		cs[i] = anotherColumn[uint64](w)
		as[i] = w.Archetype(cs[i])
	}
	const n = 15_000
	for range n {
		for _, a := range as {
			a.New()
		}
	}
	for i, c := range cs {
		lens := runsOf(w.Query(c))
		longest, sum := 0, 0
		for _, k := range lens {
			longest, sum = max(longest, k), sum+k
		}
		// After the first few extents, each new extent adds a quarter to the archetype's words. 15,000
		// entities therefore take about 24 extents.
		if sum != n || len(lens) > 32 || longest < n/8 {
			t.Errorf("archetype %d: %d entities in %d runs, the longest of %d: %v", i, sum, len(lens),
				longest, lens)
		}
	}
}

func TestAdjacentExtents(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 16})
	defer w.Close()
	c := NewColumn[[3]uint64](w)
	a := w.Archetype(c)
	for range 50_000 {
		a.New()
	}
	if extents := w.Stats().Archetypes[0].Extents; extents < 2 {
		t.Fatalf("%d extents, want at least 2", extents)
	}
	if lens := runsOf(w.Query(c)); len(lens) != 1 || lens[0] != 50_000 {
		t.Errorf("the runs have lengths %v, want one run of 50000", lens)
	}
}

func TestEmptiedExtents(t *testing.T) {
	const slots = 1 << 12
	w := NewWorld(Options{MaxEntities: slots})
	defer w.Close()
	for i := range 5 {
		c := anotherColumn[uint32](w)
		a := w.Archetype(c)
		if i%2 == 0 {
			a.NewN(slots, nil)
		} else {
			for range slots {
				a.New()
			}
		}
		if w.Len() != slots || len(runsOf(w.Query(c))) != 1 {
			t.Fatalf("archetype %d: %d entities in %d runs, want one run", i, w.Len(),
				len(runsOf(w.Query(c))))
		}
		if i%2 == 0 {
			w.DeleteAll(w.Query(c))
		} else {
			es := entitiesOf(w.Query(c))
			rand.Shuffle(len(es), func(i, j int) { es[i], es[j] = es[j], es[i] })
			for _, e := range es {
				w.Delete(e)
			}
		}
		if s := w.Stats(); s.Entities != 0 || s.Slots > 64 {
			t.Errorf("archetype %d: archetypes without entities own %d slots", i, s.Slots)
		}
		w.checkInvariants()
	}
}

func entitiesOf(q Query) (es []Entity) {
	for e := range q.All() {
		es = append(es, e)
	}
	return es
}

// TestSpareWord checks that an empty archetype keeps one word. Another archetype may take this word, but not
// a word that Grow has promised.
func TestSpareWord(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 128})
	defer w.Close()
	a, b, c := w.Archetype(anotherColumn[byte](w)), w.Archetype(anotherColumn[byte](w)),
		w.Archetype(anotherColumn[byte](w))
	w.Delete(a.New())
	w.Delete(b.New())
	if w.Stats().Slots != 128 {
		t.Errorf("the empty archetypes keep %d slots, want 128", w.Stats().Slots)
	}
	if err := b.Grow(64); err != nil {
		t.Fatal(err)
	}
	c.NewN(64, nil)
	if c.Grow(1) == nil {
		t.Error("Grow of c took the word that Grow promised to b")
	}
	b.NewN(64, nil)
	if w.Len() != 128 || a.Len() != 0 {
		t.Errorf("%d entities, want 128", w.Len())
	}
	w.checkInvariants()
}

func TestChurn(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	w := NewWorld(Options{MaxEntities: 1 << 16})
	defer w.Close()
	as := []*Archetype{w.Archetype(NewColumn[uint64](w)), w.Archetype(NewColumn[uint32](w)), w.Archetype()}
	const n = 3000
	var es []Entity
	for i := range n {
		es = append(es, as[i%3].New())
	}
	steps := longtest.Pick(100_000, 1_000_000)
	highest := uint32(0)
	for i := range steps {
		// From time to time, the test deletes all entities of an archetype, so that extents are given back.
		if i%20_000 == 0 {
			a := as[i/20_000%3]
			kept := es[:0]
			for _, e := range es {
				if w.extents[w.owner(e.slot/64).extent].archetype == a {
					w.Delete(e)
				} else {
					kept = append(kept, e)
				}
			}
			es = kept
			for len(es) < n {
				es = append(es, as[r.IntN(3)].New())
			}
		}
		k := r.IntN(len(es))
		w.Delete(es[k])
		es[k] = as[r.IntN(3)].New()
		highest = max(highest, w.frontier*64)
	}
	w.checkInvariants()
	if w.Len() != n {
		t.Errorf("%d entities, want %d", w.Len(), n)
	}
	if highest > 4*n {
		t.Errorf("extents end at slot %d, want at most %d for %d entities", highest, 4*n, n)
	}
}

func TestManyArchetypes(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 15})
	defer w.Close()
	var bits []Column[byte]
	for range 8 {
		bits = append(bits, anotherColumn[byte](w))
	}
	var es []Entity
	for i := range 256 {
		var set []AnyColumn
		for b, c := range bits {
			if i>>b&1 != 0 {
				set = append(set, c)
			}
		}
		es = append(es, w.Archetype(set...).New())
	}
	for i, e := range es {
		for b, c := range bits {
			if c.Has(e) != (i>>b&1 != 0) {
				t.Fatalf("entity %d, column %d: Has returns %v", i, b, c.Has(e))
			}
		}
	}
	q := w.Query(bits[0], bits[3]).Without(bits[7])
	if q.Count() != 32 || w.Query().Count() != 256 || bits[5].Len() != 128 || w.Len() != 256 {
		t.Errorf("%d of %d entities match, want 32 of 256; %d in a column, want 128", q.Count(),
			w.Query().Count(), bits[5].Len())
	}
	if s := w.Stats(); s.Slots != 256*64 || len(s.Archetypes) != 256 {
		t.Errorf("%d slots, %d archetypes, want 64 each for 256 archetypes", s.Slots, len(s.Archetypes))
	}
	if n := w.DeleteAll(q); n != 32 || w.Len() != 224 {
		t.Errorf("deleted %d, %d are left, want 32 and 224", n, w.Len())
	}
	w.checkInvariants()
}

func TestHolesAreFilled(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 14})
	defer w.Close()
	a, b, c := w.Archetype(anotherColumn[byte](w)), w.Archetype(anotherColumn[byte](w)), w.Archetype()
	a.NewN(2048, nil)
	b.NewN(64, nil)
	frontier := w.frontier
	w.DeleteAll(w.Query(a.columns[0].asAny()))
	others := w.Query().Without(b.columns[0].asAny())
	for _, n := range []int{1000, 2048, 1} { // 2,048 entities fill the hole exactly
		c.NewN(n, nil)
		if w.frontier != frontier || w.Len() != 64+n {
			t.Errorf("%d entities, want %d; the frontier moved from word %d to %d", w.Len(), 64+n, frontier,
				w.frontier)
		}
		for e := range others.All() {
			if e.Slot() >= 2048 {
				t.Fatalf("%d entities: slot %d was used, although the hole has room", n, e.Slot())
			}
		}
		w.DeleteAll(others)
	}
}

// asAny returns the column for queries. Queries ignore the element type, so asAny uses byte for all columns.
func (c *column) asAny() AnyColumn { return Column[byte]{base: c.base, c: c} }
