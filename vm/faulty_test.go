package vm

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"
)

// faulty is a backend that fails on request and records its calls.
type faulty struct {
	heapBackend
	base  unsafe.Pointer
	fails map[string]error // keys: "commit 2" for ranges that begin at page 2, "commit" for all ranges
	bare  bool             // the first result of decommit: whether the range lost its name and advice
	calls []string
}

var errFaulty = errors.New("injected failure")

func (f *faulty) did(op string, p unsafe.Pointer, n int) error {
	page := (address(p) - address(f.base)) / PageSize()
	f.calls = append(f.calls, fmt.Sprintf("%s %d+%d", op, page, n/PageSize()))
	if err := f.fails[op]; err != nil {
		return err
	}
	return f.fails[fmt.Sprintf("%s %d", op, page)]
}

func (f *faulty) reserve(n, align int) (unsafe.Pointer, error) {
	if err := f.fails["reserve"]; err != nil {
		return nil, err
	}
	p, err := f.heapBackend.reserve(n, align)
	f.base = p
	return p, err
}

func (f *faulty) commit(p unsafe.Pointer, n int) error { return f.did("commit", p, n) }

func (f *faulty) decommit(p unsafe.Pointer, n int) (bool, error) {
	return f.bare, f.did("decommit", p, n)
}

func (f *faulty) discard(p unsafe.Pointer, n int) error { return f.did("discard", p, n) }

func (f *faulty) reset(p unsafe.Pointer, n int) error { return f.did("reset", p, n) }

func (f *faulty) advise(p unsafe.Pointer, n int, huge bool) error {
	return f.did(fmt.Sprintf("advise %v", huge), p, n)
}

func (f *faulty) name(p unsafe.Pointer, n int, name string) { _ = f.did(name, p, n) }

func (f *faulty) explain(_ string, _ int, err error) (string, error) { return "explained", err }

// openFaulty reserves 16 pages. The calls of the reservation are not recorded.
func openFaulty(t *testing.T, o Options) (*faulty, *Region, *Limit) {
	f := &faulty{fails: make(map[string]error)}
	o.Limit = NewLimit(1 << 20)
	r := open(t, f, 16*PageSize(), o)
	f.calls = nil
	t.Cleanup(func() { clear(f.fails) })
	return f, r, o.Limit
}

// state returns for example "4 5: 2-4 6-8": 4 pages are committed, 5 pages count against the limit, and the
// ranges [2, 4) and [6, 8) are committed.
func state(r *Region, l *Limit) string {
	s := fmt.Sprint(r.Committed()/PageSize(), " ", l.Used()/PageSize(), ":")
	for _, iv := range r.m.committed.of {
		s += fmt.Sprintf(" %d-%d", iv.lo/PageSize(), iv.hi/PageSize())
	}
	return s
}

func TestReserveFails(t *testing.T) {
	f := &faulty{fails: map[string]error{"reserve": errFaulty}}
	before := fmt.Sprint(Snapshot(false))
	_, err := reserveOn(f, 1, Options{Name: "ships"}, origin{})
	var e *Error
	if !errors.Is(err, errFaulty) || !errors.As(err, &e) ||
		*e != (Error{"reserve", "ships", PageSize(), errFaulty, "explained"}) {
		t.Errorf("got %+v", err)
	}
	if after := fmt.Sprint(Snapshot(false)); after != before {
		t.Errorf("a failed Reserve changed the counts from %s to %s", before, after)
	}
}

func TestCommitFailsMidway(t *testing.T) {
	p := PageSize()
	f, r, limit := openFaulty(t, Options{})
	must(t, r.Commit(2*p, 2*p))
	must(t, r.Commit(6*p, 2*p))
	f.calls = nil
	f.fails["commit 8"] = errFaulty
	var e *Error
	if err := r.Commit(0, 16*p); !errors.As(err, &e) || e.Bytes != 12*p || !errors.Is(err, errFaulty) {
		t.Errorf("got %v", err)
	}
	if got, want := state(r, limit), "4 4: 2-4 6-8"; got != want {
		t.Errorf("state %q, want %q", got, want)
	}
	want := []string{"commit 0+2", "commit 4+2", "commit 8+8", "decommit 0+2", "decommit 4+2", "decommit 8+8"}
	if !slices.Equal(f.calls, want) {
		t.Errorf("calls %q, want %q", f.calls, want)
	}
	clear(f.fails)
	must(t, r.Commit(0, 16*p))
	if got, want := state(r, limit), "16 16: 0-16"; got != want {
		t.Errorf("state %q, want %q", got, want)
	}
}

