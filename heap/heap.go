package heap

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/sampling"
	"github.com/vastgo/vast/vm"
)

// Options configure a heap. The zero value works.
type Options struct {
	// Name is the heap's name in errors, and the purpose under which [vm.Snapshot] counts the heap's bytes.
	// Default: "heap.Heap".
	Name string
	// Capacity is the number of bytes of addresses for all allocations of up to 256 KiB together. New
	// reserves these addresses, and four times as many for larger allocations. Reserving costs no memory.
	// Default: 16 GiB. If regions are Go heap memory ([vm.PagesHeap] or [vm.HeapStandIn]), the default is
	// 8 MiB, and the addresses are for allocations of up to 64 KiB.
	Capacity int
	// Unshared declares that only one goroutine at a time uses the heap. Such a heap takes no lock. Locking
	// takes a third to a half of the time of a small allocation, and more after cache misses, because locking
	// waits for earlier writes.
	Unshared bool
	// Limit is a budget of committed memory, shared with other heaps and containers. Default:
	// [vm.DefaultLimit].
	Limit *vm.Limit
	// Pages is the page policy. Default: small pages, and huge pages for large allocations if the system has
	// them.
	Pages vm.Pages
}

// Heap allocates memory outside Go's heap, and frees allocations in any order. See the package documentation.
//
// Many goroutines may use a heap at the same time, and may free and resize allocations of other goroutines. A
// mutex serializes the calls. A call holds the mutex while it commits, gives back or moves pages, but not
// while it clears or copies memory. A heap made with Options.Unshared does not use the mutex, and only one
// goroutine at a time may use that heap.
type Heap struct {
	mu       sync.Mutex
	unshared bool
	unusual  bool // closed or sampled: Alloc must take the slow path
	closed   bool
	name     string
	region   *vm.Region
	pages    pages
	rooms    rooms
	supplies []supply // by class
	live     int      // number of allocations
	inUse    int      // bytes of allocations
	held     int      // bytes of the pages of allocations and pools
	sampled  *sampled // nil without VAST_GUARD
}

const (
	// maxBlock is the size, in bytes, up to which an allocation of whole pages becomes a block. A larger one
	// becomes a block only if it gets no room: see doc.go for blocks and rooms.
	maxBlock = 256 << 10
	// roomUnit is the unit of room lengths and addresses, in bytes. If huge pages are larger, the unit is a
	// huge page.
	roomUnit = 2 << 20
	// roomsPerPages is the ratio of room addresses to page addresses. It is large because a new room is
	// usually at least twice as long as its allocation.
	roomsPerPages = 4
)

// New makes an empty heap. It reserves addresses and commits no memory.
//
// It returns an error as [vm.Reserve] does, and panics when Options.Capacity is negative.
func New(o Options) (*Heap, error) {
	if o.Capacity < 0 {
		panic(fmt.Sprintf("heap: New: Options.Capacity is %d: leave it zero for the default", o.Capacity))
	}
	if vm.HeapStandIn() || o.Pages == vm.PagesHeap {
		// The units are small, so that a few megabytes have space for many rooms.
		return newHeap(o, 8<<20, 64<<10, 128<<10)
	}
	capacity := int64(16 << 30)
	return newHeap(o, int(capacity), maxBlock, max(roomUnit, vm.HugePageSize()))
}

