package vm

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapsFiles reports whether the backend of this system can map files.
const mapsFiles = true

// mapFile maps the file at an address that the kernel chooses, and moves the mapping to p. An mmap call with
// MAP_FIXED would unmap the pages at p before the file system can refuse. After a refusal, another thread
// could get these addresses of the region.
func (b osBackend) mapFile(p unsafe.Pointer, n int, file uintptr, offset int64) error {
	between, err := unix.MmapPtr(int(file), offset, nil, uintptr(n), readWrite, unix.MAP_PRIVATE|noReserve)
	if err != nil {
		return err
	}
	_, err = unix.MremapPtr(between, uintptr(n), p, uintptr(n), unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED)
	if err == nil {
		return nil
	}
	_ = unix.MunmapPtr(between, uintptr(n)) // no code has seen these addresses
	// The failed mremap may have unmapped the pages at p. This mmap then reserves their addresses again.
	// Otherwise, mmap fails with EEXIST.
	_, refused := unix.MmapPtr(-1, 0, p, uintptr(n), unix.PROT_NONE, reserveFlags|unix.MAP_FIXED_NOREPLACE)
	if errors.Is(refused, unix.EEXIST) {
		return err // the pages at p have not changed
	}
	return fmt.Errorf("%w: %w", errLost, err)
}