func TestDecommitFailsMidway(t *testing.T) {
	p := PageSize()
	f, r, limit := openFaulty(t, Options{})
	for _, page := range []int{1, 5, 9} {
		must(t, r.Commit(page*p, 2*p))
	}
	f.fails["decommit 5"] = errFaulty
	if err := r.Decommit(0, 16*p); !errors.Is(err, errFaulty) {
		t.Errorf("got %v", err)
	}
	if got, want := state(r, limit), "4 4: 5-7 9-11"; got != want {
		t.Errorf("state %q, want %q", got, want)
	}
}

func TestDiscardLosesPages(t *testing.T) {
	p := PageSize()
	f, r, limit := openFaulty(t, Options{})
	must(t, r.Commit(0, 8*p))
	f.fails["discard"] = errFaulty
	if err := r.Discard(2*p, 2*p); !errors.Is(err, errFaulty) || state(r, limit) != "8 8: 0-8" {
		t.Errorf("got %v, state %q", err, state(r, limit))
	}
	f.fails["discard"] = fmt.Errorf("%w: %w", errLost, errFaulty)
	if err := r.Discard(2*p, 2*p); !errors.Is(err, errFaulty) || state(r, limit) != "6 6: 0-2 4-8" {
		t.Errorf("got %v, state %q", err, state(r, limit))
	}
}

// TestBareRangesAreDressed: a decommit of the backend may remove the range's name and advice, for example in
// strict overcommit mode. Region.Decommit must restore them.
func TestBareRangesAreDressed(t *testing.T) {
	p := PageSize()
	for pages, want := range map[Pages][]string{
		PagesAuto:  {"decommit 2+2", "vast: ships 2+2"},
		PagesHuge:  {"decommit 2+2", "vast: ships 2+2", "advise true 2+2"},
		PagesSmall: {"decommit 2+2", "vast: ships 2+2", "advise false 2+2"},
	} {
		if pages == PagesAuto && HugeMode() == "always" {
			want = append(want, "advise false 2+2")
		}
		f, r, _ := openFaulty(t, Options{Name: "ships", Pages: pages})
		must(t, r.Commit(0, 8*p))
		f.calls, f.bare = nil, true
		must(t, r.Decommit(2*p, 2*p))
		if !slices.Equal(f.calls, want) {
			t.Errorf("%v: calls %q, want %q", pages, f.calls, want)
		}
	}
	f, r, _ := openFaulty(t, Options{Name: "ships"})
	r.m.dense.add(3*p, 12*p)
	must(t, r.Commit(0, 8*p))
	f.calls, f.bare = nil, true
	must(t, r.Decommit(2*p, 2*p))
	if last := f.calls[len(f.calls)-1]; last != "advise true 3+1" {
		t.Errorf("the last call is %q", last)
	}
}

// TestCloseAtTheMappingLimit: if the region cannot be reset, Close decommits the committed ranges one by one.
func TestCloseAtTheMappingLimit(t *testing.T) {
	p := PageSize()
	f, r, limit := openFaulty(t, Options{})
	must(t, r.Commit(p, 2*p))
	must(t, r.Commit(5*p, 2*p))
	f.calls = nil
	f.fails["reset"] = errFaulty
	f.fails["decommit 5"] = errFaulty
	var e *Error
	if err := r.Close(); !errors.As(err, &e) || e.Op != "close" || !errors.Is(err, errFaulty) {
		t.Errorf("got %v", err)
	}
	if got, want := state(r, limit), "2 2: 5-7"; got != want {
		t.Errorf("state %q, want %q", got, want)
	}
	must(t, r.Commit(0, p)) // the region is still open
	delete(f.fails, "decommit 5")
	must(t, r.Close())
	if got, want := state(r, limit), "0 0:"; got != want {
		t.Errorf("state %q, want %q", got, want)
	}
	want := []string{"reset 0+16", "decommit 1+2", "decommit 5+2", "commit 0+1", "reset 0+16", "decommit 0+1",
		"decommit 5+2", "reset 0+16"}
	if !slices.Equal(f.calls, want) {
		t.Errorf("calls %q, want %q", f.calls, want)
	}
}
