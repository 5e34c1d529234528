package vast

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

func TestSparseColumnWithoutAddresses(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("the stand-in takes the memory of all slots when the column is made")
	}
	w := NewWorld(Options{MaxEntities: math.MaxInt32, Pages: vm.PagesSmall})
	defer w.Close()
	v := panicOf(func() { NewSparseColumn[[1 << 20]byte](w) })
	if err, ok := v.(error); !ok || !(errors.Is(err, vm.ErrSize) || errors.Is(err, vm.ErrAddressSpace)) {
		t.Errorf("%v", v)
	}
	if n := len(w.columns); n != 0 {
		t.Errorf("%d columns are registered, want 0", n)
	}
	c := NewSparseColumn[uint64](w)
	e := w.Archetype(c).New()
	if p := c.Get(e); p == nil || *p != 0 || c.c.id != 0 {
		t.Error("the next new column does not work")
	}
}

func TestSparseAll(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	w := NewWorld(Options{MaxEntities: 1 << 16})
	defer w.Close()
	num, rare := NewColumn[uint64](w), NewSparseColumn[uint64](w)
	born, without := w.Archetype(num, rare), w.Archetype(num)
	q := w.Query(rare)
	cs := NewCommands(w, CommandsOptions{})
	n := uint64(0)
	check := func(after string) {
		t.Helper()
		want, got := map[Entity]uint64{}, map[Entity]uint64{}
		for e := range q.All() {
			want[e] = *rare.Get(e)
		}
		last := (*pooled[uint64])(nil)
		for e, v := range rare.All() {
			if v != rare.Get(e) {
				t.Fatalf("after %s: All and Get give different addresses for the value of %v", after, e)
			}
			p := rare.pool.pool.Get(*rare.pool.handle(e.slot))
			if last != nil && !last.before(p) {
				t.Fatalf("after %s: %v comes out of order", after, e)
			}
			last = p
			got[e] = *v
		}
		if !maps.Equal(want, got) {
			t.Fatalf("after %s: All yields %d entities, want %d:\n%v\n%v", after, len(got), len(want), got,
				want)
		}
		w.checkInvariants()
	}
	write := func() {
		for _, v := range rare.All() {
			n++
			*v = n
		}
	}
	check("NewSparseColumn")
	for range 3 {
		for range 100 {
			born.New()
			without.New()
		}
		check("New")
		born.NewN(1000, nil)
		without.NewN(1000, nil)
		write()
		check("NewN")
		es := slices.Collect(w.Query().All())
		r.Shuffle(len(es), func(i, k int) { es[i], es[k] = es[k], es[i] })
		for _, e := range es[:500] {
			rare.Add(e, n)
			n++
		}
		check("Add")
		for _, e := range es[300:900] {
			w.Delete(e)
		}
		for _, e := range es[900:1400] {
			rare.Remove(e)
		}
		check("Delete and Remove")
		born.NewN(300, nil)
		write()
		check("NewN in freed slots")
		rare.AddAll(w.Query(num).Among(es[1000:1300]), 7)
		check("AddAll")
		w.Exchange(w.Query(num).Among(es[1350:1400]), []AnyColumn{rare}, nil)
		w.Exchange(w.Query(num).Among(es[1320:1340]), nil, []AnyColumn{rare})
		check("Exchange")
		cs.New(born)
		rare.AddLater(cs, es[1345], 9)
		cs.Delete(es[1346])
		if _, err := w.Apply(cs); err != nil {
			t.Fatal(err)
		}
		check("Apply")
		if w.Regroup(w.Query(), MoveOptions{}).Len() == 0 {
			t.Fatal("Regroup moved nothing")
		}
		check("Regroup")
		if born.Pack(MoveOptions{}).Len()+without.Pack(MoveOptions{}).Len() == 0 {
			t.Fatal("Pack moved nothing")
		}
		check("Pack")
		if err := w.Trim(); err != nil {
			t.Fatal(err)
		}
		check("Trim")
		w.DeleteAll(w.Query().Between(0, w.Slots()/2))
		check("DeleteAll")
		w.Reset()
		if rare.Len() != 0 {
			t.Fatalf("%d entities after Reset", rare.Len())
		}
		check("Reset")
	}
}

func (p *pooled[T]) before(other *pooled[T]) bool {
	return uintptr(unsafe.Pointer(p)) < uintptr(unsafe.Pointer(other))
}

