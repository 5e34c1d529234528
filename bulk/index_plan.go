package bulk

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

func size[T any]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// newIndexPlan checks the types and options of an index. The elements of the plan are pairs of a key and a
// value, without padding.
func newIndexPlan[K, V any](kind string, o Options) (plan, error) {
	layout.Check[K]("bulk: New" + kind)
	layout.Check[V]("bulk: New" + kind)
	names := layout.Name[K]() + "," + layout.Name[V]()
	if size[K]() == 0 {
		panic(fmt.Sprintf("bulk: New%s[%s]: keys without a size are all the same: use a Pool", kind, names))
	}
	if v := size[V](); v != 4 && v != 8 || !solid(reflect.TypeFor[V]()) {
		panic(fmt.Sprintf("bulk: New%s[%s]: a value is %d bytes: values must be 4 or 8 bytes without "+
			"padding, such as a Handle",
			kind, names, v))
	}
	if o.Capacity < 0 || o.MaxBytes < 0 {
		panic(fmt.Sprintf("bulk: New%s[%s]: Options.Capacity is %d and MaxBytes %d: leave them zero for "+
			"the default",
			kind, names, o.Capacity, o.MaxBytes))
	}
	p := plan{name: o.Name, sizeElement: size[K]() + size[V](), capacity: o.Capacity, budget: o.MaxBytes}
	if p.name == "" {
		p.name = "bulk." + kind + "[" + names + "]"
	}
	most := int(min(maxPairs, math.MaxInt/8/int64(p.sizeElement)))
	switch {
	case o.MaxBytes > 0 && (o.Capacity == 0 || o.MaxBytes/p.sizeElement < o.Capacity):
		p.capacity, p.byBudget = min(o.MaxBytes/p.sizeElement, most), true
	case o.Capacity == 0:
		// An index takes about four times as many addresses as its pairs have bytes.
		p.capacity = max(1, defaultReserve(o.Pages)/4/p.sizeElement)
	}
	if p.capacity > most {
		return p, &vm.Error{Op: "reserve", Purpose: p.name, Bytes: math.MaxInt, Err: vm.ErrSize,
			Detail: fmt.Sprintf("Options.Capacity is %d pairs of %d bytes: ask for at most %d", p.capacity,
				p.sizeElement, most)}
	}
	return p, nil
}

// promise is the number of insertions that Grow has promised and that were not made yet. The index keeps the
// memory for them.
type promise struct{ left int }

// add promises the next n insertions.
func (p *promise) add(n int) { p.left = max(p.left, n) }

// kept counts an insertion and reports whether it was the last promised insertion.
func (p *promise) kept() bool {
	if p.left == 0 {
		return false
	}
	p.left--
	return p.left == 0
}

// allow adds n, which may be negative, to the capacity.
func (p *plan) allow(n int) { p.capacity += n }

// maxPairs is the largest number of pairs of an index. A uint32 can then number the nodes of an OrderedIndex.
const maxPairs int64 = 1 << 36

// solid reports whether values of type t have no padding.
func solid(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return solid(t.Elem())
	case reflect.Struct:
		end := uintptr(0)
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Offset != end || !solid(f.Type) {
				return false
			}
			end += f.Type.Size()
		}
		return end == t.Size()
	}
	return true
}

// These functions make the texts of panics, so that their callers stay small.

func nan(name string) string {
	return "bulk: Add of the key NaN to " + name +
		": NaN equals nothing, so it could never be found; choose a number that stands for it"
}

func changedInLoop(name, loop string) string {
	return "bulk: " + name + " was changed in the body of a loop over " + loop +
		": note what to change, and change it after the loop"
}
