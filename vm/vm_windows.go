package vm

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"
)

// osBackend uses VirtualAlloc. A call must not span two reservations. Therefore the address cache joins only
// ranges of one reservation.
type osBackend struct{}

// reserve ignores the alignment. Regions have no huge pages on Windows, so alignment to a page is enough, and
// Windows begins every reservation at a multiple of 64 KiB. The addresses from the end of a reservation to
// the next multiple of 64 KiB stay unused.
func (osBackend) reserve(n, _ int) (unsafe.Pointer, error) {
	addr, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return nil, err
	}
	return pointerAt(int(addr)), nil
}

func (osBackend) release(p unsafe.Pointer, _ int) error {
	return windows.VirtualFree(uintptr(p), 0, windows.MEM_RELEASE)
}

// commit charges the whole range to the system's commit limit. Touching the range cannot fail afterwards.
func (osBackend) commit(p unsafe.Pointer, n int) error {
	_, err := windows.VirtualAlloc(uintptr(p), uintptr(n), windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err
}

// decommit gives back the memory and the charge. DiscardVirtualMemory and OfferVirtualMemory would keep the
// charge.
func (b osBackend) decommit(p unsafe.Pointer, n int) (bare bool, err error) {
	return true, b.reset(p, n)
}

// discard decommits and commits the range, because MEM_RESET and DiscardVirtualMemory leave the contents
// undefined. If another process uses up the commit limit after the decommit, the commit fails.
func (b osBackend) discard(p unsafe.Pointer, n int) error {
	if err := b.reset(p, n); err != nil {
		return err
	}
	if err := b.commit(p, n); err != nil {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return nil
}

// reset also accepts Reserved pages: decommitting them does nothing.
func (osBackend) reset(p unsafe.Pointer, n int) error {
	return windows.VirtualFree(uintptr(p), uintptr(n), windows.MEM_DECOMMIT)
}

func (osBackend) protect(p unsafe.Pointer, n int, a Access) error {
	var prot, old uint32 = windows.PAGE_READWRITE, 0
	switch a {
	case ReadOnly:
		prot = windows.PAGE_READONLY
	case NoAccess:
		prot = windows.PAGE_NOACCESS
	}
	return windows.VirtualProtect(uintptr(p), uintptr(n), prot, &old)
}

// populate touches the pages: committed pages are charged, so a touch cannot fail. PrefetchVirtualMemory only
// brings back pages that were paged out.
func (osBackend) populate(p unsafe.Pointer, n int) error { return touch(p, n) }

// advise does nothing: large pages need a privilege, must be committed when they are reserved, and never
// leave memory.
func (osBackend) advise(unsafe.Pointer, int, bool) error { return nil }

func (osBackend) collapse(unsafe.Pointer, int) error { return nil }

func (osBackend) resident(p unsafe.Pointer, n int) (int, error) {
	total := 0
	err := osBackend{}.pages(p, n, func(_, n int, _ PageState) { total += n })
	return total, err
}

func (osBackend) pages(p unsafe.Pointer, n int, tell func(off, n int, s PageState)) error {
	// QueryWorkingSetEx gets the address of the array as a number, so the array must not lie on a stack,
	// which can move. Pinning keeps the array on the heap.
	pages := new([1024]windows.PSAPI_WORKING_SET_EX_INFORMATION)
	var pin runtime.Pinner
	pin.Pin(pages)
	defer pin.Unpin()
	for off := 0; off < n; {
		count := min(n-off, len(pages)*pageSize) / pageSize
		for i := range count {
			pages[i] = windows.PSAPI_WORKING_SET_EX_INFORMATION{VirtualAddress: windows.Pointer(unsafe.Add(p,
				off+i*pageSize))}
		}
		err := windows.QueryWorkingSetEx(windows.CurrentProcess(), uintptr(unsafe.Pointer(pages)),
			uint32(uintptr(count)*unsafe.Sizeof(pages[0])))
		if err != nil {
			return err
		}
		state := func(i int) PageState {
			if pages[i].VirtualAttributes.Valid() {
				return PageResident
			}
			return 0
		}
		tellPages(count, state, func(page, n int, s PageState) { tell(off+page*pageSize, n*pageSize, s) })
		off += count * pageSize
	}
	return nil
}

func (osBackend) name(unsafe.Pointer, int, string) {}

func (osBackend) explain(op string, n int, err error) (detail string, sentinel error) {
	f, u := ReadFacts(), ReadUsage()
	switch {
	case errors.Is(err, windows.ERROR_COMMITMENT_LIMIT), errors.Is(err, windows.ERROR_NOT_ENOUGH_MEMORY) &&
		op != "reserve":
		detail := fmt.Sprintf("the system has promised %s of %s: enlarge the paging file or close other "+
			"programs",
			Bytes(u.CommitCharge), Bytes(f.CommitLimit))
		if f.ControlGroup > 0 {
			detail += fmt.Sprintf("; this process's job may have %s, and the process has %s",
				Bytes(f.ControlGroup), Bytes(u.Data))
		}
		return detail, ErrCommitCharge
	case errors.Is(err, windows.ERROR_PAGEFILE_QUOTA):
		return "the process's paging file quota is used up", ErrDataLimit
	case op == "reserve" && errors.As(err, new(windows.Errno)):
		// Windows returns one error code if the request exceeds the free addresses, and another if it exceeds
		// the whole address space. This case accepts every remaining error code.
		return fmt.Sprintf("%s of %s of addresses are taken: reserve less (a smaller capacity)",
			Bytes(u.AddressSpace), Bytes(f.AddressLimit)), ErrAddressSpace
	}
	return "", err
}

func (osBackend) reuses() bool { return true }
