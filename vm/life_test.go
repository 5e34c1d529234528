package vm_test

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/vm"
)

// TestRegionWithEachCallFailing runs the operations of a region and a span. It makes each memory call (see
// faulttest.EachCall) fail in turn, and repeats the failed operation.
func TestRegionWithEachCallFailing(t *testing.T) {
	for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesSmall, vm.PagesHuge} {
		refused, operations := 0, 0
		calls := faulttest.EachCall(t, func() error {
			n, met := liveRegion(t, pages)
			operations = n
			if met != nil {
				refused++
			}
			return met
		})
		t.Logf("%v pages: %d operations, %d calls; %d of the calls make an operation fail", pages, operations,
			calls, refused)
		least := 20
		switch {
		case vm.HeapStandIn():
			least = 2
		case pages == vm.PagesAuto:
			least = 18 // PagesAuto makes up to two calls fewer, depending on the mode of huge pages
		}
		if calls < least || refused == 0 {
			t.Errorf("%v pages: %d calls, want at least %d; %d of them make an operation fail, want some",
				pages, calls, least, refused)
		}
	}
}

func liveRegion(t *testing.T, pages vm.Pages) (operations int, met error) {
	p := vm.PageSize()
	size := 64 * p
	if huge := vm.HugePageSize(); huge > 0 {
		size = 2 * huge
	}
	limit := vm.NewLimit(4 * size)
	var r *vm.Region
	committed := 0            // expected number of committed bytes
	written := map[int]byte{} // expected bytes by offset
	check := func() {
		if r == nil {
			return
		}
		if r.Committed() != committed || limit.Used() != committed {
			t.Errorf("%d bytes committed, %d used, want %d of each", r.Committed(), limit.Used(), committed)
		}
		b := unsafe.Slice((*byte)(r.Base()), r.Size())
		for off, v := range written {
			if b[off] != v {
				t.Errorf("byte %d is %d, want %d", off, b[off], v)
			}
		}
	}
	do := func(what string, more int, op func() error) {
		t.Helper()
		operations++
		met = errors.Join(met, faulttest.Again(t, what, op, check))
		committed += more
		check()
	}
	write := func(off int, v byte) {
		*(*byte)(unsafe.Add(r.Base(), off)) = v
		written[off] = v
	}
	do("Reserve", 0, func() (err error) {
		r, err = vm.Reserve(size, vm.Options{Pages: pages, Limit: limit, Name: "faults"})
		return err
	})
	do("Commit", 4*p, func() error { return r.Commit(4*p, 4*p) })
	write(4*p, 1)
	write(7*p, 2)
	do("Commit over gaps", size/2-4*p, func() error { return r.Commit(0, size/2) })
	write(0, 3)
	write(size/2-p, 4)
	do("Huge", 0, func() error { return r.Huge(0, size) })
	do("Protect", 0, func() error { return r.Protect(p, p, vm.ReadOnly) })
	do("Protect back", 0, func() error { return r.Protect(p, p, vm.ReadWrite) })
	do("Populate", 0, func() error {
		if err := r.Populate(0, 8*p); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		return nil
	})
	do("Collapse", 0, func() error { return r.Collapse(0, size/2) })
	do("Resident", 0, func() error { _, err := r.Resident(); return err })
	do("Pages", 0, func() error { _, err := r.Pages(0, size, nil); return err })
	delete(written, 7*p)
	do("Discard", 0, func() error { return r.Discard(7*p, p) })
	written[7*p] = 0
	check()
	delete(written, size/2-p)
	do("Decommit", -2*p, func() error { return r.Decommit(size/2-2*p, 2*p) })
	do("Commit again", 2*p, func() error { return r.Commit(size/2-2*p, 2*p) })
	written[size/2-p] = 0
	check()
	write(2*p, 9)
	do("MovePages", 0, func() error {
		err := r.MovePages(r, size-8*p, 0, 4*p)
		if err == nil {
			for _, off := range []int{0, 2 * p} {
				written[size-8*p+off] = written[off]
				delete(written, off)
			}
		}
		return err
	})

	span, err := r.Carve(size/4, 0)
	if err != nil {
		t.Fatal(err)
	}
	committed = r.Committed()
	do("Span.CommitTo", 0, func() error {
		err := span.CommitTo(size/4, p)
		if err == nil {
			committed = r.Committed()
		}
		return err
	})
	do("Span.Discard", 0, func() error { return span.Discard(8*p, p) })
	for off := range written {
		if off < size/4 {
			delete(written, off)
		}
	}
	do("Span.DecommitTo", 0, func() error {
		err := span.DecommitTo(0)
		if err == nil {
			committed = r.Committed()
		}
		return err
	})
	do("Close", 0, func() error {
		err := r.Close()
		if err == nil {
			r = nil
		}
		return err
	})
	if limit.Used() != 0 {
		t.Errorf("%d bytes are used after Close", limit.Used())
	}
	return operations, met
}

// TestMirrorWithEachCallFailing makes and closes two mirrors. It makes each memory call fail in turn, and
// repeats the failed operation.
func TestMirrorWithEachCallFailing(t *testing.T) {
	for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesHeap} {
		calls := faulttest.EachCall(t, func() (met error) {
			limit := vm.NewLimit(1 << 24)
			none := func() {
				if limit.Used() != 0 {
					t.Errorf("%d bytes are used by closed regions", limit.Used())
				}
			}
			for round := range 2 { // the second mirror may get the addresses of the first mirror
				var m *vm.Mirror
				met = errors.Join(met, faulttest.Again(t, "ReserveMirror", func() (err error) {
					m, err = vm.ReserveMirror(100, vm.Options{Pages: pages, Limit: limit, Name: "faults"})
					return err
				}, none))
				b := unsafe.Slice((*byte)(m.Base()), 2*m.Size())
				if b[1] != 0 || b[m.Size()+1] != 0 {
					t.Errorf("round %d: the first bytes are %d and %d", round, b[1], b[m.Size()+1])
				}
				b[1] = 5
				m.Written(1, 1)
				same := func() {
					if b[m.Size()+1] != 5 || limit.Used() == 0 {
						t.Errorf("the other half holds %d, want 5; %d bytes are used, want more than 0",
							b[m.Size()+1], limit.Used())
					}
				}
				met = errors.Join(met, faulttest.Again(t, "Resident",
					func() error { _, err := m.Resident(); return err }, same),
					faulttest.Again(t, "Close", m.Close, same))
				none()
			}
			return met
		})
		t.Logf("%v pages: %d calls", pages, calls)
		if calls < 4 {
			t.Errorf("%v pages: %d calls, want at least 4", pages, calls)
		}
	}
}

func TestFailedCommitKeepsCount(t *testing.T) {
	p := vm.PageSize()
	calls := faulttest.EachCall(t, func() error {
		r, err := vm.Reserve(64*p, vm.Options{Name: "faults"})
		if err != nil {
			return err
		}
		defer func() {
			if r.Close() == nil {
				return
			}
			if err := r.Close(); err != nil {
				t.Errorf("the second Close fails: %v", err)
			}
		}()
		for i := range 8 {
			if err := r.Commit(8*i*p, p); err != nil {
				return err
			}
		}
		before := fmt.Sprint(r.Committed())
		err = r.Commit(0, 64*p)
		if after := fmt.Sprint(r.Committed()); err != nil && after != before {
			t.Errorf("%s bytes are committed after the error %v, want %s as before", after, err, before)
		}
		return err
	})
	if calls < 17 {
		t.Errorf("%d calls, want at least 17", calls)
	}
}
