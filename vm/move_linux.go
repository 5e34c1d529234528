package vm

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// move moves the pages to an intermediate address first, and from there to their destination. The first call
// of mremap leaves the old addresses mapped and empty. The second call fails only if the kernel lacks memory.
//
// A single call is not safe: a kernel before 6.17 unmaps the destination before it checks whether the pages
// can move. If they cannot, another thread could get the addresses of the destination.
func (osBackend) move(to, from unsafe.Pointer, n int) error {
	between, err := unix.MremapPtr(from, uintptr(n), hintLike(from, n), uintptr(n),
		unix.MREMAP_MAYMOVE|unix.MREMAP_DONTUNMAP)
	if errors.Is(err, unix.EFAULT) {
		return fmt.Errorf("%w: %w", errSeveral, err)
	}
	if err != nil {
		return err // a kernel before 5.7, or a limit; the caller copies the contents instead
	}
	_, err = unix.MremapPtr(between, uintptr(n), to, uintptr(n), unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED)
	if err == nil {
		return nil
	}
	// The kernel has no memory for the description of a mapping. Copy the contents back, and reserve the
	// destination again if the kernel has unmapped it.
	copy(bytesAt(from, n), bytesAt(between, n))
	_ = unix.MunmapPtr(between, uintptr(n)) // no code has seen these addresses
	_, _ = unix.MmapPtr(-1, 0, to, uintptr(n), unix.PROT_NONE, reserveFlags|unix.MAP_FIXED_NOREPLACE)
	return err
}

// hintLike returns a free address at the same offset in a huge page as p, so that page tables and huge pages
// move whole. It returns nil if the range is smaller than a huge page, or if it finds no free address. Then
// the kernel chooses an address. If another thread takes the returned address, the kernel chooses another
// address, and the move takes longer.
func hintLike(p unsafe.Pointer, n int) unsafe.Pointer {
	huge := HugePageSize()
	if huge == 0 || n < huge {
		return nil
	}
	free, err := unix.MmapPtr(-1, 0, reserveHint(n+huge), uintptr(n+huge), unix.PROT_NONE, reserveFlags)
	if err != nil {
		return nil
	}
	_ = unix.MunmapPtr(free, uintptr(n+huge)) // no code has seen these addresses
	return pointerAt(roundUp(address(free), huge) + address(p)&(huge-1))
}
