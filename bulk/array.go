package bulk

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/internal/sampling"
	"github.com/vastgo/vast/vm"
)

// Array is a sequence that grows at its end and never moves: a pointer to an element, or a slice of elements,
// is valid until the element is truncated or the array is closed.
//
// While one goroutine changes an array, other goroutines may use existing elements through pointers and
// slices, but must not call methods of the array, because its length is not atomic. While no goroutine
// changes the array, any number of goroutines may call Len, At and Slice.
type Array[T any] struct {
	next *T // the place of the next element
	end  *T // the end of the room; memory for one more element is committed behind it
	base *T // the first element; an address on Go's heap after Close
	// more is makeMore. The compiler inlines Append only if Append calls makeMore through a field.
	more   func()
	span   denseSpan
	region *vm.Region
	plan   plan
	ended  error // the panic after Close
}

// NewArray makes an empty array. It reserves addresses and commits memory for one element. Committed memory
// becomes resident when it is touched.
//
// NewArray returns the errors of [vm.Reserve] and [vm.Region.Commit]. It panics when T holds Go pointers or
// has no size, or when an option is negative.
func NewArray[T any](o Options) (*Array[T], error) {
	p, err := newPlan[T]("Array", o, math.MaxInt)
	if err != nil {
		return nil, err
	}
	var v T
	if unsafe.Sizeof(v) == 0 {
		panic("bulk: NewArray[" + layout.Name[T]() + "]: the elements have no size: count them instead")
	}
	// Append writes behind the end before it tests for room, so the span has room for one element more.
	bytes := (p.capacity + 1) * p.sizeElement
	// The additional page is a margin for next. Addresses behind the region may belong to Go's heap, and the
	// collector ends the process when it finds a pointer into an unused part of Go's heap.
	r, err := vm.Reserve(alignedSize(bytes)+vm.PageSize(), vm.Options{Name: p.name, Limit: o.Limit,
		Pages: o.Pages})
	if err != nil {
		return nil, err
	}
	span, err := carve(r, bytes)
	if err == nil {
		err = span.grow(p.sizeElement)
	}
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	span.Label(p.label("element"))
	base := (*T)(span.Base())
	a := &Array[T]{next: base, base: base, span: span, region: r, plan: p}
	a.more = a.makeMore
	a.setEnd()
	return a, nil
}

// after returns the address n elements behind p, which must not lie beyond the end of the span. It is sound
// because the span does not move before Close and T holds no Go pointers.
func after[T any](p *T, n int) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(p), n*int(unsafe.Sizeof(*p))))
}

// Append puts v at the end and returns its address. If there is no room, it panics with the [*vm.Error] that
// [Array.Grow] would return, and the array is unchanged.
func (a *Array[T]) Append(v T) (p *T) {
	// The test for room comes after the write, for which memory is committed behind the end. In this order,
	// the compiler builds a literal v directly in the array, and not on the stack.
	p = a.next
	*p = v
	if p == a.end {
		a.more()
	}
	a.next = (*T)(unsafe.Add(unsafe.Pointer(p), unsafe.Sizeof(v)))
	return
}

// makeMore makes room for the element that Append has written behind the end. If that fails, makeMore zeroes
// the element and panics.
func (a *Array[T]) makeMore() {
	if err := a.makeRoom(opAppend, 1); err != nil {
		var zero T
		*a.next = zero
		panic(err)
	}
}

// AppendN puts n zero elements at the end and returns them, so that the caller can fill them. It panics when
// n is negative. It returns the errors of [Array.Grow]; then the array is unchanged.
func (a *Array[T]) AppendN(n int) ([]T, error) {
	if n < 0 {
		panic(fmt.Sprintf("bulk: AppendN(%d) on %s: a number of elements is zero or more", n, a.plan.name))
	}
	if err := a.makeRoom(opAppendN, n); err != nil {
		return nil, err
	}
	added := unsafe.Slice(a.next, n)
	a.next = after(a.next, n)
	return added, nil
}

// Grow commits memory for n more elements, so that appending them cannot fail. It panics when n is negative.
//
// If Grow fails, it returns a [*vm.Error] that wraps [vm.ErrCapacity] (Options.Capacity), [vm.ErrLimit]
// (Options.MaxBytes or Options.Limit) or another error of [vm.Region.Commit], and the array is unchanged.
func (a *Array[T]) Grow(n int) error {
	if n < 0 {
		panic(fmt.Sprintf("bulk: Grow(%d) on %s: a number of elements is zero or more", n, a.plan.name))
	}
	return a.makeRoom(opGrow, n)
}

