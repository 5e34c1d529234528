package bulk

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// SharedArray is an [Array] that any number of goroutines append to and read at the same time. Elements never
// move, and readers see only completely written elements.
//
// Append takes the next index, writes the element, and then marks the element as written. Calls of Append
// wait for each other only while memory is committed. If a goroutine is interrupted before it marks its
// element, other goroutines append elements behind it. At returns these elements immediately; Len and Slice
// include an element only when all elements before it are written. When all calls of Append have returned,
// Len counts all elements. Len, Slice, and At of an element below Len need one atomic load.
//
// Append takes an index only if memory is committed for its element: an Append that fails takes no index and
// leaves no hole. If goroutines that append slow each other down, give each goroutine an [Appender].
//
// Append happens before the calls of Len, At and Slice that count or return the element. So a reader sees
// everything that was written before Append. The caller must synchronize later access to the contents of
// elements. Append, At and Len are linearizable. Close must run alone.
//
// One bit per element lies on Go's heap; [vm.Snapshot] does not count it.
type SharedArray[T any] struct {
	base   *T
	plan   plan
	region *vm.Region
	ended  error // the panic after Close

	// Invariant: written.published ≤ claimed ≤ room. Fields that every append changes have their own cache
	// lines.
	_       [bytesLine]byte
	claimed atomic.Int64 // elements that have an index
	_       [bytesLine]byte
	written written
	_       [bytesLine]byte
	room    atomic.Int64 // elements that have memory
	mu      sync.Mutex   // held while room grows
	span    denseSpan
}

// bytesLine is the size of a cache line on most processors. Fields that different goroutines write at the
// same time are at least this far apart.
const bytesLine = 64

// NewSharedArray makes an empty array. It reserves addresses and takes no memory.
//
// It returns an error as [vm.Reserve] does, and panics when T holds Go pointers or has no size, or an option
// is negative.
func NewSharedArray[T any](o Options) (*SharedArray[T], error) {
	p, err := newPlan[T]("SharedArray", o, math.MaxInt)
	if err != nil {
		return nil, err
	}
	var v T
	if unsafe.Sizeof(v) == 0 {
		panic("bulk: NewSharedArray[" + layout.Name[T]() + "]: the elements have no size: count them instead")
	}
	bytes := max(1, p.capacity) * p.sizeElement
	r, err := vm.Reserve(alignedSize(bytes), vm.Options{Name: p.name, Limit: o.Limit, Pages: o.Pages})
	if err != nil {
		return nil, err
	}
	span, err := carve(r, bytes)
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	span.Label(p.label("element"))
	return &SharedArray[T]{base: (*T)(span.Base()), plan: p, region: r, span: span}, nil
}

// Append puts v at the end and returns its index and its address. If there is no room, it panics with the
// [*vm.Error] that [SharedArray.Grow] would return, and the array is unchanged.
func (a *SharedArray[T]) Append(v T) (int, *T) {
	i, err := a.claim(opAppend, 1)
	if err != nil {
		panic(err)
	}
	p := after(a.base, i)
	*p = v
	a.written.add(i, 1)
	return i, p
}

// AppendSlice puts a copy of values at the end, side by side. It returns the index of the first new element,
// and the new elements. It returns an error as [SharedArray.Grow] does; then the array is unchanged. If a
// fault while reading values becomes a panic (see [vm.Do]), AppendSlice appends len(values) zero elements.
func (a *SharedArray[T]) AppendSlice(values []T) (index int, elements []T, err error) {
	if len(values) == 0 {
		a.mustBeOpen()
		return a.Len(), nil, nil
	}
	i, err := a.claim(opAppendN, len(values))
	if err != nil {
		return 0, nil, err
	}
	elements = unsafe.Slice(after(a.base, i), len(values))
	a.fill(i, elements, values)
	return i, elements, nil
}

