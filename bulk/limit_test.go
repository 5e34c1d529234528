package bulk

import (
	"errors"
	"testing"

	"github.com/vastgo/vast/vm"
)

// Two containers share a limit. When the limit is reached, one container can grow again after the other has
// given memory back.
func TestLimitIsSharedAndReturns(t *testing.T) {
	for _, pages := range pageKinds {
		limit := vm.NewLimit(8 << 20)
		a := newArray[record](t, Options{Limit: limit, Pages: pages, Capacity: 400_000})
		p := newPool[record](t, Options{Limit: limit, Pages: pages, Capacity: 400_000, Name: "ships"})
		for i := range 100_000 {
			a.Append(numbered(i))
		}
		var handles []Handle[record]
		var e *vm.Error
		for e == nil {
			e = exhausted(func() {
				h, _ := p.Insert(numbered(len(handles)))
				handles = append(handles, h)
			})
		}
		if !errors.Is(e, vm.ErrLimit) || e.Purpose != "ships" {
			t.Fatalf("%v: beyond the limit: %v", pages, e)
		}
		used, n := limit.Used(), p.Len()
		if used > limit.Max() || n != len(handles) {
			t.Fatalf("%v: %d of %d bytes are used, %d elements, %d handles", pages, used, limit.Max(), n,
				len(handles))
		}
		for range 3 {
			if e := exhausted(func() { p.Insert(record{}) }); e == nil || limit.Used() != used ||
				p.Len() != n {
				t.Fatalf("%v: another insertion fails with %v; %d bytes are used, want %d; there are %d "+
					"elements, want %d", pages, e, limit.Used(), used, p.Len(), n)
			}
		}
		if err := a.Grow(200_000); !errors.Is(err, vm.ErrLimit) || a.Len() != 100_000 {
			t.Fatalf("%v: the array grows beyond the shared limit: %v", pages, err)
		}
		a.Truncate(10)
		h, _ := p.Insert(numbered(n))
		if int(h.Slot()) != n || *p.Get(h) != numbered(n) {
			t.Fatalf("%v: after room returned, slot %d was taken, want slot %d", pages, h.Slot(), n)
		}
		for i, h := range handles {
			if v := p.Get(h); v == nil || *v != numbered(i) {
				t.Fatalf("%v: element %d is lost", pages, i)
			}
		}
		for i, e := range a.Slice() {
			if e != numbered(i) {
				t.Fatalf("%v: element %d of the array is lost", pages, i)
			}
		}
		p.checkInvariants()
		if a.Close() != nil || p.Close() != nil || limit.Used() != 0 {
			t.Fatalf("%v: %d bytes stay in use after Close", pages, limit.Used())
		}
	}
}

// A failed Append writes to the place behind the end of an array. The place must be zero when it becomes an
// element.
func TestFailedAppendLeavesNoTrace(t *testing.T) {
	for _, pages := range pageKinds {
		limit := vm.NewLimit(256 << 10)
		other := newArray[record](t, Options{Limit: limit, Pages: pages, Capacity: 10_000})
		if err := other.Grow(3000); err != nil {
			t.Fatal(err)
		}
		a := newArray[record](t, Options{Limit: limit, Pages: pages, Capacity: 10_000})
		var e *vm.Error
		for e == nil {
			e = exhausted(func() { a.Append(numbered(1)) })
		}
		n := a.Len()
		if !errors.Is(e, vm.ErrLimit) || n < 100 || *a.At(n - 1) != numbered(1) {
			t.Fatalf("%v: after %d elements: %v", pages, n, e)
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		added, err := a.AppendN(10)
		if err != nil {
			t.Fatalf("%v: AppendN after room returned: %v", pages, err)
		}
		for i := range added {
			if added[i] != (record{}) {
				t.Fatalf("%v: new element %d is %v", pages, i, added[i])
			}
		}
		if a.Len() != n+10 {
			t.Fatalf("%v: %d elements, want %d", pages, a.Len(), n+10)
		}
	}
}
