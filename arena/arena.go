package arena

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// Options configure an arena. The zero value works.
type Options struct {
	// Name is the purpose under which [vm.Snapshot] counts the arena's bytes. Errors name it too. Default:
	// "arena.Arena".
	Name string
	// Capacity is the number of bytes that the arena can give out. New reserves addresses for all these
	// bytes. This costs no memory, unless regions are Go heap memory ([vm.PagesHeap] or [vm.HeapStandIn]).
	// Default: 16 GiB, or 16 MiB on the Go heap.
	Capacity int
	// HighWater is the number of bytes, from the start of the arena, that the arena keeps committed after a
	// release. It is rounded up to whole pages. Released bytes below HighWater are cleared; released memory
	// above it goes back to the operating system. A negative number keeps nothing. Default: 64 MiB.
	HighWater int
	// Limit is a budget of committed memory, shared with other arenas and containers. Default:
	// [vm.DefaultLimit].
	Limit *vm.Limit
	// Pages is the page policy. Default: once the arena has committed the size of one huge page, it asks the
	// system for huge pages.
	Pages vm.Pages
}

const (
	defaultCapacity     = int64(16 << 30)
	defaultCapacityHeap = 16 << 20
	defaultHighWater    = 64 << 20
)

// Arena gives out memory from its start, and takes it back from its end. See the package documentation.
type Arena struct {
	base unsafe.Pointer
	next uintptr // offset of the next allocation
	end  uintptr // number of usable bytes: the committed bytes, up to the capacity

	// plainType is a nil *T, where T is the last type that mustBePlain accepted.
	plainType any

	capacity   uintptr
	highWater  int
	tag        uint32   // identifies the arena in its marks
	lastSerial uint64   // serial of the newest mark
	marks      []uint64 // serials of the unreleased marks
	span       vm.Span
	advised    bool // whether huge pages were requested
	region     *vm.Region
	name       string
	closed     bool
	poisoned   uintptr // end of the poisoned bytes, in builds with the tag invariants
}

var tags atomic.Uint32

// New makes an empty arena and reserves its addresses. New returns the errors of [vm.Reserve], and panics if
// Options.Capacity is negative.
func New(o Options) (*Arena, error) {
	if o.Name == "" {
		o.Name = "arena.Arena"
	}
	switch {
	case o.Capacity < 0:
		panic(fmt.Sprintf("arena: Options.Capacity of %s is %d: leave it zero for the default", o.Name,
			o.Capacity))
	case o.Capacity == 0 && (o.Pages == vm.PagesHeap || vm.HeapStandIn()):
		o.Capacity = defaultCapacityHeap
	case o.Capacity == 0:
		c := defaultCapacity
		o.Capacity = int(c)
	case o.Capacity > math.MaxInt/8:
		return nil, &vm.Error{Op: "reserve", Purpose: o.Name, Bytes: o.Capacity, Err: vm.ErrSize,
			Detail: "Options.Capacity is too large: ask for less"}
	}
	if o.HighWater == 0 {
		o.HighWater = defaultHighWater
	}
	// The region has one more page, because the address of a zero-size value at the end of the arena must lie
	// in the region.
	r, err := vm.Reserve(o.Capacity+vm.PageSize(), vm.Options{Name: o.Name, Limit: o.Limit, Pages: o.Pages})
	if err != nil {
		return nil, err
	}
	span, err := r.Carve(o.Capacity, 0)
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	span.Label(vm.Label{What: o.Name,
		Advice: "drop every pointer before its mark is released or the arena is reset"})
	return &Arena{base: span.Base(), capacity: uintptr(o.Capacity), highWater: max(0, o.HighWater),
		tag:  tags.Add(1),
		span: span, region: r, name: o.Name}, nil
}

