package guard

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

func newPool[T any](t testing.TB, o bulk.Options) *Pool[T] {
	t.Helper()
	p, err := NewPool[T](o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return p
}

// fault returns the report about the bad access in f, or nil.
func fault(f func()) *Fault {
	found, _ := caught(func() { vm.Do(f) })
	return found
}

func TestPoolTakesThePlaceOfABulkPool(t *testing.T) {
	guarded := newPool[record](t, bulk.Options{Capacity: 200})
	plain, err := bulk.NewPool[record](bulk.Options{Capacity: 200})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	var handles [2][]bulk.Handle[record]
	for i := range 300 {
		if i%3 == 2 {
			j := (i * 7) % len(handles[0])
			if a, b := guarded.Remove(handles[0][j]), plain.Remove(handles[1][j]); a != b {
				t.Fatalf("step %d: Remove is %t and %t", i, a, b)
			}
			continue
		}
		a, _ := guarded.Insert(numbered(i))
		b, _ := plain.Insert(numbered(i))
		if a.Slot() != b.Slot() || a.Generation() != b.Generation() {
			t.Fatalf("step %d: handles %v and %v", i, a, b)
		}
		handles[0], handles[1] = append(handles[0], a), append(handles[1], b)
	}
	if guarded.Len() != plain.Len() || guarded.Len() < 100 {
		t.Errorf("the guarded pool has %d elements, the plain pool %d", guarded.Len(), plain.Len())
	}
}

func TestPoolFaults(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("blocks are Go heap memory in this build, where nothing faults")
	}
	p := newPool[record](t, bulk.Options{Name: "records"})
	h, e := p.Insert(numbered(1))
	other, _ := p.Insert(numbered(2))
	if f := fault(func() { unsafe.Slice(e, 2)[1][0] = 1 }); f == nil || f.Kind != PastEnd ||
		f.Distance != 1 || f.Type != "record" {
		t.Errorf("past the end: %+v", f)
	}
	p.Remove(h)
	again, _ := p.Insert(numbered(3))
	if again.Slot() != h.Slot() {
		t.Errorf("slot %d was taken, not %d", again.Slot(), h.Slot())
	}
	if f := fault(func() { e[1] = 9 }); f == nil || f.Kind != AfterFree || f.Offset != 8 ||
		f.Allocator != "records" {
		t.Errorf("after Remove: %+v", f)
	}
	if *p.Get(other) != numbered(2) || *p.Get(again) != numbered(3) {
		t.Error("other elements have changed")
	}
	q := p.Get(again)
	p.Clear(nil)
	if f := fault(func() { q[0]++ }); f == nil || f.Kind != AfterFree {
		t.Errorf("after Clear: %+v", f)
	}
}

func TestPoolDamage(t *testing.T) {
	for _, pages := range pageKinds {
		p, err := NewPool[odd](bulk.Options{Pages: pages})
		if err != nil {
			t.Fatal(err)
		}
		h, e := p.Insert(numberedOdd(1))
		*(*byte)(unsafe.Add(unsafe.Pointer(e), -2)) = 0
		if f, ok := p.Check().(*Fault); !ok || f.Kind != Overwritten || f.Offset != -2 {
			t.Errorf("%v: Check: %+v", pages, f)
		}
		if f, _ := caught(func() { p.Remove(h) }); f == nil || f.Kind != Overwritten || f.Offset != -2 ||
			f.Type != "odd" {
			t.Errorf("%v: Remove: %+v", pages, f)
		}
		if p.Valid(h) || p.Len() != 0 {
			t.Errorf("%v: the damaged element is still in the pool", pages)
		}
		_, e = p.Insert(numberedOdd(2))
		*(*byte)(unsafe.Add(unsafe.Pointer(e), -9)) = 0
		if f, ok := p.Close().(*Fault); !ok || f.Kind != Overwritten || f.Offset != -9 {
			t.Errorf("%v: Close: %+v", pages, f)
		}
		if err := p.Close(); err != nil {
			t.Errorf("%v: the second Close: %v", pages, err)
		}
	}
}