// newHeap is New with three more arguments, in bytes: the default capacity, the value to use instead of
// maxBlock, and the unit of rooms.
func newHeap(o Options, capacity, block, unit int) (*Heap, error) {
	h := &Heap{name: o.Name, unshared: o.Unshared, supplies: make([]supply, len(classes))}
	if h.name == "" {
		h.name = "heap.Heap"
	}
	if o.Capacity != 0 {
		capacity = o.Capacity
	}
	page := vm.PageSize()
	stride := bytesEntry + page/grain/8
	units := (capacity/unit + 1) * roomsPerPages
	if capacity > math.MaxInt/8/roomsPerPages || capacity/page > math.MaxUint32/2 {
		return nil, &vm.Error{Op: "reserve", Purpose: h.name, Bytes: capacity, Err: vm.ErrSize,
			Detail: fmt.Sprintf("Options.Capacity is %s: ask for less", vm.Bytes(capacity))}
	}
	count := (capacity + page - 1) / page
	r, err := vm.Reserve(count*(page+stride)+units*(unit+bytesEntry)+max(unit, maxAlign)+maxAlign+4*page,
		vm.Options{Name: h.name, Limit: o.Limit, Pages: o.Pages})
	if err != nil {
		return nil, err
	}
	// Carve cannot fail, because the region is long enough for the four spans.
	carve := func(bytes, align int) vm.Span {
		s, e := r.Carve(bytes, align)
		if e != nil {
			err = e
		}
		return s
	}
	roomsAt := carve(units*unit, max(unit, maxAlign))
	pagesAt := carve(count*page, maxAlign)
	pagesMeta, roomsMeta := carve(count*stride, 0), carve(units*bytesEntry, 0)
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	r.Label(0, r.Size(), vm.Label{What: h.name, Advice: "drop every copy of a pointer where its allocation " +
		"is freed"})
	h.region = r
	h.pages = pages{
		ranges: ranges{base: pagesMeta.Base(), stride: stride, meta: pagesMeta, end: uint32(count)},
		region: r, off: pagesAt.Offset(), base: pagesAt.Base(), size: page,
		shift: uint(bits.TrailingZeros(uint(page))),
		kept:  make([][]uint32, max(block/page, maxRun)+1),
	}
	h.rooms = rooms{
		ranges: ranges{base: roomsMeta.Base(), stride: bytesEntry, meta: roomsMeta, end: uint32(units)},
		region: r, off: roomsAt.Offset(), base: roomsAt.Base(), unit: unit, page: page,
	}
	h.sampled = newSampled(h.name, o, sampling.Every())
	h.unusual = h.sampled != nil
	return h, nil
}

func (h *Heap) lock() {
	if !h.unshared {
		h.mu.Lock()
	}
}

func (h *Heap) unlock() {
	if !h.unshared {
		h.mu.Unlock()
	}
}

// Close gives the memory and the addresses back. Allocations must not be used afterwards, and using the heap
// panics. Closing a closed heap does nothing. With VAST_GUARD, Close may close the heap and return a
// [*guard.Fault], as [guard.Allocator.Close] does.
func (h *Heap) Close() error {
	h.lock()
	defer h.unlock()
	if h.closed {
		return nil
	}
	if err := h.sampled.close(); err != nil {
		return err
	}
	if err := h.region.Close(); err != nil {
		return err
	}
	h.closed, h.unusual = true, true
	if h.sampled != nil {
		return h.sampled.found
	}
	return nil
}

const maxAlign = 1 << 20

// Alloc returns the address of size bytes, which are zero. The address is a multiple of align, a power of two
// up to 1 MiB; align 0 means 16. The allocation may be larger, see [Heap.SizeOf]. An allocation of size zero
// has an address of its own. Alloc panics when size is negative or align is invalid.
//
// Alloc returns an [*vm.Error] that wraps [vm.ErrCapacity] if Options.Capacity is too small, [vm.ErrLimit] if
// Options.Limit is too small, or another error of [vm.Region.Commit]. After an error, all allocations are
// unchanged. Complexity: constant for objects of pools. Committing pages usually takes one or two system
// calls. An allocation of more than 256 KiB usually commits pages.
func (h *Heap) Alloc(size, align int) (unsafe.Pointer, error) {
	checkSize("Alloc", h.name, size, align)
	if c, ok := classFor(size, align); ok {
		h.lock()
		if h.unusual {
			if p := h.allocUnusually(size, align, c); p != nil {
				return p, nil
			}
		}
		p, dirty, err := h.takeObject(c)
		h.checkInvariants()
		h.unlock()
		if err != nil {
			return nil, err
		}
		if invariants.Enabled {
			h.mustBeFree(p, int(classes[c].size))
		}
		if dirty {
			clear(unsafe.Slice((*byte)(p), classes[c].size))
		}
		return p, nil
	}
	return h.allocPages(size, max(align, 1))
}