func (a *Array[T]) makeRoom(op operation, n int) error {
	a.mustBeOpen()
	have, committed := a.Len(), a.span.Committed()
	if n > a.plan.capacity-have {
		return a.plan.full(op, n, have)
	}
	need := (have + n + 1) * a.plan.sizeElement
	if need <= committed {
		return nil
	}
	ahead := min(max(need, committed+a.plan.stepFrom(committed)), a.span.Size())
	err := op.commitAhead(need, ahead, a.span.grow)
	if err == nil {
		a.setEnd()
	}
	return err
}

// setEnd sets the end of the room: one element before the end of the committed memory, or the capacity if it
// is less.
func (a *Array[T]) setEnd() {
	a.end = after(a.base, min(a.span.Committed()/a.plan.sizeElement-1, a.plan.capacity))
}

// At returns the address of element i. It panics when i is not in [0, Len).
func (a *Array[T]) At(i int) *T {
	if n := a.Len(); uint(i) >= uint(n) {
		panic(&indexError{"At", i, n, a.plan.name, a.ended})
	}
	return after(a.base, i)
}

// Slice returns the elements. The slice stays valid while the array grows, and does not include elements that
// are appended later.
func (a *Array[T]) Slice() []T {
	if a.ended != nil {
		panic(a.ended)
	}
	n := a.Len()
	return unsafe.Slice(a.base, n)[:n:n]
}

// Len returns the number of elements; 0 after Close.
func (a *Array[T]) Len() int {
	return int((uintptr(unsafe.Pointer(a.next)) - uintptr(unsafe.Pointer(a.base))) / unsafe.Sizeof(*a.base))
}

// Truncate keeps the first n elements and gives memory back. The memory of the first n elements and
// 64 KiB more stay committed, rounded up to whole pages, or to whole huge pages if the first n elements fill
// a huge page.
//
// Pointers to the removed elements must not be used again. Truncate panics when n is not in [0, Len].
// Complexity: Truncate clears the removed elements whose memory stays committed, and decommits memory at most
// once.
func (a *Array[T]) Truncate(n int) {
	a.mustBeOpen()
	have := a.Len()
	if uint(n) > uint(have) {
		panic(fmt.Sprintf("bulk: Truncate(%d) on %s of length %d", n, a.plan.name, have))
	}
	used := have * a.plan.sizeElement
	keep := n * a.plan.sizeElement
	// Without the slack, a stack whose end moves to and fro over a page border would commit and decommit a
	// page each time.
	unit, slack := vm.PageSize(), minStep
	if huge := vm.HugePageSize(); a.span.advised && keep >= huge {
		unit = huge
	}
	if sampling.Pick() {
		unit, slack = vm.PageSize(), a.plan.sizeElement // so that a use of a removed element faults
	}
	a.span.shrinkTo(min((keep+slack+unit-1)/unit*unit, a.span.Size()))
	// AppendN needs zero elements: decommitted memory comes back as zero, other memory must be cleared.
	if dirty := min(used, a.span.Committed()) - keep; dirty > 0 {
		clear(unsafe.Slice((*byte)(unsafe.Pointer(after(a.base, n))), dirty))
	}
	a.next = after(a.base, n)
	a.setEnd()
}

// Close gives the memory and the addresses back. Afterwards the elements must not be used, and the methods of
// the array panic, except Len and the methods that count bytes. Closing a closed array does nothing.
func (a *Array[T]) Close() error {
	if a.ended != nil {
		return nil
	}
	if err := a.region.Close(); err != nil {
		return err
	}
	// Without length and room, At and Append reach the test for Close. Append writes an element before that
	// test, so base needs a valid address.
	a.base = new(T)
	a.ended, a.next, a.end = &closedError{a.plan.name}, a.base, a.base
	return nil
}

func (a *Array[T]) mustBeOpen() {
	if a.ended != nil {
		panic(a.ended)
	}
}

// Reserved returns the bytes of addresses that the array takes; 0 after Close.
func (a *Array[T]) Reserved() int {
	if a.ended != nil {
		return 0
	}
	return a.region.Size()
}

// Committed returns the bytes of memory that the array may touch; 0 after Close.
func (a *Array[T]) Committed() int { return a.region.Committed() }

// Resident returns how many bytes of the array are in memory. The operating system supplies the count; see
// [vm.Region.Resident].
func (a *Array[T]) Resident() (int, error) { return a.region.Resident() }