// Alloc returns the address of size bytes, which are zero. The address is a multiple of align. Alloc is for
// sizes from untrusted input, and for memory that is not a Go type. Do not store Go pointers in this memory.
//
// On failure Alloc changes nothing and returns an [*vm.Error] that wraps [vm.ErrSize] (a negative size),
// [vm.ErrCapacity] (Options.Capacity) or another error of [vm.Region.Commit]. Alloc panics if align is not a
// power of two up to the page size.
func (a *Arena) Alloc(size, align int) (unsafe.Pointer, error) {
	if align <= 0 || align&(align-1) != 0 || align > vm.PageSize() {
		panic(fmt.Sprintf("arena: Alloc(%d, %d) on %s: the alignment must be a power of two up to a page",
			size, align, a.name))
	}
	if size < 0 {
		a.mustBeOpen()
		return nil, &vm.Error{Op: "alloc", Purpose: a.name, Bytes: size, Err: vm.ErrSize,
			Detail: "ask for zero bytes or more"}
	}
	return a.alloc("alloc", uintptr(size), uintptr(align))
}

// alloc is Alloc for a valid size and alignment.
func (a *Arena) alloc(op string, size, align uintptr) (unsafe.Pointer, error) {
	first := (a.next + align - 1) &^ (align - 1)
	if first > a.end || size > a.end-first {
		if err := a.makeRoom(op, first, size); err != nil {
			return nil, err
		}
	}
	if invariants.Enabled {
		a.reuse(first + size)
	}
	a.next = first + size
	return unsafe.Add(a.base, first), nil
}

// Grow commits memory so that allocations of the next n bytes cannot fail. The n bytes include the padding
// for alignment. On failure Grow changes nothing and returns an [*vm.Error], as [Arena.Alloc] does. Grow
// panics if n is negative.
func (a *Arena) Grow(n int) error {
	if n < 0 {
		panic(fmt.Sprintf("arena: Grow(%d) on %s: the number of bytes must be zero or more", n, a.name))
	}
	return a.makeRoom("grow", a.next, uintptr(n))
}

func (a *Arena) makeRoom(op string, first, size uintptr) error {
	a.mustBeOpen()
	if first > a.capacity || size > a.capacity-first {
		return &vm.Error{Op: op, Purpose: a.name, Bytes: int(min(size, math.MaxInt)), Err: vm.ErrCapacity,
			Detail: fmt.Sprintf("%s of %s are in use: release some, or raise Options.Capacity",
				vm.Bytes(int(a.next)), vm.Bytes(int(a.capacity)))}
	}
	if err := a.span.CommitTo(int(first+size), 0); err != nil {
		return err
	}
	a.end = min(uintptr(a.span.Committed()), a.capacity)
	if huge := vm.HugePageSize(); !a.advised && huge > 0 && a.span.Committed() >= huge {
		a.advised = true
		_ = a.region.Huge(a.span.Offset(), a.span.Size()) // an optimisation, so a failure does no harm
	}
	return nil
}

// Used returns the number of bytes given out, including those lost to alignment.
func (a *Arena) Used() int { return int(a.next) }

// Cap returns the number of bytes that the arena can give out: Options.Capacity.
func (a *Arena) Cap() int { return int(a.capacity) }

// Committed returns the number of committed bytes: those that are ready for use. After Close it returns 0.
func (a *Arena) Committed() int { return a.region.Committed() }

// Resident returns the number of bytes in memory. Complexity: that of [vm.Region.Resident].
func (a *Arena) Resident() (int, error) { return a.region.Resident() }

// Close gives the memory and the addresses back. Allocations must not be used afterwards, and allocating
// memory panics. Closing twice does nothing.
func (a *Arena) Close() error {
	if a.closed {
		return nil
	}
	if err := a.region.Close(); err != nil {
		return err
	}
	// Without room, each allocation of one byte or more calls makeRoom, which panics.
	a.closed, a.next, a.end, a.marks = true, 0, 0, nil
	return nil
}

func (a *Arena) mustBeOpen() {
	if a.closed {
		panic("arena: " + a.name + " is used after Close: keep it open as long as its allocations are in use")
	}
}