// fill copies values to elements, which the caller has claimed from index first on, and marks elements as
// written. It marks them even if the copy panics: unmarked elements would hide all later elements from Len.
func (a *SharedArray[T]) fill(first int, elements, values []T) {
	filled := false
	defer func() {
		if !filled {
			clear(elements)
		}
		a.written.add(first, len(elements))
	}()
	copy(elements, values)
	filled = true
}

// claim takes the next n indices and returns the first index. The indices are below the room, which never
// shrinks before Close.
func (a *SharedArray[T]) claim(op operation, n int) (int, error) {
	for {
		first := a.claimed.Load()
		if int64(n) > a.room.Load()-first {
			if err := a.makeRoom(op, n); err != nil {
				return 0, err
			}
			continue
		}
		if a.claimed.CompareAndSwap(first, first+int64(n)) {
			return int(first), nil
		}
	}
}

// Grow commits memory for the next n elements of all goroutines together, so that appending them cannot fail.
// Grow panics if n is negative.
//
// It returns an [*vm.Error] wrapping [vm.ErrCapacity] (Options.Capacity), [vm.ErrLimit] (Options.MaxBytes or
// Options.Limit) or another error of [vm.Region.Commit]; then the array is unchanged.
func (a *SharedArray[T]) Grow(n int) error {
	if n < 0 {
		panic(fmt.Sprintf("bulk: Grow(%d) on %s: a number of elements is zero or more", n, a.plan.name))
	}
	return a.makeRoom(opGrow, n)
}

func (a *SharedArray[T]) makeRoom(op operation, n int) error {
	a.mustBeOpen()
	a.mu.Lock()
	defer a.mu.Unlock()
	have, committed := int(a.claimed.Load()), a.span.Committed()
	if n > a.plan.capacity-have {
		return a.plan.full(op, n, have)
	}
	need := (have + n) * a.plan.sizeElement
	if need <= committed {
		return nil
	}
	ahead := min(max(need, committed+a.plan.stepFrom(committed)), a.span.Size())
	err := op.commitAhead(need, ahead, a.span.grow)
	if err == nil {
		room := min(a.span.Committed()/a.plan.sizeElement, a.plan.capacity)
		a.written.grow(room)
		a.room.Store(int64(room))
	}
	return err
}

// At returns the address of element i. It panics if element i is not written. All elements below Len are
// written; a later element may be written, too.
func (a *SharedArray[T]) At(i int) *T {
	if uint(i) >= uint(a.written.published.Load()) {
		a.mustHave(i)
	}
	return after(a.base, i)
}

// mustHave panics if element i is not written. The caller has found that Len does not count element i.
//
//go:noinline
func (a *SharedArray[T]) mustHave(i int) {
	if i < 0 || !a.written.has(i) {
		panic(&indexError{"At", i, a.Len(), a.plan.name, a.ended})
	}
	// The goroutine that wrote the element may not have advanced published yet. But Len must count an element
	// that At has returned, if all earlier elements are written.
	a.written.advance()
}

// Slice returns the first Len elements. The slice stays valid while the array grows, and does not include
// elements that are appended later.
func (a *SharedArray[T]) Slice() []T {
	a.mustBeOpen()
	n := a.Len()
	return unsafe.Slice(a.base, n)[:n:n]
}

// Len returns the number of elements before the first one that is not completely written; 0 after Close. Len
// never shrinks before Close.
func (a *SharedArray[T]) Len() int { return int(a.written.published.Load()) }

// Close gives the memory and the addresses back. The elements must not be used afterwards. The methods of the
// array then panic, except Len and those that count bytes. Closing twice does nothing.
func (a *SharedArray[T]) Close() error {
	if a.ended != nil {
		return nil
	}
	if err := a.region.Close(); err != nil {
		return err
	}
	// Without elements and room, At, Append and AppendSlice take their slow paths, which panic with ended.
	a.ended = &closedError{a.plan.name}
	a.room.Store(0)
	a.claimed.Store(0)
	a.written.room.Store(0)
	a.written.published.Store(0)
	return nil
}

func (a *SharedArray[T]) mustBeOpen() {
	if a.ended != nil {
		panic(a.ended)
	}
}
