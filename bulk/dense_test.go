package bulk

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

func newDense[T any](t testing.TB, o Options) *Dense[T] {
	t.Helper()
	d, err := NewDense[T](o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestHandlesFindWhatMoved(t *testing.T) {
	n := many() / 5
	if invariants.Enabled {
		n = 100_000 // each check visits every slot
	}
	d := newDense[record](t, Options{})
	handles := make([]Handle[record], n)
	first, _ := d.Insert(numbered(0))
	handles[0] = first
	at := d.Get(first)
	for i := 1; i < n; i++ {
		handles[i], _ = d.Insert(numbered(i))
	}
	if d.Get(first) != at || *at != numbered(0) {
		t.Fatal("an element moved though nothing was removed")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	removed := make(map[int]bool)
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(n)[:n/3] {
		if !d.Remove(handles[i]) || d.Remove(handles[i]) {
			t.Fatalf("element %d could not be removed, or could be removed twice", i)
		}
		removed[i] = true
	}
	for i, h := range handles {
		switch e := d.Get(h); {
		case removed[i] && (e != nil || d.Valid(h) || d.Index(h) != -1):
			t.Fatalf("element %d was removed and is still found", i)
		case !removed[i] && (e == nil || *e != numbered(i) || d.HandleAt(d.Index(h)) != h):
			t.Fatalf("element %d is %v", i, e)
		}
	}
	if es := d.Slice(); len(es) != n-len(removed) || &es[0] != at {
		t.Fatalf("%d elements from %p on, want %d from %p on", len(es), &es[0], n-len(removed), at)
	}
}

func TestLastMovesIntoTheGap(t *testing.T) {
	d := newDense[uint64](t, Options{Capacity: 10})
	var handles [5]Handle[uint64]
	for i := range handles {
		handles[i], _ = d.Insert(uint64(i))
	}
	d.Remove(handles[1])
	want := []uint64{0, 4, 2, 3}
	for i, v := range d.Slice() {
		if v != want[i] {
			t.Fatalf("elements %v, want %v", d.Slice(), want)
		}
	}
	if d.Index(handles[4]) != 1 || d.HandleAt(1) != handles[4] || d.Index(handles[1]) != -1 {
		t.Errorf("the last element has index %d", d.Index(handles[4]))
	}
	d.Remove(handles[3]) // now the last element
	if n := d.Len(); n != 3 || d.Slice()[2] != 2 {
		t.Errorf("elements %v", d.Slice())
	}
	for i := d.Len() - 1; i >= 0; i-- {
		d.Remove(d.HandleAt(i))
	}
	if d.Len() != 0 || len(d.Slice()) != 0 {
		t.Errorf("%d elements are left", d.Len())
	}
}

func TestRemovedPlacesArePoisoned(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("built without the tag invariants")
	}
	d := newDense[uint64](t, Options{Capacity: 10})
	h, _ := d.Insert(1)
	_, last := d.Insert(2)
	d.Remove(h)
	if *last != 0xDBDBDBDBDBDBDBDB {
		t.Errorf("the old place of an element that has moved holds %#x", *last)
	}
	_, again := d.Insert(3)
	d.Clear(nil)
	//vastvet:ignore useafter: the place is poisoned, not gone
	if again != last || *again != 0xDBDBDBDBDBDBDBDB {
		t.Errorf("a cleared place holds %#x", *again)
	}
}

func TestDenseMisuse(t *testing.T) {
	open := newDense[record](t, Options{Name: "open"})
	h, _ := open.Insert(record{})
	closed := newDense[record](t, Options{Name: "sounds"})
	closed.Insert(record{})
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		f    func()
		want string
	}{
		{"HandleAt", func() { open.HandleAt(1) }, "bulk: HandleAt(1) on open of length 1"},
		{"HandleAt below", func() { open.HandleAt(-1) }, "bulk: HandleAt(-1) on open of length 1"},
		{"closed HandleAt", func() { closed.HandleAt(0) }, "sounds is used after Close"},
		{"closed Index", func() { closed.Index(h) }, "sounds is used after Close"},
		{"closed Slice", func() { closed.Slice() }, "sounds is used after Close"},
		{"closed Trim", func() { _ = closed.Trim() }, "sounds is used after Close"},
	} {
		if got := modeltest.PanicText(c.f); !strings.Contains(got, c.want) {
			t.Errorf("%s: panic %q, want %q", c.name, got, c.want)
		}
	}
}

func TestDenseWithEachCallFailing(t *testing.T) {
	calls := faulttest.EachCall(t, func() error {
		d, err := NewDense[record](Options{Capacity: 20_000, Step: 64 << 10})
		if err != nil {
			return err
		}
		defer func() {
			if d.Close() != nil {
				if err := d.Close(); err != nil {
					t.Errorf("the second Close: %v", err)
				}
			}
		}()
		unchanged := func(n int, err error) error {
			if err == nil {
				return nil
			}
			if d.Len() != n {
				t.Errorf("after %v there are %d elements, before it there were %d", err, d.Len(), n)
			}
			d.checkInvariants()
			return err
		}
		if err := unchanged(0, d.Grow(1000)); err != nil {
			return err
		}
		var handles []Handle[record]
		for i := range 5000 {
			e := exhaustedBy(func() {
				h, _ := d.Insert(numbered(i))
				handles = append(handles, h)
			})
			if unchanged(i, e) != nil {
				return e
			}
		}
		for _, h := range handles[100:] {
			d.Remove(h)
		}
		err = d.Trim()
		d.checkInvariants()
		for i, h := range handles[:100] {
			if e := d.Get(h); e == nil || *e != numbered(i) {
				t.Fatalf("element %d is lost after %v", i, err)
			}
		}
		return err
	})
	if calls < 3 && !heapStandIn() {
		t.Errorf("only %d memory calls were made to fail, want at least 3", calls)
	}
}

// exhaustedBy returns the result of exhausted(f) as an error; a nil *vm.Error becomes a nil error.
func exhaustedBy(f func()) error {
	if e := exhausted(f); e != nil {
		return e
	}
	return nil
}

func TestDenseUnderALimit(t *testing.T) {
	for _, pages := range pageKinds {
		limit := vm.NewLimit(8 << 20)
		other := newArray[record](t, Options{Limit: limit, Pages: pages, Capacity: 100_000})
		if err := other.Grow(50_000); err != nil {
			t.Fatal(err)
		}
		d := newDense[record](t, Options{Limit: limit, Pages: pages, Capacity: 400_000, Name: "sounds"})
		var handles []Handle[record]
		var e *vm.Error
		for e == nil {
			e = exhausted(func() {
				h, _ := d.Insert(numbered(len(handles)))
				handles = append(handles, h)
			})
		}
		used := limit.Used()
		if !errors.Is(e, vm.ErrLimit) || e.Purpose != "sounds" || d.Len() != len(handles) ||
			used > limit.Max() {
			t.Fatalf("%v: at the limit: error %v, %d elements, %d handles, %d bytes", pages, e, d.Len(),
				len(handles), used)
		}
		if err := d.Grow(1); !errors.Is(err, vm.ErrLimit) || limit.Used() != used {
			t.Fatalf("%v: Grow beyond the limit returns %v and changes the used bytes from %d to %d", pages,
				err, used, limit.Used())
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		d.Insert(numbered(len(handles)))
		for i, h := range handles {
			if v := d.Get(h); v == nil || *v != numbered(i) {
				t.Fatalf("%v: element %d is lost", pages, i)
			}
		}
		d.checkInvariants()
		if d.Close() != nil || limit.Used() != 0 {
			t.Fatalf("%v: %d bytes stay in use after Close", pages, limit.Used())
		}
	}
}

func TestDenseTrim(t *testing.T) {
	d := newDense[[8]uint64](t, Options{Pages: vm.PagesSmall, Capacity: 100_000})
	const n = 1 << 14
	var handles []Handle[[8]uint64]
	for i := range n {
		h, _ := d.Insert([8]uint64{7: uint64(i)})
		handles = append(handles, h)
	}
	before, err := d.Resident()
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range handles {
		if i%1000 != 0 {
			d.Remove(h)
		}
	}
	committed := d.Committed()
	if err := d.Trim(); err != nil {
		t.Fatal(err)
	}
	after, err := d.Resident()
	if err != nil {
		t.Fatal(err)
	}
	if !vm.ReadFacts().HeapStandIn && before-after < n*64*8/10 || d.Committed() > committed ||
		committed < before ||
		d.Reserved() < committed {
		t.Errorf("Trim changed the resident bytes from %d to %d, and the committed bytes from %d to %d",
			before, after, committed, d.Committed())
	}
	for i, h := range handles {
		if e := d.Get(h); (e != nil) != (i%1000 == 0) || e != nil && e[7] != uint64(i) {
			t.Fatalf("element %d is %v", i, e)
		}
	}
	for i := range n {
		if h, v := d.Insert([8]uint64{uint64(i)}); *v != [8]uint64{uint64(i)} || d.Get(h) != v {
			t.Fatalf("element %d cannot be written", i)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := d.Resident(); n != 0 || err != nil || d.Committed() != 0 || d.Reserved() != 0 {
		t.Errorf("a closed dense has %d bytes in memory, %d committed: %v", n, d.Committed(), err)
	}
}
