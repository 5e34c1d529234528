package vm

import (
	"errors"
	"runtime"
	"strconv"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// heapBackend is the heap stand-in: a region is one Go heap allocation, which the region's base pointer keeps
// alive. All pages are readable and writable in every state, so a read or write never faults. In builds that
// check invariants, decommit poisons the memory, so that tests detect a read through a stale pointer.
type heapBackend struct{}

var errHeapTooLarge = errors.New("too large for the heap stand-in")

// maxHeapRegion is the largest size of a region: 256 MiB on 32-bit systems and WebAssembly, whose address
// space is small, and 4 GiB on other systems. Go ends the process if its heap cannot supply the size.
var maxHeapRegion = func() int {
	if strconv.IntSize == 32 || runtime.GOARCH == "wasm" {
		return 256 << 20
	}
	return 1 << min(32, strconv.IntSize-2) // 1 << 32, written so that 32-bit builds compile
}()

func (heapBackend) reserve(n, align int) (unsafe.Pointer, error) {
	if n > maxHeapRegion {
		return nil, errHeapTooLarge
	}
	p := unsafe.Pointer(unsafe.SliceData(make([]byte, n+align-1)))
	return unsafe.Add(p, roundUp(address(p), align)-address(p)), nil
}

// release does nothing: the collector frees the memory.
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

// reset does nothing: it is called only when a region is closed, and nothing uses the memory afterwards.
func (heapBackend) reset(unsafe.Pointer, int) error { return nil }

func (heapBackend) protect(unsafe.Pointer, int, Access) error { return nil }

func (heapBackend) mapFile(unsafe.Pointer, int, uintptr, int64) error { return errors.ErrUnsupported }

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
		return "regions are Go heap memory here, because of the platform (" + runtime.GOOS + "/" +
			runtime.GOARCH + "), the race detector or PagesHeap; such a region takes its whole size at " +
			"once: ask for at most " + Bytes(maxHeapRegion), ErrAddressSpace
	}
	return "", err
}

// reuses returns false, because the collector decides when memory can be used again.
func (heapBackend) reuses() bool { return false }
