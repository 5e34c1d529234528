package vm

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// This file makes mirrors without placeholders: on Windows 10 before version 1803, Windows Server 2016, and
// older versions of Wine. It finds free addresses by reserving and releasing them, and maps both halves
// there. If another thread takes the addresses meanwhile, mapViews tries other addresses.
//
// If Close unmapped a view, the system could put Go's heap at its addresses, although stale pointers may
// still hold them. Therefore the views of a closed mirror stay mapped, but inaccessible, for the next mirror
// of the same size. Their pages leave memory, but stay charged to the system's commit limit.

var mapViewOfFileEx = kernel32.NewProc("MapViewOfFileEx")

// maxAttempts limits the attempts of mapViews.
const maxAttempts = 64

// mapViews makes a mirror of two views side by side.
func mapViews(n int) (unsafe.Pointer, error) {
	if p := takeMirror(n); p != nil {
		if err := protectViews(p, n, windows.PAGE_NOACCESS, windows.PAGE_READWRITE); err != nil {
			putMirror(p, n)
			return nil, err
		}
		clear(unsafe.Slice((*byte)(p), n)) // MEM_RESET leaves the contents undefined
		return p, nil
	}
	gap, err := findGap(n)
	if err != nil {
		return nil, noAddresses(n, err)
	}
	file, err := sharedMemory(n)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(file)
	for range maxAttempts {
		if err = mapViewsAt(gap, file, n); err == nil {
			return pointerAt(int(gap)), nil
		}
		if !errors.Is(err, windows.ERROR_INVALID_ADDRESS) {
			return nil, err
		}
		if gap, err = findGap(n); err != nil {
			return nil, noAddresses(n, err)
		}
	}
	return nil, fmt.Errorf("%w: other threads took the addresses %d times", ErrRefused, maxAttempts)
}

// findGap returns the address of 2n free bytes. It does not reserve them.
func findGap(n int) (uintptr, error) {
	gap, err := windows.VirtualAlloc(0, uintptr(2*n), windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return 0, err
	}
	// Releasing the addresses is sound, because no pointer to them exists yet.
	return gap, windows.VirtualFree(gap, 0, windows.MEM_RELEASE)
}

// mapViewsAt maps both views or none. The error is ERROR_INVALID_ADDRESS if another thread has taken the
// addresses.
func mapViewsAt(gap uintptr, file windows.Handle, n int) error {
	for i := range 2 {
		at, _, err := mapViewOfFileEx.Call(uintptr(file), windows.FILE_MAP_WRITE, 0, 0, uintptr(n),
			gap+uintptr(i*n))
		if at != 0 {
			continue
		}
		if i > 0 {
			_ = windows.UnmapViewOfFile(gap) // sound: no pointer into this view exists yet
		}
		return err
	}
	return nil
}

// retireViews makes the views of a closed mirror inaccessible, and keeps them for the next mirror.
func retireViews(p unsafe.Pointer, n int) error {
	if err := protectViews(p, n, windows.PAGE_READWRITE, windows.PAGE_NOACCESS); err != nil {
		return err
	}
	for _, half := range []uintptr{uintptr(p), uintptr(p) + uintptr(n)} {
		// MEM_RESET says that the pages need not be written to the paging file. VirtualUnlock removes
		// unlocked pages from the working set. If a call fails, the pages stay in memory for longer.
		_, _ = windows.VirtualAlloc(half, uintptr(n), windows.MEM_RESET, windows.PAGE_NOACCESS)
		_ = windows.VirtualUnlock(half, uintptr(n))
	}
	putMirror(p, n)
	return nil
}

// protectViews changes the protection of both views, or of neither.
func protectViews(p unsafe.Pointer, n int, from, to uint32) error {
	var old uint32
	if err := windows.VirtualProtect(uintptr(p), uintptr(n), to, &old); err != nil {
		return err
	}
	err := windows.VirtualProtect(uintptr(p)+uintptr(n), uintptr(n), to, &old)
	if err != nil {
		_ = windows.VirtualProtect(uintptr(p), uintptr(n), from, &old)
	}
	return err
}
