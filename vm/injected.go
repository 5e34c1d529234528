package vm

import (
	"unsafe"

	"github.com/vastgo/vast/internal/fault"
)

// injected is a backend whose methods below fail when a test injects a failure. A failing commit, protect or
// populate does the first half of its work, as the contract of backend allows. Any other failing method does
// nothing.
//
// The methods mirror and unmirror of injected are in mirror.go. injected does not override reserve: the
// function reserveAddresses calls fault.Check, because the function may use the addresses of a closed region
// without a call of the backend.
type injected struct{ backend }

func (b injected) commit(p unsafe.Pointer, n int) error {
	if err := fault.Check("commit"); err != nil {
		if half := roundDown(n/2, pageSize); half > 0 {
			_ = b.backend.commit(p, half)
		}
		return err
	}
	return b.backend.commit(p, n)
}

func (b injected) decommit(p unsafe.Pointer, n int) (bare bool, err error) {
	if err := fault.Check("decommit"); err != nil {
		return false, err
	}
	return b.backend.decommit(p, n)
}

func (b injected) discard(p unsafe.Pointer, n int) error {
	if err := fault.Check("discard"); err != nil {
		return err
	}
	return b.backend.discard(p, n)
}

func (b injected) move(to, from unsafe.Pointer, n int) error {
	if err := fault.Check("move"); err != nil {
		return err
	}
	return b.backend.move(to, from, n)
}

func (b injected) reset(p unsafe.Pointer, n int) error {
	if err := fault.Check("reset"); err != nil {
		return err
	}
	return b.backend.reset(p, n)
}

func (b injected) protect(p unsafe.Pointer, n int, a Access) error {
	if err := fault.Check("protect"); err != nil {
		if half := roundDown(n/2, pageSize); half > 0 {
			_ = b.backend.protect(p, half, a)
		}
		return err
	}
	return b.backend.protect(p, n, a)
}

func (b injected) mapFile(p unsafe.Pointer, n int, file uintptr, offset int64) error {
	if err := fault.Check("map"); err != nil {
		return err
	}
	return b.backend.mapFile(p, n, file, offset)
}

func (b injected) populate(p unsafe.Pointer, n int) error {
	if err := fault.Check("populate"); err != nil {
		if half := roundDown(n/2, pageSize); half > 0 {
			_ = b.backend.populate(p, half)
		}
		return err
	}
	return b.backend.populate(p, n)
}

func (b injected) advise(p unsafe.Pointer, n int, huge bool) error {
	if err := fault.Check("advise"); err != nil {
		return err
	}
	return b.backend.advise(p, n, huge)
}

func (b injected) collapse(p unsafe.Pointer, n int) error {
	if err := fault.Check("collapse"); err != nil {
		return err
	}
	return b.backend.collapse(p, n)
}

func (b injected) resident(p unsafe.Pointer, n int) (int, error) {
	if err := fault.Check("resident"); err != nil {
		return 0, err
	}
	return b.backend.resident(p, n)
}

func (b injected) pages(p unsafe.Pointer, n int, tell func(off, n int, s PageState)) error {
	if err := fault.Check("pages"); err != nil {
		return err
	}
	return b.backend.pages(p, n, tell)
}
