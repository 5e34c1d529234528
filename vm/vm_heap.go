package vm

import (
	"errors"
	"runtime"
	"unsafe"
)

// heapBackend stands in for address space: a region is one Go heap allocation. Everything is always readable and
// writable, so nothing faults; the region's own bookkeeping keeps the states.
type heapBackend struct{}

var errHeapTooLarge = errors.New("too large for the heap stand-in")

// maxHeapRegion is what the stand-in agrees to allocate: a region of it takes its whole size from Go's heap, where a
// request beyond memory cannot be refused but ends the process.
const maxHeapRegion = 1 << 32 >> (8 * (8 - unsafe.Sizeof(uintptr(0))) / 8)

func (heapBackend) reserve(n, align int) (p unsafe.Pointer, keep any, err error) {
	if n > maxHeapRegion {
		return nil, nil, errHeapTooLarge
	}
	b := make([]byte, n+align-1)
	p = unsafe.Pointer(unsafe.SliceData(b))
	return unsafe.Add(p, roundUp(int(uintptr(p)), align)-int(uintptr(p))), b, nil
}

func (heapBackend) commit(unsafe.Pointer, int) error { return nil }

func (heapBackend) decommit(p unsafe.Pointer, n int) error {
	clear(unsafe.Slice((*byte)(p), n))
	return nil
}

func (h heapBackend) discard(p unsafe.Pointer, n int) error { return h.decommit(p, n) }

// reset does nothing: the collector takes the memory when the last pointer into it is gone.
func (heapBackend) reset(unsafe.Pointer, int) error { return nil }

func (heapBackend) protect(unsafe.Pointer, int, Access) error { return nil }

func (heapBackend) populate(unsafe.Pointer, int) error { return nil }

func (heapBackend) advise(unsafe.Pointer, int, bool) error { return nil }

func (heapBackend) collapse(unsafe.Pointer, int) error { return nil }

func (heapBackend) resident(_ unsafe.Pointer, n int) (int, error) { return n, nil }

func (heapBackend) name(unsafe.Pointer, int, string) {}

func (heapBackend) explain(_ string, _ int, err error) (error, string) {
	if errors.Is(err, errHeapTooLarge) {
		return ErrAddressSpace, "regions are Go heap memory here (" + runtime.GOOS + "/" + runtime.GOARCH +
			", the race detector, or PagesHeap) and take their whole size: ask for less, at most " + Bytes(maxHeapRegion)
	}
	return err, ""
}

// reuses is false: the collector knows when the memory is free.
func (heapBackend) reuses() bool { return false }
