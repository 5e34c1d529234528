package vast

import (
	"testing"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// residentOf returns the bytes of a world that are in memory, from /proc/self/smaps.
func residentOf(t *testing.T, w *World) (total int) {
	for _, r := range w.memory.regions {
		n, _ := smaps(t, uintptr(r.Base()), uintptr(r.Base())+uintptr(r.Size()))
		total += n
	}
	return total
}

func TestTrimResident(t *testing.T) {
	if vm.ReadFacts().HeapStandIn {
		t.Skip("memory is Go's heap here")
	}
	total := 10_000_000
	var o Options
	if !longtest.Enabled() || invariants.Enabled {
		// With so few entities, huge pages would change the result.
		total, o.Pages = 2_000_000, vm.PagesSmall
	}
	if invariants.Enabled {
		total = 400_000
	}
	type columns struct {
		pos  Column[position]
		kind Column[byte]
		kept Tag
	}
	newWorld := func() (*World, columns) {
		w := NewWorld(o)
		return w, columns{NewColumn[position](w), NewColumn[byte](w), NewTag(w, "Kept")}
	}
	birth := func(a *Archetype, c columns, n int) {
		a.NewN(n, func(r Run) {
			pos, kind := c.pos.Slice(r), c.kind.Slice(r)
			for i := range pos {
				pos[i], kind[i] = position{1, 2}, 3
			}
		})
	}
	fresh, c := newWorld()
	defer fresh.Close()
	birth(fresh.Archetype(c.pos, c.kind, c.kept), c, total/10)
	want := residentOf(t, fresh)

	for name, keptParts := range map[string][]bool{
		"at the end":   {false, false, true},
		"at the start": {true, false, false},
		"in between":   {false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, c := newWorld()
			defer w.Close()
			for _, kept := range keptParts {
				if kept {
					birth(w.Archetype(c.pos, c.kind, c.kept), c, total/10)
				} else {
					birth(w.Archetype(c.pos, c.kind), c, total*9/20)
				}
			}
			w.DeleteAll(w.Query().Without(c.kept))
			before := residentOf(t, w)
			if err := w.Trim(); err != nil {
				t.Fatal(err)
			}
			after := residentOf(t, w)
			t.Logf("%d KiB before Trim, %d KiB after Trim, %d KiB with the kept entities only: %.2f",
				before>>10, after>>10, want>>10, float64(after)/float64(want))
			if after > want*3/2 {
				t.Errorf("%d bytes are in memory after Trim, and a world with only the kept entities has %d",
					after, want)
			}
			for run := range w.Query(c.kept).Runs() {
				for i, v := range c.pos.Slice(run) {
					if v != (position{1, 2}) || c.kind.Slice(run)[i] != 3 {
						t.Fatal("Trim took a living component")
					}
				}
			}
			if n := w.Query(c.kept).Count(); n != total/10 {
				t.Errorf("%d entities remain, want %d", n, total/10)
			}
		})
	}
}

func TestTrimFreePages(t *testing.T) {
	if vm.ReadFacts().HeapStandIn {
		t.Skip("memory is Go's heap here")
	}
	group := 16 * vm.PageSize() / 64 // entities in sixteen pages of elements
	n := 64 * group
	w := NewWorld(Options{Pages: vm.PagesSmall})
	defer w.Close()
	c, taken, sparse := NewColumn[[8]uint64](w), NewColumn[[8]uint64](w).Named("taken"),
		NewSparseColumn[[3]uint64](w).Named("sparse")
	a := w.Archetype(c, taken, sparse)
	a.NewN(n, func(r Run) {
		for i := range r.Len() {
			e := r.Entity(i)
			*c.Get(e), *taken.Get(e), *sparse.Get(e) = [8]uint64{1}, [8]uint64{2}, [3]uint64{3}
		}
	})
	for i, e := range entitiesOf(w.Query(c)) {
		if i%group >= group/4 {
			w.Delete(e)
		} else {
			taken.Remove(e)
		}
	}
	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	resident := func(c *column) int {
		lo, hi := elements(c, n)
		got, _ := smaps(t, lo, hi)
		return got
	}
	if got := resident(c.c); got > n*64/4+32*vm.PageSize() {
		t.Errorf("%d bytes of elements are in memory, want about a quarter, %d", got, n*64/4)
	}
	if got := resident(taken.c); got > 32*vm.PageSize() {
		t.Errorf("a column without entities keeps %d bytes", got)
	}
	for e := range w.Query(c).All() {
		if *c.Get(e) != [8]uint64{1} || *sparse.Get(e) != [3]uint64{3} || taken.Has(e) {
			t.Fatalf("%v has lost a component", e)
		}
	}
	for range n / 2 {
		if e := a.New(); *c.Get(e) != [8]uint64{} || *taken.Get(e) != [8]uint64{} ||
			*sparse.Get(e) != [3]uint64{} {
			t.Fatalf("a component of the new entity %v is not zero", e)
		}
	}
}
