package vm

import (
	"errors"
	"runtime"
	"strconv"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// heapBackend stands in for address space: a region is one Go heap allocation, which its base keeps alive. Everything is
// always readable and writable, so nothing faults; the region's own bookkeeping keeps the states. With invariants on,
// decommitted memory is poisoned, so that a read through a stale pointer is seen.
type heapBackend struct{}

var errHeapTooLarge = errors.New("too large for the heap stand-in")

// maxHeapRegion is what the stand-in agrees to allocate: a region of it takes its whole size from Go's heap, where a
// request beyond memory cannot be refused but ends the process. It is 4 GiB, or 256 MiB where that would be all of the
// address space.
var maxHeapRegion = func() int {
	if strconv.IntSize == 32 || runtime.GOARCH == "wasm" {
		return 256 << 20
	}
	return 1 << min(32, strconv.IntSize-2) // the minimum is 32 here; without it 32-bit builds do not compile
}()

func (heapBackend) reserve(n, align int) (unsafe.Pointer, error) {
	if n > maxHeapRegion {
		return nil, errHeapTooLarge
	}
	p := unsafe.Pointer(unsafe.SliceData(make([]byte, n+align-1)))
	return unsafe.Add(p, roundUp(address(p), align)-address(p)), nil
}

// release does nothing: the collector takes the memory when the last pointer into it is gone.
func (heapBackend) release(unsafe.Pointer, int) error { return nil }

func (heapBackend) commit(p unsafe.Pointer, n int) error {
	if invariants.Enabled {
		clear(unsafe.Slice((*byte)(p), n))
	}
	return nil
}

func (heapBackend) decommit(p unsafe.Pointer, n int) (bare bool, err error) {
	b := unsafe.Slice((*byte)(p), n)
	clear(b)
	if invariants.Enabled {
		invariants.Poison(b)
	}
	return false, nil
}

func (heapBackend) discard(p unsafe.Pointer, n int) error {
	clear(unsafe.Slice((*byte)(p), n))
	return nil
}

func (heapBackend) move(to, from unsafe.Pointer, n int) error {
	copy(bytesOf(to, n), bytesOf(from, n))
	clear(bytesOf(from, n))
	return nil
}

// reset does nothing, as release.
func (heapBackend) reset(unsafe.Pointer, int) error { return nil }

func (heapBackend) protect(unsafe.Pointer, int, Access) error { return nil }

func (heapBackend) populate(unsafe.Pointer, int) error { return nil }

func (heapBackend) advise(unsafe.Pointer, int, bool) error { return nil }

func (heapBackend) collapse(unsafe.Pointer, int) error { return nil }

func (heapBackend) resident(_ unsafe.Pointer, n int) (int, error) { return n, nil }

func (heapBackend) pages(_ unsafe.Pointer, n int, tell func(off, n int, s PageState)) error {
	tell(0, n, PageResident)
	return nil
}

func (heapBackend) name(unsafe.Pointer, int, string) {}

func (heapBackend) explain(_ string, _ int, err error) (detail string, sentinel error) {
	if errors.Is(err, errHeapTooLarge) {
		return "regions are Go heap memory here (" + runtime.GOOS + "/" + runtime.GOARCH +
			", the race detector, or PagesHeap) and take their whole size: ask for less, at most " + Bytes(maxHeapRegion), ErrAddressSpace
	}
	return "", err
}

// reuses is false: the collector knows when the memory is free.
func (heapBackend) reuses() bool { return false }
