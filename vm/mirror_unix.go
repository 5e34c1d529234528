//go:build linux || darwin || freebsd

package vm

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mirrorUnit is what the size of a mirror must be a multiple of, beside the page.
const mirrorUnit = 1

// mirrorsServeRegions: a closed mirror leaves addresses that are reserved like any others.
const mirrorsServeRegions = true

// mirror takes the addresses as one reservation, which is then replaced half by half, so that they never belong to
// anybody else.
func (b osBackend) mirror(n int, name string) (unsafe.Pointer, error) {
	p, err := reserveAddresses(b, 2*n, pageSize)
	if err != nil {
		detail, sentinel := b.explain("reserve", 2*n, err)
		return nil, &Error{Op: "reserve", Bytes: 2 * n, Err: sentinel, Detail: detail}
	}
	if err = mapTwice(p, n, name); err == nil {
		b.name(p, 2*n, name)
		return p, nil
	}
	// Addresses that cannot be made Reserved again are lost to the process rather than given to a region.
	if b.reset(p, 2*n) == nil {
		closedRegions.put(p, 2*n)
	}
	return nil, err
}

func (b osBackend) unmirror(p unsafe.Pointer, n int) error { return b.reset(p, 2*n) }

// mapFileTwice puts the same n bytes of a file over both halves of a reservation.
func mapFileTwice(p unsafe.Pointer, n, fd int) error {
	for _, half := range []unsafe.Pointer{p, unsafe.Add(p, n)} {
		if _, err := unix.MmapPtr(fd, 0, half, uintptr(n), readWrite, unix.MAP_SHARED|unix.MAP_FIXED); err != nil {
			return err
		}
	}
	return nil
}
