package vast

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/vm"
)

func TestWorldsFillUp(t *testing.T) {
	tight := 4*vm.PageSize() - 64 // slots whose generations fill their pages to the last byte
	sizes := []int{64, 128, 960, 1024, 16_320, 16_384, tight - 64, tight, tight + 64, 2*tight + 64}
	for _, n := range sizes {
		w := NewWorld(Options{MaxEntities: n})
		c := NewColumn[byte](w)
		a := w.Archetype(c)
		a.NewN(n, func(r Run) {
			for i := range c.Slice(r) {
				c.Slice(r)[i] = 7
			}
		})
		if err := a.Grow(1); !errors.Is(err, vm.ErrCapacity) || w.Len() != n {
			t.Errorf("%d of %d slots are in use, and Grow(1) returns %v, want ErrCapacity", w.Len(), n, err)
		}
		w.checkInvariants()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestArraysOfHugePages(t *testing.T) {
	huge := vm.HugePageSize()
	if huge == 0 || huge > 4<<20 || vm.HeapStandIn() {
		t.Skip("there are no huge pages of at most 4 MiB, or columns lie on the Go heap")
	}
	for _, n := range []int{huge / 4, huge, 3 * huge} {
		w := NewWorld(Options{MaxEntities: n})
		c := NewColumn[byte](w)
		if at := uintptr(c.base) - uintptr(c.c.skew); n >= huge && at%uintptr(huge) != 0 {
			t.Errorf("%d slots: the column's first page is at %#x, want the start of a huge page", n, at)
		}
		if at := uintptr(w.gens) - controlLead; at%uintptr(huge) != 0 {
			t.Errorf("%d slots: the generations' first page is at %#x, want the start of a huge page", n, at)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestColumnsAreApart: bits 12 to 27 of the distance between two columns must not all be zero. The reason is
// in docs/decisions/0013-different-cache-lines.md.
func TestColumnsAreApart(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("columns are small and lie on the Go heap")
	}
	w := NewWorld(Options{MaxEntities: 1 << 24})
	defer w.Close()
	var bases []uintptr
	for i := range 8 {
		c := NewColumn[position](w).Named(string(rune('a' + i)))
		at := uintptr(c.base) - uintptr(c.c.skew)
		for k, other := range bases {
			if distance := at - other; distance>>12&(1<<16-1) == 0 {
				t.Errorf("columns %d and %d are %#x bytes apart", k, i, distance)
			}
		}
		bases = append(bases, at)
	}
}

func TestFirstCalls(t *testing.T) {
	refused := 0
	calls := faulttest.EachCall(t, func() error {
		w := NewWorld(Options{MaxEntities: 1 << 12})
		a := w.Archetype()
		err := a.Grow(1)
		if err != nil {
			refused++
			if w.Len() != 0 || a.free() != 0 {
				t.Errorf("after Grow failed with %v, the world has %d entities and %d free slots, want none",
					err, w.Len(), a.free())
			}
			if err := a.Grow(1); err != nil {
				t.Errorf("a second Grow also fails: %v", err)
			}
		}
		a.New()
		if e := w.Close(); e != nil {
			err = errors.Join(err, e)
			if e := w.Close(); e != nil {
				t.Errorf("a second Close also fails: %v", e)
			}
		}
		return err
	})
	if calls < 2 || refused == 0 {
		t.Errorf("%d memory calls, want at least 2; %d calls made Grow fail, want at least one", calls,
			refused)
	}
}

func TestColumnTooLarge(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 22})
	defer w.Close()
	c := NewColumn[uint32](w)
	for _, bytes := range []int{math.MaxInt >> 20, math.MaxInt>>22 + 1, math.MaxInt >> 8} {
		_, err := w.register("huge", reflect.ArrayOf(bytes, reflect.TypeFor[byte]()))
		var e *vm.Error
		if !errors.As(err, &e) || !errors.Is(err, vm.ErrSize) || e.Detail == "" {
			t.Errorf("elements of %d bytes: got %v, want ErrSize with a detail", bytes, err)
		}
	}
	if len(w.columns) != 1 || *c.Get(w.Archetype(c).New()) != 0 {
		t.Errorf("the world has %d columns, want 1, or the first column is wrong", len(w.columns))
	}
	w.checkInvariants()
}
