package bulk

import (
	"errors"
	"testing"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

func newPool[T any](t testing.TB, o Options) *Pool[T] {
	t.Helper()
	p, err := NewPool[T](o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestPointersStayWhilePoolChanges(t *testing.T) {
	n := many()
	if invariants.Enabled {
		n = 300_000 // the checks take time for each slot
	}
	p := newPool[record](t, Options{})
	handles := make([]Handle[record], n)
	pointers := make([]*record, 1000)
	for i := range handles {
		h, e := p.Insert(numbered(i))
		handles[i] = h
		if i < len(pointers) {
			pointers[i] = e
		}
	}
	for i := len(pointers); i < n; i += 3 {
		if !p.Remove(handles[i]) {
			t.Fatalf("element %d cannot be removed", i)
		}
	}
	for i, e := range pointers {
		if p.Get(handles[i]) != e || *e != numbered(i) {
			t.Fatalf("element %d was at %p with the value %v and is at %p now", i, e, *e, p.Get(handles[i]))
		}
	}
	for i, h := range handles {
		if e := p.Get(h); i >= len(pointers) && i%3 == len(pointers)%3 {
			if e != nil {
				t.Fatalf("element %d was removed and is still found", i)
			}
		} else if e == nil || *e != numbered(i) {
			t.Fatalf("element %d is %v", i, e)
		}
	}
	p.checkInvariants()
}

func TestGrowToWhatIsFree(t *testing.T) {
	p := newPool[record](t, Options{})
	p.Insert(numbered(1))
	free, committed := int(p.room)-1, p.Committed()
	if err := p.Grow(free); err != nil || p.Committed() != committed {
		t.Errorf("%d slots are free, and Grow takes %d bytes: %v", free, p.Committed()-committed, err)
	}
	if err := p.Grow(free + 1); err != nil || int(p.room) <= free+1 || p.Committed() <= committed {
		t.Errorf("Grow(%d) takes %d bytes and makes room for %d elements: %v", free+1,
			p.Committed()-committed, p.room, err)
	}
}

// TestWordsAreRenewed checks that the 64 slots of a word, once all are free, continue at the largest count
// among them. If a slot would skip maxSkipped counts or more, each slot continues at its own count.
func TestWordsAreRenewed(t *testing.T) {
	for again, want := range map[int]uint32{0: 2, 1: 3, maxSkipped - 1: maxSkipped + 1, maxSkipped: 2} {
		p := newPool[record](t, Options{Capacity: 64})
		first, _ := p.Insert(numbered(0))
		for p.Len() < 64 {
			p.Insert(numbered(1))
		}
		for range again {
			p.Remove(first)
			first, _ = p.Insert(numbered(0))
		}
		p.Clear(nil)
		p.Insert(numbered(0))
		if h, _ := p.Insert(numbered(1)); h.Slot() != 1 || h.Generation() != want {
			t.Errorf("the first slot was taken again %d times; then slot %d has count %d, want slot 1 with "+
				"count %d", again, h.Slot(), h.Generation(), want)
		}
	}
}

func TestPoolAtEachLimit(t *testing.T) {
	if heapStandIn() {
		t.Skip("the heap stand-in takes all memory of a region when it reserves the region")
	}
	for _, n := range []int{1, 5000, 70_000} {
		refused, most := 0, 400
		for pages := 0; pages <= most; pages++ {
			limit := vm.NewLimit(max(1, pages*vm.PageSize()))
			p := newPool[uint8](t, Options{Limit: limit, Pages: vm.PagesSmall})
			err := p.Grow(n)
			switch {
			case err == nil && int(p.room) < n:
				t.Fatalf("%d pages: Grow(%d) made room for %d", pages, n, p.room)
			case err == nil:
				most = min(most, pages+3)
			case !errors.Is(err, vm.ErrLimit) || p.Committed() != 0 || limit.Used() != 0 || p.room != 0:
				t.Fatalf("%d pages: Grow(%d) fails with %v; %d bytes are committed, the limit counts %d, "+
					"and there is room for %d", pages, n, err, p.Committed(), limit.Used(), p.room)
			default:
				refused++
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if refused < 4 || most == 400 {
			t.Errorf("Grow(%d) was refused under %d limits, want at least 4, and must succeed within 400 "+
				"pages", n, refused)
		}
	}
}

func TestSizesOfGenerations(t *testing.T) {
	for slots, want := range map[int][3]int{0: {4, 16, 4}, 1: {4, 16, 4}, 64: {4, 16, 256}, 65: {8, 32, 260},
		128: {8, 32, 512}} {
		if got := sizesGenerations(slots); got != want {
			t.Errorf("%d slots take %v bytes, want %v", slots, got, want)
		}
	}
}
