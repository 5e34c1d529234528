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
// Only one goroutine may change an array at a time. Meanwhile any number of goroutines may use existing
// elements through pointers, and through slices from [Array.Slice]. The length is not atomic: only the
// goroutine that appends may call Len, At and Slice. Another goroutine may call these methods once the array
// was handed over to it, for example through a channel.
type Array[T any] struct {
	next *T // the place of the next element
	end  *T // the end of the room for elements; memory for one more is committed behind it
	base *T // the first element; a place outside the array after Close
	// more is makeMore. Append calls makeMore through this field to stay within the compiler's budget for
	// inlining.
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
	bytes := (p.capacity + 1) * p.sizeElement
	// The region has one page behind the elements, so that next always points into the region. Otherwise next
	// might point into an unused part of Go's heap, and the collector stops the process at such a pointer.
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

// after returns the address n elements behind p. The address must not lie beyond the end of the span. The
// pointer is valid because the span does not move before Close, and T may lie in the span because T holds no
// Go pointers.
func after[T any](p *T, n int) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(p), n*int(unsafe.Sizeof(*p))))
}

// Append puts v at the end and returns its address. If there is no room, it panics with the [*vm.Error] that
// [Array.Grow] would return, and the array is unchanged.
//
// Append writes the element before it tests for room: it may do so because memory for one more element is
// committed behind the end. In this order the compiler builds a literal v directly in its final place. If the
// test came first, the compiler would build v on the stack and copy it.
func (a *Array[T]) Append(v T) (p *T) {
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

// AppendN puts n zero elements at the end and returns them to be filled. It panics when n is negative. It
// returns the errors of [Array.Grow], which leave the array unchanged.
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
// It returns an [*vm.Error] that wraps [vm.ErrCapacity] (Options.Capacity), [vm.ErrLimit] (Options.MaxBytes
// or Options.Limit) or another error of [vm.Region.Commit]; then the array is unchanged.
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

// setEnd puts the end of the room one element before the end of the committed memory, or at the capacity if
// that comes first.
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

// Truncate keeps the first n elements and gives memory back. It keeps the memory of those elements and 64 KiB
// for the next ones, rounded up to whole pages. If the array uses huge pages and the kept elements fill one,
// Truncate rounds up to whole huge pages instead.
//
// Pointers to the removed elements must not be used again. Truncate panics when n is not in [0, Len].
// Complexity: Truncate clears the removed elements whose memory is kept, and needs two system calls if it
// gives memory back.
func (a *Array[T]) Truncate(n int) {
	a.mustBeOpen()
	have := a.Len()
	if uint(n) > uint(have) {
		panic(fmt.Sprintf("bulk: Truncate(%d) on %s of length %d", n, a.plan.name, have))
	}
	used := have * a.plan.sizeElement
	keep := n * a.plan.sizeElement
	// Without the slack, an array that is used as a stack would commit and decommit at every step over a
	// page's border.
	unit, slack := vm.PageSize(), minStep
	if huge := vm.HugePageSize(); a.span.advised && keep >= huge {
		unit = huge
	}
	if sampling.Pick() {
		unit, slack = vm.PageSize(), a.plan.sizeElement // so that a use of a removed element faults
	}
	a.span.shrinkTo(min((keep+slack+unit-1)/unit*unit, a.span.Size()))
	// Decommitted memory comes back as zero. Memory that stays committed must be cleared for AppendN.
	if dirty := min(used, a.span.Committed()) - keep; dirty > 0 {
		clear(unsafe.Slice((*byte)(unsafe.Pointer(after(a.base, n))), dirty))
	}
	a.next = after(a.base, n)
	a.setEnd()
}

// Close gives the memory and the addresses back. The elements must not be used afterwards. The methods of the
// array then panic, except Len and those that count bytes. Closing twice does nothing.
func (a *Array[T]) Close() error {
	if a.ended != nil {
		return nil
	}
	if err := a.region.Close(); err != nil {
		return err
	}
	// A closed array has no length and no room, so At and Append reach the test for Close. Append writes
	// before that test, so it needs a place to write to.
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