func (h *Heap) allocPages(size, align int) (unsafe.Pointer, error) {
	h.lock()
	h.mustBeOpen("Alloc")
	var p unsafe.Pointer
	var dirty bool
	err := h.tooLarge(size)
	n := h.pagesFor(size)
	switch {
	case err != nil:
	case n < len(h.pages.kept):
		p, dirty, err = h.newBlock(uint32(n), uint32(max(1, align>>h.pages.shift)))
	default:
		p, dirty, err = h.newRoom(n, align)
	}
	h.checkInvariants()
	h.unlock()
	if err != nil {
		return nil, err
	}
	if invariants.Enabled {
		h.mustBeFree(p, n<<h.pages.shift)
	}
	if dirty {
		clear(unsafe.Slice((*byte)(p), n<<h.pages.shift))
	}
	return p, nil
}

func (h *Heap) pagesFor(size int) int { return max(1, (size+h.pages.size-1)>>h.pages.shift) }

// tooLarge returns an error for a size that exceeds the addresses of all rooms. Smaller sizes cannot overflow
// in later arithmetic.
func (h *Heap) tooLarge(size int) error {
	if size > int(h.rooms.end)*h.rooms.unit {
		return h.full(size)
	}
	return nil
}

func (h *Heap) full(size int) error {
	return &vm.Error{Op: "alloc", Purpose: h.name, Bytes: size, Err: vm.ErrCapacity,
		Detail: fmt.Sprintf("%s are in use, and no addresses of that length are free: free some, or raise "+
			"Options.Capacity, which is %s",
			vm.Bytes(h.inUse), vm.Bytes(int(h.pages.end)<<h.pages.shift))}
}

// run allocates a run of pages. If memory is refused, or no free range of addresses is long enough, run gives
// back unused memory and tries again.
func (h *Heap) run(n, align uint32) (at uint32, dirty bool, err error) {
	at, dirty, err = h.pages.run(n, align)
	for try := 0; err != nil && h.retry(err, int(n)<<h.pages.shift, try); try++ {
		at, dirty, err = h.pages.run(n, align)
	}
	if err == errNoRange {
		err = h.full(int(n) << h.pages.shift)
	}
	return at, dirty, err
}

const maxRetries = 4

// retry gives memory back after err, and reports whether the caller must try again. bytes is the number of
// bytes that the caller could not commit. These bytes may be too few, because the allocation may also need
// memory for its entries. So each retry decommits about twice as much as the retry before it.
func (h *Heap) retry(err error, bytes, try int) bool {
	if errors.Is(err, vm.ErrMappings) || try == maxRetries {
		return false
	}
	if err == errNoRange {
		_ = h.trim() // frees the addresses of empty pools and kept pages
		return try == 0
	}
	before := h.region.Committed()
	_ = h.trim()
	h.pages.decommitFree((bytes + stepCommit) << try)
	return h.region.Committed() < before
}

func (h *Heap) newBlock(n, align uint32) (p unsafe.Pointer, dirty bool, err error) {
	at, dirty, err := h.run(n, align)
	if err != nil {
		return nil, false, err
	}
	e := h.pages.entry(at)
	e.kind, e.units = kindBlock, n
	h.count(1, int(n)<<h.pages.shift)
	return h.pages.at(at), dirty, nil
}

func (h *Heap) count(allocations, bytes int) {
	h.live += allocations
	h.inUse += bytes
	h.held += bytes
}

type place struct {
	e      *entry
	unit   uint32 // first page of the pool or block, or first unit of the room
	object uint32 // number of the object in its pool
	room   bool   // the allocation has a room
	size   int    // usable bytes
}

