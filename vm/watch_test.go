package vm

import (
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/fault"
	"github.com/vastgo/vast/internal/written"
)

// notes is a watcher that records the reported pages.
type notes struct {
	r      *Region
	heard  intervals // page numbers
	closed bool
}

func (n *notes) Altered(lo, hi uintptr) {
	base := uintptr(n.r.Base())
	n.heard.add(int(lo-base)/pageSize, int(hi-base)/pageSize)
}

func (n *notes) Closing() { n.closed = true }

func watched(t *testing.T, b backend, o Options) (*Region, *notes) {
	r := open(t, b, 16*pageSize, o)
	n := &notes{r: r}
	w := watchable{r.m}
	w.Lock()
	defer w.Unlock()
	if !w.SetWatcher(n) {
		t.Fatal("the region cannot be watched")
	}
	return r, n
}

func TestWatcher(t *testing.T) {
	p := PageSize()
	eachBackend(t, func(t *testing.T, b backend) {
		r, n := watched(t, b, Options{})
		expect := func(what string, want ...interval) {
			t.Helper()
			if !slices.Equal(n.heard.of, want) {
				t.Errorf("%s: reported pages %v, want %v", what, n.heard.of, want)
			}
			n.heard = intervals{}
		}
		must(t, r.Commit(2*p, 2*p))
		expect("commit", interval{2, 4})
		must(t, r.Commit(0, 8*p))
		expect("commit around committed pages", interval{0, 2}, interval{4, 8})
		must(t, r.Commit(3*p, 3*p))
		must(t, r.Protect(3*p, p, ReadOnly))
		must(t, r.Protect(3*p, p, ReadWrite))
		must(t, populate(r, 0, 8*p))
		expect("commit, protect and populate committed pages")
		must(t, r.Discard(p, 2*p))
		expect("discard", interval{1, 3})
		must(t, r.Decommit(5*p, p))
		must(t, r.Commit(0, 8*p))
		expect("decommit and commit", interval{5, 6})
		must(t, r.MovePages(r, 10*p, 6*p, 2*p))
		if !n.heard.contains(10, 12) {
			t.Errorf("move: reported pages %v, want pages 10 and 11 among them", n.heard.of)
		}
		n.heard = intervals{}
		other, otherNotes := watched(t, b, Options{})
		must(t, r.MovePages(other, 3*p, 10*p, 2*p))
		if !otherNotes.heard.contains(3, 5) {
			t.Errorf("move from another region: reported pages %v, want pages 3 and 4 among them",
				otherNotes.heard.of)
		}
		n.heard = intervals{}
		s, err := r.Carve(4*p, 0)
		must(t, err)
		must(t, r.Decommit(0, 8*p))
		must(t, s.CommitTo(1, p))
		expect("decommit, and commit a span", interval{0, 1})

		must(t, r.Close())
		if w := (watchable{r.m}); !n.closed || r.m.watcher != nil || w.SetWatcher(n) {
			t.Error("a closed region has a watcher or accepts one")
		}
	})
}

// TestWatcherOfFailedMove: a failed move also reports its pages, because undoing the move changes the mapping
// of the pages.
func TestWatcherOfFailedMove(t *testing.T) {
	p := PageSize()
	b := injected{onlyOS(t)}
	r, n := watched(t, b, Options{})
	to, _ := watched(t, b, Options{})
	must(t, r.Commit(0, 8*p))
	n.heard = intervals{}
	stop := fault.Inject(func(op string) error {
		if op == "move" || op == "commit" {
			return errFaulty
		}
		return nil
	})
	err := r.MovePages(to, 0, 0, 4*p)
	if stop(); err == nil {
		t.Fatal("MovePages returned no error")
	}
	if !n.heard.contains(0, 4) {
		t.Errorf("reported pages %v, want pages 0 to 3 among them", n.heard.of)
	}
}

func TestWatchable(t *testing.T) {
	find := watches{}.Watchable
	b := onlyOS(t)
	r := open(t, b, 4*pageSize, Options{})
	must(t, r.Commit(pageSize, 2*pageSize))
	base := uintptr(r.Base())
	w := find(base + 4*uintptr(pageSize) - 1)
	if w == nil || find(base-1) == w || find(base+4*uintptr(pageSize)) == w {
		t.Fatal("Watchable does not find a region by its last address, or finds it by an address outside")
	}
	w.Lock()
	if got, want := w.Addresses(), (written.Range{Lo: base, Hi: base + 4*uintptr(pageSize)}); got != want {
		t.Errorf("addresses %v, want %v", got, want)
	}
	want := written.Range{Lo: base + uintptr(pageSize), Hi: base + 3*uintptr(pageSize)}
	if got := w.Committed(nil); len(got) != 1 || got[0] != want {
		t.Errorf("the committed ranges are %v, want one range %v", got, want)
	}
	n := &notes{r: r}
	if !w.SetWatcher(n) || w.SetWatcher(n) || !w.SetWatcher(nil) || !w.SetWatcher(n) {
		t.Error("SetWatcher replaced a watcher, or refused a region without a watcher")
	}
	w.Unlock()
	if heap := open(t, heapBackend{}, pageSize, Options{}); find(uintptr(heap.Base())) != nil {
		t.Error("Go heap memory is watchable")
	}
	m, err := mirrorOn(b, pageSize, Options{Name: t.Name()}, origin{})
	must(t, err)
	if find(uintptr(m.Base())) != nil && m.Refused() == nil {
		t.Error("a mirror is watchable")
	}
	must(t, m.Close())
	if got := (watches{}).HeapStandIn(); got != HeapStandIn() {
		t.Errorf("watches.HeapStandIn returns %v, vm.HeapStandIn returns %v", got, HeapStandIn())
	}
}
