//go:build linux || darwin || freebsd

package vm

import (
	"math"
	"unsafe"

	"golang.org/x/sys/unix"
)

// osBackend uses mmap and related calls. This file holds the methods that Linux, macOS and FreeBSD share.
type osBackend struct{}

// reserveFlags asks for memory that counts toward no commit limit while it is inaccessible.
const reserveFlags = unix.MAP_PRIVATE | unix.MAP_ANON | noReserve

const readWrite = unix.PROT_READ | unix.PROT_WRITE

func bytesAt(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

func (osBackend) reserve(n, align int) (unsafe.Pointer, error) {
	slack := 0
	if align > systemPage {
		slack = align
	}
	p, err := unix.MmapPtr(-1, 0, reserveHint(n+slack), uintptr(n+slack), unix.PROT_NONE, reserveFlags)
	if err != nil {
		return nil, err
	}
	if slack == 0 {
		return p, nil
	}
	// No pointer into the addresses around the aligned part exists, so they can be unmapped.
	before := roundUp(address(p), align) - address(p)
	if before > 0 {
		_ = unix.MunmapPtr(p, uintptr(before))
	}
	p = unsafe.Add(p, before)
	if after := slack - before; after > 0 {
		_ = unix.MunmapPtr(unsafe.Add(p, n), uintptr(after))
	}
	return p, nil
}

func (osBackend) release(p unsafe.Pointer, n int) error { return unix.MunmapPtr(p, uintptr(n)) }

func (osBackend) commit(p unsafe.Pointer, n int) error {
	return unix.Mprotect(bytesAt(p, n), readWrite)
}

func (osBackend) reset(p unsafe.Pointer, n int) error { return remap(p, n, unix.PROT_NONE) }

// remap replaces the mapping of a range. The range loses its contents, charge, name and advice.
func remap(p unsafe.Pointer, n, prot int) error {
	_, err := unix.MmapPtr(-1, 0, p, uintptr(n), prot, reserveFlags|unix.MAP_FIXED)
	return err
}

func (osBackend) protect(p unsafe.Pointer, n int, a Access) error {
	prot := readWrite
	switch a {
	case ReadOnly:
		prot = unix.PROT_READ
	case NoAccess:
		prot = unix.PROT_NONE
	}
	return unix.Mprotect(bytesAt(p, n), prot)
}

func (osBackend) resident(p unsafe.Pointer, n int) (int, error) {
	total := 0
	err := pagesInCore(p, n, func(_, n int, _ PageState) { total += n })
	return total, err
}

// pagesInCore implements osBackend.pages for systems that report only whether pages are in memory.
func pagesInCore(p unsafe.Pointer, n int, tell func(off, n int, s PageState)) error {
	var present [residentBatch]byte
	each := pageSize / systemPage // system pages in a page; more than 1 in builds with larger pages
	for off := 0; off < n; {
		pages := min((n-off)/pageSize, len(present)/each)
		if err := inCore(unsafe.Add(p, off), present[:pages*each]); err != nil {
			return err
		}
		state := func(page int) (s PageState) {
			for _, answer := range present[page*each : (page+1)*each] {
				s |= PageState(answer&1) * PageResident
			}
			return s
		}
		tellPages(pages, state, func(page, n int, s PageState) { tell(off+page*pageSize, n*pageSize, s) })
		off += pages * pageSize
	}
	return nil
}

// inCore sets bit 0 of present[i] if the i-th system page from p on is in memory.
func inCore(p unsafe.Pointer, present []byte) error {
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(p), uintptr(len(present)*systemPage),
		uintptr(unsafe.Pointer(&present[0])))
	if errno != 0 {
		return errno
	}
	return nil
}

// residentBatch is the largest number of system pages in a call of inCore. The answer has a byte for each
// page and lies on the stack.
const residentBatch = 16 << 10

func (osBackend) reuses() bool { return true }

// resourceLimit returns a limit of the process in bytes, or 0 if there is no limit.
func resourceLimit(which int) int {
	var l unix.Rlimit
	if unix.Getrlimit(which, &l) != nil || l.Cur >= math.MaxInt {
		return 0
	}
	return int(l.Cur)
}