func TestPoolLimits(t *testing.T) {
	for _, pages := range pageKinds {
		page := vm.PageSize()
		p := newPool[record](t, bulk.Options{Name: "budget", MaxBytes: 3*40 + 39, Pages: pages})
		for i := range 3 {
			p.Insert(numbered(i))
		}
		_, e := caught(func() { p.Insert(numbered(4)) })
		if e == nil || e.Op != "insert" || e.Bytes != 40 || e.Purpose != "budget" ||
			!errors.Is(e, vm.ErrLimit) ||
			!strings.Contains(e.Detail, "3 of the 3 elements that Options.MaxBytes (159 B) allows") {
			t.Errorf("%v: beyond MaxBytes: %v", pages, e)
		}
		if err := p.Grow(math.MaxInt); !errors.Is(err, vm.ErrLimit) {
			t.Errorf("%v: Grow beyond MaxBytes: %v", pages, err)
		}
		p = newPool[record](t, bulk.Options{MaxBytes: 39, Pages: pages})
		if err := p.Grow(1); !errors.Is(err, vm.ErrLimit) {
			t.Errorf("%v: Grow with MaxBytes below the size of an element: %v", pages, err)
		}

		p = newPool[record](t, bulk.Options{Capacity: 2, Pages: pages})
		if err := p.Grow(3); !errors.As(err, &e) || e.Op != "grow" || !errors.Is(err, vm.ErrCapacity) ||
			len(p.spare) != 0 {
			t.Errorf("%v: Grow beyond Options.Capacity: %v", pages, err)
		}
		if err := p.Grow(math.MaxInt); !errors.Is(err, vm.ErrCapacity) {
			t.Errorf("%v: Grow(math.MaxInt): %v", pages, err)
		}

		// When the limit is used up, the 10 insertions after Grow(10) must succeed.
		limit := vm.NewLimit(100 * page)
		a := newAllocator(t, Options{Limit: limit, Pages: pages, Capacity: 50})
		shared, err := NewPoolIn[record](a, bulk.Options{Limit: limit, Pages: pages})
		if err != nil {
			t.Fatal(err)
		}
		if err := shared.Grow(10); err != nil {
			t.Fatal(err)
		}
		rest := newAllocator(t, Options{Limit: limit, Pages: pages})
		last := alloc(t, rest, 1)
		for limit.Used() < limit.Max() {
			alloc(t, rest, 1)
		}
		for i := range 10 {
			shared.Insert(numbered(i))
		}
		if _, e := caught(func() { shared.Insert(numbered(10)) }); e == nil || !errors.Is(e, vm.ErrLimit) ||
			shared.Len() != 10 {
			t.Errorf("%v: an insertion without memory: %v", pages, e)
		}
		rest.Free(last)
		if err := shared.Grow(3); !errors.Is(err, vm.ErrLimit) || len(shared.spare) != 0 || a.used != 10 {
			t.Errorf("%v: Grow without memory: %v; %d spare blocks", pages, err, len(shared.spare))
		}
		if err := shared.Grow(100); !errors.Is(err, vm.ErrCapacity) {
			t.Errorf("%v: Grow beyond the allocator's capacity: %v", pages, err)
		}
		i := 0
		for _, e := range shared.All() {
			if *e != numbered(i) {
				t.Errorf("%v: element %d is %v", pages, i, *e)
			}
			i++
		}
		a.checkInvariants()
		if shared.Close() != nil || a.Len() != 0 || shared.Close() != nil {
			t.Errorf("%v: %d blocks are left of a closed pool", pages, a.Len())
		}
	}
}

func TestPoolMemory(t *testing.T) {
	p := newPool[large](t, bulk.Options{Capacity: 20})
	empty := p.Committed()
	h, e := p.Insert(numberedLarge(1))
	p.Insert(numberedLarge(2))
	block := 2 * vm.PageSize() // an element has 5600 bytes
	if vm.PageSize() >= 5600 {
		block = vm.PageSize()
	}
	if got := p.Committed() - empty; got < 2*block || got > 3*block+256<<10+4*(vm.PageSize()-4096) {
		t.Errorf("2 elements commit %d bytes", got)
	}
	if uintptr(unsafe.Pointer(e))%8 != 0 || p.Reserved() < 20*block {
		t.Errorf("%d bytes are reserved", p.Reserved())
	}
	before, err := p.Resident()
	if err != nil || before < 2*block {
		t.Errorf("%d bytes are resident: %v", before, err)
	}
	p.Remove(h)
	if after, _ := p.Resident(); !vm.HeapStandIn() && after != before-block {
		t.Errorf("%d bytes are resident after the removal, %d before", after, before)
	}
	if err := p.Trim(); err != nil {
		t.Error(err)
	}
}

func TestPoolMisuse(t *testing.T) {
	p := newPool[record](t, bulk.Options{Name: "records"})
	h, _ := p.Insert(numbered(1))
	if err := p.Close(); err != nil || p.Len() != 0 {
		t.Fatal(err)
	}
	const closed = "records is used after Close: keep it open"
	for name, c := range map[string]struct {
		f    func()
		says string
	}{
		"pointers": {func() { _, _ = NewPool[*int](bulk.Options{}) },
			"guard: NewPool[*int]: *int is a pointer"},
		"capacity": {func() { _, _ = NewPool[int](bulk.Options{Capacity: -1}) },
			"guard: NewPool[int]: Options.Capacity is -1"},
		"sampling": {func() { _, _ = NewSampledPool[int](SampledPoolOptions{Slots: -1}) },
			"leave zero for the default"},
		"slice": {func() { _, _ = NewSampledPool[[]int](SampledPoolOptions{}) },
			"guard: NewSampledPool[[]int]: []int is a slice"},
		"grow": {func() { _ = p.Grow(-1) }, "guard: Grow(-1) on records: a number of elements is zero or " +
			"more"},
		"Insert": {func() { p.Insert(record{}) }, closed},
		"Remove": {func() { p.Remove(h) }, closed},
		"Get":    {func() { p.Get(h) }, closed},
		"Valid":  {func() { p.Valid(h) }, closed},
		"Clear":  {func() { p.Clear(nil) }, closed},
		"All": {func() {
			for range p.All() {
			}
		}, closed},
		"Runs": {func() {
			for range p.Runs() {
			}
		}, closed},
		"Grow":  {func() { _ = p.Grow(1) }, closed},
		"Trim":  {func() { _ = p.Trim() }, closed},
		"Check": {func() { _ = p.Check() }, closed},
	} {
		if text := modeltest.PanicText(c.f); !strings.Contains(text, c.says) {
			t.Errorf("%s: %q does not say %q", name, text, c.says)
		}
	}
}