func TestSparseAllPassesGaps(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 16})
	defer w.Close()
	c := NewSparseColumn[uint64](w)
	var es []Entity
	for _, s := range w.Archetype(c).NewEach(40_000) {
		es = append(es, s.Entity())
	}
	var want []Entity
	for i, e := range es {
		if i == 70 || i == 5000 || i > 39_990 && i%3 == 0 {
			*c.Get(e) = uint64(i)
			want = append(want, e)
		} else {
			c.Remove(e)
		}
	}
	var got []Entity
	for e, v := range c.All() {
		if es[*v] != e {
			t.Errorf("%v has the value %d", e, *v)
		}
		got = append(got, e)
	}
	if !slices.Equal(got, want) {
		t.Errorf("All yields %v, want %v", got, want)
	}
	for range c.All() { // Trim in the loop gives back memory behind the last element
		if err := w.Trim(); err != nil {
			t.Fatal(err)
		}
	}
	for e := range c.All() {
		if e != want[0] {
			t.Errorf("the first entity is %v, want %v", e, want[0])
		}
		break
	}
	if n := testing.AllocsPerRun(10, func() {
		for _, v := range c.All() {
			*v++
		}
	}); n != 0 {
		t.Errorf("a loop allocates %v times", n)
	}
}

func TestSparseAllOfOddElements(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 12})
	defer w.Close()
	type wide struct {
		a byte
		b [3]uint64
	}
	none, small, large := NewSparseColumn[struct{}](w), NewSparseColumn[[3]byte](w), NewSparseColumn[wide](w)
	a := w.Archetype(none, small, large)
	var es []Entity
	for i := range 200 {
		e := a.New()
		*small.Get(e) = [3]byte{byte(i), 1, byte(i)}
		*large.Get(e) = wide{byte(i), [3]uint64{1, 2, uint64(i)}}
		es = append(es, e)
	}
	i := 0
	for e := range none.All() {
		if e != es[i] {
			t.Fatalf("element %d is of %v, want %v", i, e, es[i])
		}
		i++
	}
	if i != len(es) {
		t.Errorf("%d elements without a value, want %d", i, len(es))
	}
	i = 0
	for e, v := range small.All() {
		if e != es[i] || *v != [3]byte{byte(i), 1, byte(i)} {
			t.Fatalf("element %d is of %v and has the value %v", i, e, *v)
		}
		i++
	}
	i = 0
	for e, v := range large.All() {
		if e != es[i] || *v != (wide{byte(i), [3]uint64{1, 2, uint64(i)}}) ||
			uintptr(unsafe.Pointer(v))%unsafe.Alignof(*v) != 0 {
			t.Fatalf("element %d is of %v and has the value %v at %p", i, e, *v, v)
		}
		i++
	}
}

func TestSparseAllMisuse(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 12})
	c, other := NewSparseColumn[uint64](w), NewTag(w, "other")
	a := w.Archetype(c)
	a.NewN(100, nil)
	for name, change := range map[string]func(e Entity){
		"Remove":    func(e Entity) { c.Remove(e) },
		"New":       func(Entity) { a.New() },
		"Add":       func(e Entity) { other.Add(e) },
		"Delete":    func(e Entity) { w.Delete(e) },
		"Pack":      func(e Entity) { w.Delete(e); a.Pack(MoveOptions{}) },
		"Reset":     func(Entity) { w.Reset() },
		"RemoveAll": func(Entity) { c.RemoveAll(w.Query()) },
	} {
		if c.Len() == 0 {
			a.NewN(100, nil)
		}
		steps := 0
		says(t, func() {
			for e := range c.All() {
				steps++
				change(e)
			}
		}, "changed while SparseColumn.All was running")
		if steps != 1 {
			t.Errorf("%s: the loop made %d steps, want 1", name, steps)
		}
	}
	says(t, func() {
		for range (SparseColumn[uint64]{}).All() {
			t.Error("the zero column has an entity")
		}
	}, "was not made with NewSparseColumn")
	all := c.All()
	a.New()
	says(t, func() {
		for range all {
			_ = w.Close()
		}
	}, "changed while SparseColumn.All was running")
	says(t, func() {
		for range all {
			t.Error("a closed world has an entity")
		}
	}, "closed")
}

func TestSparseAllMarksNothing(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 12})
	defer w.Close()
	c := NewSparseColumn[uint64](w)
	e := w.Archetype(c).New()
	tr := NewTracker(w, c)
	defer tr.Close()
	for _, v := range c.All() {
		*v = 5
	}
	if n := len(slices.Collect(tr.Changed(c))); n != 0 || *c.Get(e) != 5 {
		t.Errorf("%d entities are marked, the value is %d", n, *c.Get(e))
	}
	for e := range c.All() {
		*c.Edit(e) = 6
	}
	if n := len(slices.Collect(tr.Changed(c))); n != 1 {
		t.Errorf("%d entities are marked after Edit, want 1", n)
	}
}
