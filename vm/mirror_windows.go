package vm

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/vastgo/vast/internal/fault"
	"golang.org/x/sys/windows"
)

// The size of a mirror is a multiple of mirrorUnit bytes, because views begin at multiples of 64 KiB.
const mirrorUnit = 64 << 10

// mirrorsServeRegions says whether regions can use the addresses of closed mirrors. VirtualAlloc refuses
// addresses of placeholders and views.
const mirrorsServeRegions = false

// These functions exist since Windows 10 version 1803. See mapViews for older systems.
var (
	kernelbase       = windows.NewLazySystemDLL("kernelbase.dll")
	virtualAlloc2    = kernelbase.NewProc("VirtualAlloc2")
	mapViewOfFile3   = kernelbase.NewProc("MapViewOfFile3")
	unmapViewOfFile2 = kernelbase.NewProc("UnmapViewOfFile2")
)

const (
	memReplacePlaceholder  = 0x4000  // MEM_REPLACE_PLACEHOLDER
	memReservePlaceholder  = 0x40000 // MEM_RESERVE_PLACEHOLDER
	memPreservePlaceholder = 0x2     // MEM_PRESERVE_PLACEHOLDER
)

// placeholders reports whether the system has working placeholders. In old versions of Wine the functions
// exist but do not work, so placeholders makes two placeholders as a trial. Releasing them is sound, because
// no other code has their addresses.
var placeholders = sync.OnceValue(func() bool {
	for _, proc := range []*windows.LazyProc{virtualAlloc2, mapViewOfFile3, unmapViewOfFile2} {
		if proc.Find() != nil {
			return false
		}
	}
	p, err := reservePlaceholders(mirrorUnit)
	if err != nil {
		return false
	}
	for _, half := range []uintptr{uintptr(p), uintptr(p) + mirrorUnit} {
		_ = windows.VirtualFree(half, 0, windows.MEM_RELEASE)
	}
	return true
})

// closedMirrors holds the addresses of closed mirrors, as pairs of placeholders or of views, for mirrors of
// the same size.
var closedMirrors struct {
	mu   sync.Mutex
	free []interval
}

func takeMirror(n int) unsafe.Pointer {
	closedMirrors.mu.Lock()
	defer closedMirrors.mu.Unlock()
	i := slices.IndexFunc(closedMirrors.free, func(iv interval) bool { return iv.hi-iv.lo == 2*n })
	if i < 0 {
		return nil
	}
	p := pointerAt(closedMirrors.free[i].lo)
	closedMirrors.free = slices.Delete(closedMirrors.free, i, i+1)
	return p
}

func putMirror(p unsafe.Pointer, n int) {
	closedMirrors.mu.Lock()
	defer closedMirrors.mu.Unlock()
	closedMirrors.free = append(closedMirrors.free, interval{address(p), address(p) + 2*n})
}

// reservePlaceholders returns two adjacent placeholders, each of n bytes.
func reservePlaceholders(n int) (unsafe.Pointer, error) {
	addr, _, err := virtualAlloc2.Call(uintptr(windows.CurrentProcess()), 0, uintptr(2*n),
		windows.MEM_RESERVE|memReservePlaceholder, windows.PAGE_NOACCESS, 0, 0)
	if addr == 0 {
		return nil, err
	}
	p := pointerAt(int(addr))
	// Releasing a part with MEM_PRESERVE_PLACEHOLDER splits the placeholder in two.
	if err := windows.VirtualFree(addr, uintptr(n), windows.MEM_RELEASE|memPreservePlaceholder); err != nil {
		_ = windows.VirtualFree(addr, 0, windows.MEM_RELEASE) // no code has seen these addresses
		return nil, err
	}
	return p, nil
}

func (osBackend) mirror(n int, _ string) (unsafe.Pointer, error) {
	if err := fault.Check("reserve"); err != nil {
		return nil, noAddresses(n, err)
	}
	if placeholders() {
		return mapPlaceholders(n)
	}
	return mapViews(n)
}

func (osBackend) unmirror(p unsafe.Pointer, n int) error {
	if placeholders() {
		return unmapPlaceholders(p, n)
	}
	return retireViews(p, n)
}

// noAddresses explains that the system has no addresses for a mirror of n bytes.
func noAddresses(n int, err error) error {
	detail, sentinel := osBackend{}.explain("reserve", 2*n, err)
	return &Error{Op: "reserve", Bytes: 2 * n, Err: sentinel, Detail: detail}
}

// sharedMemory makes n bytes of memory that can be mapped. The memory exists while it has a handle or a view.
// The call charges all bytes to the system's commit limit, so touching them cannot fail afterwards.
func sharedMemory(n int) (windows.Handle, error) {
	return windows.CreateFileMapping(windows.InvalidHandle, nil, windows.PAGE_READWRITE,
		uint32(uint64(n)>>32), uint32(n), nil)
}

// mapPlaceholders replaces two placeholders by views of the same memory. A placeholder keeps its addresses
// reserved, so no other code can get them.
func mapPlaceholders(n int) (unsafe.Pointer, error) {
	p := takeMirror(n)
	if p == nil {
		var err error
		if p, err = reservePlaceholders(n); err != nil {
			return nil, noAddresses(n, err)
		}
	}
	file, err := sharedMemory(n)
	if err != nil {
		putMirror(p, n)
		return nil, err
	}
	defer windows.CloseHandle(file)
	for i := range 2 {
		at, _, err := mapViewOfFile3.Call(uintptr(file), uintptr(windows.CurrentProcess()),
			uintptr(p)+uintptr(i*n), 0, uintptr(n), memReplacePlaceholder, windows.PAGE_READWRITE, 0, 0)
		if at != 0 {
			continue
		}
		if i == 0 || unmapView(p) == nil {
			putMirror(p, n)
		}
		return nil, err
	}
	return p, nil
}

func unmapPlaceholders(p unsafe.Pointer, n int) error {
	if err := unmapView(p); err != nil {
		return err
	}
	// The first half is a placeholder again. If the second half stays mapped, the addresses are lost.
	if unmapView(unsafe.Add(p, n)) == nil {
		putMirror(p, n)
	}
	return nil
}

// unmapView replaces a view by a placeholder.
func unmapView(p unsafe.Pointer) error {
	if ok, _, err := unmapViewOfFile2.Call(uintptr(windows.CurrentProcess()), uintptr(p),
		memPreservePlaceholder); ok == 0 {
		return err
	}
	return nil
}
