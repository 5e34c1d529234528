package vast

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

func TestWorldStory(t *testing.T) {
	w := NewWorld(Options{})
	pos, vel := NewColumn[position](w), NewColumn[velocity](w)
	docked := NewColumn[struct{}](w)
	ships := w.Archetype(pos, vel)
	var es []Entity
	for i := range 1000 {
		e := ships.New()
		es = append(es, e)
		*pos.Get(e) = position{float64(i), 1}
		*vel.Get(e) = velocity{1, 2}
	}
	for i := 0; i < 1000; i += 3 {
		docked.Add(es[i], struct{}{})
	}
	q := w.Query(pos, vel).Without(docked)
	n := 0
	for run := range q.Runs() {
		p, v := pos.Slice(run), vel.Slice(run)
		for i := range p {
			p[i].X += v[i].X
			n++
		}
	}
	if n != 666 || q.Count() != 666 {
		t.Fatalf("Runs yields %d entities, Count is %d, want 666", n, q.Count())
	}
	for i, e := range es {
		want := position{float64(i), 1}
		if i%3 != 0 {
			want.X++
		}
		if *pos.Get(e) != want {
			t.Fatalf("entity %d is at %v, want %v", i, *pos.Get(e), want)
		}
	}
	if got := w.DeleteAll(q); got != 666 || w.Len() != 334 {
		t.Fatalf("deleted %d entities, want 666; %d entities are left, want 334", got, w.Len())
	}
	for i, e := range es {
		if pos.Has(e) != (i%3 == 0) || w.Alive(e) != (i%3 == 0) {
			t.Fatalf("entity %d: Has or Alive is wrong", i)
		}
	}
	ships.NewN(50_000, nil)
	if ships.Len() != 50_334 || q.Count() != 50_000 {
		t.Fatalf("%d ships, want 50334; %d match the query, want 50000", ships.Len(), q.Count())
	}
	w.checkInvariants()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWorldReservesNothing(t *testing.T) {
	w := NewWorld(Options{Name: "reserves nothing"})
	if s := w.Stats(); s.Reserved != 0 || s.Committed != 0 || s.Name != "reserves nothing" {
		t.Errorf("an empty world: %+v", s)
	}
	if w.Len() != 0 || w.Alive(Entity{}) || w.Delete(EntityOf(1<<32)) || w.Trim() != nil {
		t.Error("an empty world has entities, or Trim fails")
	}
	for _, p := range vm.Snapshot(false).Purposes {
		if p.Purpose == "reserves nothing" {
			t.Errorf("an empty world reserved %d bytes", p.Reserved)
		}
	}
	NewColumn[byte](w)
	var found vm.PurposeStats
	for _, p := range vm.Snapshot(false).Purposes {
		if p.Purpose == "reserves nothing" {
			found = p
		}
	}
	s := w.Stats()
	if found.Reserved != s.Reserved || found.Committed != s.Committed || s.Reserved == 0 {
		t.Errorf("vm counts %+v, the world counts %+v", found, s)
	}
	w.Close()
}

func TestStats(t *testing.T) {
	w := NewWorld(Options{Name: "numbers", MaxEntities: 4096})
	defer w.Close()
	pos, tag := NewColumn[position](w), NewColumn[struct{}](w).Named("tag")
	a := w.Archetype(tag, pos)
	a.NewN(100, nil)
	e := a.New()
	tag.Remove(e)
	s := w.Stats()
	if s.Name != "numbers" || s.Entities != 101 || s.Changes != 102 || s.Slots != 128 ||
		s.Reserved < s.Committed || s.Committed == 0 {
		t.Errorf("%+v", s)
	}
	c := s.Columns
	if len(c) != 2 || c[0].Name != "position" || c[0].Type != "vast.position" || c[0].Size != 16 ||
		c[0].Entities != 101 ||
		c[0].Reserved != 16*4096 || c[0].Committed < 16*101 || c[1].Name != "tag" || c[1].Size != 0 ||
		c[1].Entities != 100 {
		t.Errorf("%+v", c)
	}
	if k := s.Archetypes; len(k) != 1 || !slices.Equal(k[0].Columns, []string{"position", "tag"}) ||
		k[0].Entities != 101 ||
		k[0].Slots != 128 || k[0].Extents < 1 {
		t.Errorf("%+v", k)
	}
	if n, err := w.Resident(); err != nil || n < 16*101 || n > s.Committed {
		t.Errorf("Resident returns %d and %v, %d bytes are committed", n, err, s.Committed)
	}
}

func TestPointersStay(t *testing.T) {
	n := longtest.Pick(300_000, 10_000_000)
	w := NewWorld(Options{MaxEntities: n + 100_000})
	defer w.Close()
	id, late := NewColumn[uint32](w), NewColumn[[3]uint64](w)
	a, b := w.Archetype(id), w.Archetype(late)
	type kept struct {
		e Entity
		p *uint32
		l *[3]uint64
	}
	var all []kept
	keep := func(e Entity) {
		k := kept{e, id.Get(e), late.Add(e, [3]uint64{e.ID()})}
		*k.p = uint32(len(all))
		all = append(all, k)
	}
	for range 1000 {
		keep(a.New())
		b.New()
	}
	for i := range n {
		e := a.New()
		if i%(n/1000) == 0 {
			keep(e)
		}
	}
	w.DeleteAll(w.Query(late).Without(id))
	for i, k := range all {
		if id.Get(k.e) != k.p || late.Get(k.e) != k.l || *k.p != uint32(i) || *k.l != [3]uint64{k.e.ID()} {
			t.Fatalf("entity %d: the pointers were %p and %p and are now %p and %p, or a value changed", i,
				k.p, k.l, id.Get(k.e), late.Get(k.e))
		}
	}
	if w.Len() != n+1000 {
		t.Errorf("%d entities, want %d", w.Len(), n+1000)
	}
}

func TestTrim(t *testing.T) {
	n := 1 << 18
	if longtest.Race {
		n = 1 << 14
	}
	w := NewWorld(Options{MaxEntities: 2 * n})
	defer w.Close()
	c, other := NewColumn[[8]uint64](w), NewColumn[[8]uint64](w).Named("other")
	a, b := w.Archetype(c), w.Archetype(other)
	b.New()
	kept := a.New()
	*c.Get(kept) = [8]uint64{1, 2, 3}
	b.NewN(n, func(r Run) {
		o := other.Slice(r)
		for i := range o {
			o[i][7] = 9
		}
	})
	last := a.New()
	*c.Get(last) = [8]uint64{7: 4}
	w.DeleteAll(w.Query(other))
	before, err := w.Resident()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	after, err := w.Resident()
	if err != nil {
		t.Fatal(err)
	}
	if heap := vm.ReadFacts().HeapStandIn; !heap && before-after < n*64*9/10 {
		t.Errorf("%d bytes are resident before Trim, %d after Trim; %d bytes were vacant", before, after,
			n*64)
	}
	if *c.Get(kept) != [8]uint64{1, 2, 3} || *c.Get(last) != [8]uint64{7: 4} {
		t.Error("Trim changed components of living entities")
	}
	w.checkInvariants()
	b.NewN(n, func(r Run) {
		for i, v := range other.Slice(r) {
			if v != [8]uint64{} {
				t.Fatalf("entity %d of the run begins with %v, want zeros", i, v)
			}
		}
	})
	if w.Len() != n+2 {
		t.Errorf("%d entities, want %d", w.Len(), n+2)
	}
}

func TestCollector(t *testing.T) {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			var garbage [64][]*[100]byte
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				garbage[i%64] = append(garbage[(i+7)%64][:0:0], new([100]byte), new([100]byte))
				if i%4096 == 0 {
					runtime.GC()
				}
				if i%64 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	rounds := longtest.Pick(10, 40)
	// A program may keep pointers into closed worlds if it does not follow them.
	var stale []unsafe.Pointer
	for range rounds {
		w := NewWorld(Options{MaxEntities: 1 << 14})
		pos, big := NewColumn[position](w), NewColumn[[100]byte](w)
		a := w.Archetype(pos)
		a.NewN(5000, nil)
		sum := 0.0
		for e := range w.Query(pos).All() {
			pos.Get(e).X = 1
		}
		for i, e := range entitiesOf(w.Query(pos)) {
			if i%10 == 0 {
				stale = append(stale, unsafe.Pointer(big.Add(e, [100]byte{1})))
			}
			if i%2 == 0 {
				w.Delete(e)
			}
			if i%500 == 0 {
				runtime.Gosched()
			}
		}
		for r := range w.Query(pos).Runs() {
			for _, p := range pos.Slice(r) {
				sum += p.X
			}
		}
		if sum != 2500 || w.Len() != 2500 || big.Len() != 0 {
			t.Fatalf("the sum is %v, and %d entities are alive, want 2500; %d have the large component, "+
				"want 0", sum, w.Len(), big.Len())
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	close(stop)
	wg.Wait()
	runtime.KeepAlive(stale)
}

// TestReaders runs queries and look-ups on several goroutines at a time. Each goroutine also writes elements
// that no other goroutine accesses. In builds with the race detector, columns are Go heap memory, so that the
// detector checks the accesses to columns.
func TestReaders(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 14})
	defer w.Close()
	pos, vel, tag := NewColumn[position](w), NewColumn[velocity](w), NewColumn[struct{}](w)
	var es []Entity
	w.Archetype(pos, vel).NewN(10_000, func(r Run) {
		v := vel.Slice(r)
		for i := range v {
			es = append(es, r.Entity(i))
			v[i].X = 1
		}
	})
	for i, e := range es {
		if i%5 == 0 {
			tag.Add(e, struct{}{})
		}
	}
	q, all := w.Query(vel).Without(tag), w.Query(pos, vel)
	const workers = 8
	var sums [workers]float64
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			for range 10 {
				for r := range q.Runs() {
					for _, v := range vel.Slice(r) {
						sums[k] += v.X
					}
				}
			}
			for i, e := range es {
				if vel.Get(e).X != 1 || tag.Has(e) != (i%5 == 0) || !w.Alive(e) {
					t.Errorf("entity %d has wrong components", i)
					return
				}
				if i%workers == k {
					pos.Set(e, position{float64(i), float64(k)}) // each element has one writer
				}
			}
			if all.Count() != 10_000 || w.Len() != 10_000 || vel.Len() != 10_000 ||
				len(w.Stats().Columns) != 3 {
				t.Errorf("%d entities, want 10000, or Len or Stats is wrong", all.Count())
			}
		})
	}
	wg.Wait()
	for k, sum := range sums {
		if sum != 80_000 {
			t.Errorf("the sum of worker %d is %v, want 80000", k, sum)
		}
	}
	for i, e := range es {
		if *pos.Get(e) != (position{float64(i), float64(i % workers)}) {
			t.Fatalf("entity %d is at %v", i, *pos.Get(e))
		}
	}
}
