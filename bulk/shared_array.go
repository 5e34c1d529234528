package bulk

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// SharedArray is an [Array] that any number of goroutines append to and read at once. Elements never move, and the ones
// that can be seen are completely written.
//
// An appender claims the next index, writes the element, and publishes it when all elements before it are published. So
// Len is one number below which everything is written, and a reader needs no more than one atomic load: it takes no lock
// and waits for nobody. When Append returns, its element is published. An appender waits for the ones that claimed an
// index before it and are still writing, which takes as long as copying an element, or until such a goroutine is run
// again where it was interrupted.
//
// An index is claimed only where memory is committed: what fails, fails before that and leaves no hole. Where appenders
// are in each other's way, an [Appender] for each of them is many times faster.
//
// Publishing an element happens before a reader learns of it from Len, At or Slice, so what was written before Append is
// seen too. What becomes of elements after that is the caller's to order. Close must run alone.
type SharedArray[T any] struct {
	base   *T
	plan   plan
	region *vm.Region
	ended  error // what using the array panics with after Close

	_ [bytesLine]byte // what changes with every append begins at another cache line
	// Invariant: published ≤ claimed ≤ room.
	claimed   atomic.Int64 // elements that have an index
	published atomic.Int64 // elements that are written, and so are all before them

	_    [bytesLine]byte
	room atomic.Int64 // elements for which memory is committed
	mu   sync.Mutex   // held while the room grows
	span denseSpan
}

// bytesLine is the size of a cache line in bytes, or a multiple of it, on what Go runs on: words that several goroutines
// write at once are so far apart.
const bytesLine = 64

// NewSharedArray makes an empty array. It reserves addresses and takes no memory.
//
// It returns an error as [vm.Reserve] does, and panics when T holds Go pointers or has no size, or an option is negative.
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
	r, err := vm.Reserve(alignedSize(bytes), vm.Options{Purpose: p.name, Limit: o.Limit, Pages: o.Pages})
	if err != nil {
		return nil, err
	}
	span, err := carve(r, bytes)
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	return &SharedArray[T]{base: (*T)(span.Base()), plan: p, region: r, span: span}, nil
}

// Append puts v at the end and returns its index and its address. It panics with the [*vm.Error] that [SharedArray.Grow]
// would return where there is no room; then the array is as it was.
func (a *SharedArray[T]) Append(v T) (int, *T) {
	i, err := a.claim(opAppend, 1)
	if err != nil {
		panic(err)
	}
	p := after(a.base, i)
	*p = v
	a.publish(i, 1)
	return i, p
}

// AppendSlice puts a copy of values at the end, side by side, and returns the index of the first and the elements. They
// are published together. It fails as [SharedArray.Grow] does; then the array is as it was. Other appenders wait until
// the values are copied.
func (a *SharedArray[T]) AppendSlice(values []T) (index int, elements []T, err error) {
	i, err := a.claim(opAppendN, len(values))
	if err != nil {
		return 0, nil, err
	}
	elements = unsafe.Slice(after(a.base, i), len(values))
	copy(elements, values)
	a.publish(i, len(values))
	return i, elements, nil
}

// claim takes the next n indices and returns the first. They are below the room, which never shrinks before Close.
func (a *SharedArray[T]) claim(op string, n int) (int, error) {
	for {
		first := a.claimed.Load()
		if int64(n) > a.room.Load()-first || n == 0 {
			if err := a.makeRoom(op, n); err != nil || n == 0 {
				return int(first), err
			}
			continue
		}
		if a.claimed.CompareAndSwap(first, first+int64(n)) {
			return int(first), nil
		}
	}
}

// spinsBeforeYield is how often a goroutine looks whether another one is done with a few instructions before it lets
// others run: so many looks take longer than those instructions, and far less time than being woken.
const spinsBeforeYield = 100

// publish lets readers see the n elements from first on, when they may see those before. The store orders the writing of
// the elements before the loads that see it.
func (a *SharedArray[T]) publish(first, n int) {
	for spins := 0; a.published.Load() < int64(first); spins++ {
		if spins >= spinsBeforeYield {
			runtime.Gosched() // the goroutine waited for was interrupted
		}
	}
	if n > 0 {
		a.published.Store(int64(first + n))
	}
}

// Grow makes the next n appended elements unable to fail, whoever appends them, by committing memory for them. It panics
// when n is negative.
//
// It returns an [*vm.Error] wrapping [vm.ErrCapacity] (Options.Capacity), [vm.ErrLimit] (Options.MaxBytes or
// Options.Limit) or another limit as [vm.Region.Commit] does; then the array is as it was.
func (a *SharedArray[T]) Grow(n int) error {
	if n < 0 {
		panic(fmt.Sprintf("bulk: Grow(%d) on %s: a number of elements is zero or more", n, a.plan.name))
	}
	return a.makeRoom(opGrow, n)
}

func (a *SharedArray[T]) makeRoom(op string, n int) error {
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
	err := a.span.grow(ahead)
	if err != nil && need < ahead && settlesForLess(op, err) {
		err = a.span.grow(need)
	}
	if err == nil {
		a.room.Store(int64(min(a.span.Committed()/a.plan.sizeElement, a.plan.capacity)))
	}
	return err
}

// At returns the address of element i. It panics when i is not in [0, Len).
func (a *SharedArray[T]) At(i int) *T {
	if n := a.Len(); uint(i) >= uint(n) {
		panic(&indexError{i, n, a.plan.name, a.ended})
	}
	return after(a.base, i)
}

// Slice returns the published elements. It stays good while the array grows and does not see what is appended later.
func (a *SharedArray[T]) Slice() []T {
	a.mustBeOpen()
	n := a.Len()
	return unsafe.Slice(a.base, n)[:n:n]
}

// Len returns the number of published elements; 0 after Close. It never becomes smaller before that.
func (a *SharedArray[T]) Len() int { return int(a.published.Load()) }

// Close gives the memory and the addresses back. The elements must not be used afterwards; using the array panics.
// Closing twice does nothing.
func (a *SharedArray[T]) Close() error {
	if a.ended != nil {
		return nil
	}
	if err := a.region.Close(); err != nil {
		return err
	}
	// Without elements and room the short paths come to mustBeOpen.
	a.ended = &closedError{a.plan.name}
	a.published.Store(0)
	a.claimed.Store(0)
	a.room.Store(0)
	return nil
}

func (a *SharedArray[T]) mustBeOpen() {
	if a.ended != nil {
		panic(a.ended)
	}
}