// find returns the place of the allocation that begins at p, or a text that says why no live allocation
// begins there.
func (h *Heap) find(p unsafe.Pointer) (at place, wrong string) {
	if off := uintptr(p) - uintptr(h.pages.base); off < uintptr(h.pages.end)<<h.pages.shift {
		at.unit = uint32(off >> h.pages.shift)
		if at.unit >= h.pages.top {
			return at, misuseOutside
		}
		at.e = h.pages.entry(at.unit)
		if at.e.kind == kindTail {
			// The head may be stale: a pool that was freed may have set it.
			if head := at.e.head; head < at.unit {
				if e := h.pages.entry(head); e.kind == kindPool && at.unit-head < e.units {
					at.unit, at.e = head, e
				}
			}
		}
		switch at.e.kind {
		case kindPool:
			at.size = int(classes[at.e.class].size)
			at.object, wrong = h.object(at.unit, at.e, p)
		case kindBlock:
			at.size = int(at.e.units) << h.pages.shift
			if in := off & uintptr(h.pages.size-1); in != 0 {
				wrong = fmt.Sprintf(misuseInside, in, at.size)
			}
		case kindFree, kindKept:
			wrong = misuseFreed
		default:
			wrong = misuseOutside
		}
		return at, wrong
	}
	off := uintptr(p) - uintptr(h.rooms.base)
	if off >= uintptr(h.rooms.end)*uintptr(h.rooms.unit) {
		return at, misuseForeign
	}
	at.unit, at.room = uint32(off/uintptr(h.rooms.unit)), true
	if at.unit >= h.rooms.top {
		return at, misuseOutside
	}
	at.e = h.rooms.entry(at.unit)
	at.size = int(at.e.pages) << h.pages.shift
	switch in := off % uintptr(h.rooms.unit); {
	case at.e.kind == kindBlock && in != 0:
		wrong = fmt.Sprintf(misuseInside, in, at.size)
	case at.e.kind == kindFree:
		wrong = misuseFreed
	case at.e.kind != kindBlock:
		wrong = misuseOutside
	}
	return at, wrong
}

// lockAndFind locks the heap and finds the allocation at p. The caller must unlock the heap. If no allocation
// begins at p, lockAndFind unlocks the heap and panics.
func (h *Heap) lockAndFind(op string, p unsafe.Pointer) place {
	h.lock()
	h.mustBeOpen(op)
	at, wrong := h.find(p)
	if wrong != "" {
		h.unlock()
		h.misused(op, p, wrong)
	}
	return at
}

// Free frees the allocation that begins at p. Its memory must not be used afterwards: Free may immediately
// give the memory back to the operating system. Free(nil) does nothing. Free panics when no live allocation
// of this heap begins at p. If VAST_GUARD guards the memory, the value of the panic is a [*guard.Fault], and
// Free also panics when bytes around the allocation were overwritten.
func (h *Heap) Free(p unsafe.Pointer) {
	if p == nil {
		return
	}
	h.lock()
	if !h.closed && h.freeObject(p) {
		h.checkInvariants()
		h.unlock()
		return
	}
	h.unlock()
	if h.guarded(p) {
		h.freeGuarded(p)
		return
	}
	at := h.lockAndFind("Free", p)
	h.free(at)
	h.checkInvariants()
	h.unlock()
}

// freeObject is the fast path of Free. It frees p if p is a live object that begins in the first page of a
// pool, and reports whether it has freed p.
func (h *Heap) freeObject(p unsafe.Pointer) bool {
	off := uintptr(p) - uintptr(h.pages.base)
	if off >= uintptr(h.pages.top)<<h.pages.shift {
		return false
	}
	pool := uint32(off >> h.pages.shift)
	e := h.pages.entry(pool)
	if e.kind != kindPool {
		return false
	}
	c := &classes[e.class]
	i := c.index(uint32(off) & uint32(h.pages.size-1))
	if i >= c.objects || unsafe.Add(h.pages.at(pool), int(i*c.size)) != p ||
		h.words(pool, c)[i/64]>>(i%64)&1 != 0 {
		return false
	}
	h.putObject(pool, e, i)
	return true
}

func (h *Heap) free(at place) {
	switch {
	case at.room:
		h.endRoom(at.unit, at.e)
	case at.e.kind == kindPool:
		h.putObject(at.unit, at.e, at.object)
	default:
		h.count(-1, -at.size)
		h.pages.free(at.unit, at.e.units)
	}
}

// SizeOf returns the number of usable bytes of the allocation that begins at p: the requested size or more.
// SizeOf panics as [Heap.Free] does when no live allocation of this heap begins at p. SizeOf(nil) also
// panics.
func (h *Heap) SizeOf(p unsafe.Pointer) int {
	if h.guarded(p) {
		return h.guardedSize("SizeOf", p)
	}
	at := h.lockAndFind("SizeOf", p)
	h.unlock()
	return at.size
}
