//go:build linux || darwin || freebsd

package vm

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The size of a mirror is a multiple of mirrorUnit bytes and of a page. mirrorUnit is 1 here, because whole
// pages are enough.
const mirrorUnit = 1

// mirrorsServeRegions says whether regions can use the addresses of closed mirrors.
const mirrorsServeRegions = true

// mirror reserves the addresses of both halves before it maps memory over them, so that no other code can get
// these addresses.
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
	// Later regions get the addresses only if reset makes them Reserved again.
	if b.reset(p, 2*n) == nil {
		closedRegions.put(p, 2*n)
	}
	return nil, err
}

func (b osBackend) unmirror(p unsafe.Pointer, n int) error { return b.reset(p, 2*n) }

// mapFileTwice maps the same n bytes of a file over both halves of a reservation.
func mapFileTwice(p unsafe.Pointer, n, fd int) error {
	for _, half := range []unsafe.Pointer{p, unsafe.Add(p, n)} {
		if _, err := unix.MmapPtr(fd, 0, half, uintptr(n), readWrite,
			unix.MAP_SHARED|unix.MAP_FIXED); err != nil {
			return err
		}
	}
	return nil
}
