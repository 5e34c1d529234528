package vm

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// move takes the pages to a place of the kernel's choice first, and from there to where they belong. In one call it would
// be done as well, but a kernel before 6.17 unmaps the destination before it looks whether it can move: where it cannot,
// another thread could be given addresses that are handed out. The first call has no destination to unmap and leaves the
// old addresses mapped, empty; the second has nothing left to refuse.
func (osBackend) move(to, from unsafe.Pointer, n int) error {
	between, err := unix.MremapPtr(from, uintptr(n), hintLike(from, n), uintptr(n), unix.MREMAP_MAYMOVE|unix.MREMAP_DONTUNMAP)
	if errors.Is(err, unix.EFAULT) {
		return fmt.Errorf("%w: %w", errSeveral, err)
	}
	if err != nil {
		return err // a kernel before 5.7, or a limit that copying may not reach
	}
	_, err = unix.MremapPtr(between, uintptr(n), to, uintptr(n), unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED)
	if err == nil {
		return nil
	}
	// The kernel has no memory for the few bytes of a mapping's description.
	copy(bytesAt(from, n), bytesAt(between, n))
	_ = unix.MunmapPtr(between, uintptr(n)) // nobody has seen these addresses
	_, _ = unix.MmapPtr(-1, 0, to, uintptr(n), unix.PROT_NONE, reserveFlags|unix.MAP_FIXED_NOREPLACE)
	return err
}

// hintLike returns a free place that lies in a huge page like p, so that page tables and huge pages move whole; nil, any
// place, for a range that has none. Where another thread takes the place first the kernel chooses one, and the move only
// takes longer.
func hintLike(p unsafe.Pointer, n int) unsafe.Pointer {
	huge := HugePageSize()
	if huge == 0 || n < huge {
		return nil
	}
	free, err := unix.MmapPtr(-1, 0, reserveHint(n+huge), uintptr(n+huge), unix.PROT_NONE, reserveFlags)
	if err != nil {
		return nil
	}
	_ = unix.MunmapPtr(free, uintptr(n+huge)) // nobody has seen these addresses
	return pointerAt(roundUp(address(free), huge) + address(p)&(huge-1))
}
