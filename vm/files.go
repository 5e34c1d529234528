package vm

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/vastgo/vast/internal/mapped"
)

// Pages of files are committed pages whose contents come from a file: see package mapped. The system may drop
// a page of a file from memory if the program has not written to the page. The usual way to discard pages
// would bring back the bytes of the file instead of zeros. Therefore Discard, Decommit and MovePages make a
// new mapping of the range. If the system refuses this, Discard and Decommit fail, and MovePages clears the
// pages.

// files has the methods that package mapped calls.
type files struct{}

func init() { mapped.Regions = files{} }

func (files) Supported() error {
	switch {
	case heapByDefault:
		return fmt.Errorf("regions are Go heap memory here: %w", errors.ErrUnsupported)
	case pageSize != mapped.PageSize:
		return fmt.Errorf("pages have %s, and files can be mapped only in pages of %s: %w",
			Bytes(pageSize), Bytes(mapped.PageSize), errors.ErrUnsupported)
	case !mapsFiles:
		return fmt.Errorf("on %s files are read, not mapped: %w", runtime.GOOS, errors.ErrUnsupported)
	}
	return nil
}

// Map is described at mapped.Map. It maps nothing into regions on the Go heap, into mirrors, and into regions
// that have a watcher (see package written).
func (f files) Map(addr uintptr, n int, file uintptr, offset int64) (done bool, err error) {
	m := registry.find(addr)
	if f.Supported() != nil || m == nil || !m.be.reuses() {
		return false, nil
	}
	if _, twice := m.be.(mirrored); twice {
		return false, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.watcher != nil {
		return false, nil
	}
	return m.mapFile(int(addr-uintptr(m.base)), n, file, offset)
}

func (m *mapping) mapFile(off, n int, file uintptr, offset int64) (done bool, err error) {
	m.check("map", off, n)
	if (off|n)%pageSize != 0 || offset%int64(pageSize) != 0 || !m.committed.contains(off, off+n) {
		panic(fmt.Sprintf("vm: map(%d, %d) from byte %d of a file: the range must be whole committed pages "+
			"of %d bytes, and must begin at a page of the file (%s)",
			off, n, offset, pageSize, m.counted.purpose))
	}
	if n == 0 {
		return true, nil
	}
	if tooManyMappings(m.be, 2) != "" {
		return false, nil
	}
	iv := interval{off, off + n}
	err = m.be.mapFile(m.at(off), n, file, offset)
	if errors.Is(err, errLost) {
		m.afresh(iv)
		m.forget(iv)
		m.dress(iv)
		return false, m.failed("map", n, err)
	}
	if err != nil {
		return false, nil
	}
	m.borders -= m.bordersIn(iv.lo, iv.hi)
	m.moved.remove(iv.lo, iv.hi)
	m.moved.add(iv.lo, iv.hi)
	m.borders += m.bordersIn(iv.lo, iv.hi)
	m.files.add(iv.lo, iv.hi)
	m.recycling.spoilt = true
	m.recount()
	return true, nil
}

// afresh records a new mapping of a range: the range has no pages of files, and the kernel has joined the
// mapping with its neighbours.
func (m *mapping) afresh(iv interval) {
	m.rebordered(iv.lo, iv.hi, func() { m.moved.remove(iv.lo, iv.hi) })
	m.files.remove(iv.lo, iv.hi)
}

// discard is backend.discard, and also zeroes pages of files. It returns the errors of backend.discard.
func (m *mapping) discard(iv interval) error {
	if !m.files.overlaps(iv.lo, iv.hi) {
		return m.be.discard(m.at(iv.lo), iv.hi-iv.lo)
	}
	if err := m.be.reset(m.at(iv.lo), iv.hi-iv.lo); err != nil {
		return err
	}
	m.afresh(iv)
	if err := m.be.commit(m.at(iv.lo), iv.hi-iv.lo); err != nil {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return errBare
}
