package bulk

import (
	"iter"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
)

func mustAppend[T any](t testing.TB, ls *Lists[T], l *List[T], vs []T) []T {
	t.Helper()
	added, err := ls.AppendSlice(l, vs)
	if err != nil {
		t.Fatal(err)
	}
	return added
}

func newLists[T any](t testing.TB, o Options) *Lists[T] {
	t.Helper()
	ls, err := NewLists[T](o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ls.Close(); err != nil {
			t.Error(err)
		}
	})
	return ls
}

func each[T any](owners ...List[T]) iter.Seq[*List[T]] {
	return func(yield func(*List[T]) bool) {
		for i := range owners {
			if !yield(&owners[i]) {
				return
			}
		}
	}
}

func TestListsMisuse(t *testing.T) {
	type crew struct{ Names []string }
	ls := newLists[record](t, Options{Name: "crews", Capacity: 1000})
	other := newLists[record](t, Options{Name: "others", Capacity: 1000})
	var zero, l, foreign List[record]
	ls.Append(&l, numbered(1))
	other.Append(&foreign, numbered(2))
	if err := ls.Grow(&l, 2); err != nil {
		t.Fatal(err)
	}
	freed := l
	ls.Append(&freed, numbered(3)) // a copy of the List is valid until the list moves
	if len(ls.Slice(l)) != 2 || *ls.At(l, 1) != numbered(3) {
		t.Fatalf("after Append to a copy of the List, there are %d elements, want 2, or element 1 is wrong",
			len(ls.Slice(l)))
	}
	ls.Free(&freed)
	freed = l
	l = zero
	for range 2 * wordBits { // until l gets the freed cell
		if ls.Free(&l); ls.Grow(&l, 3) != nil || l.place == freed.place {
			break
		}
	}
	if l.place != freed.place {
		t.Fatalf("the list has the cell at %d, want the freed cell at %d", l.place, freed.place)
	}
	ls.Append(&l, numbered(4))
	outgrown := l
	mustAppend(t, ls, &l, make([]record, 100))
	ls.Truncate(l, 1)
	closed := newLists[record](t, Options{Name: "ships", Capacity: 1000})
	var lost List[record]
	closed.Append(&lost, record{})
	for range 2 {
		if err := closed.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	if closed.Len() != 0 || closed.Committed() != 0 || closed.Reserved() != 0 {
		t.Errorf("after Close there are %d lists, %d bytes committed and %d bytes reserved, want 0",
			closed.Len(), closed.Committed(), closed.Reserved())
	}
	if n, err := closed.Resident(); n != 0 || err != nil {
		t.Errorf("after Close %d bytes are resident: %v", n, err)
	}
	const afterFree = "a List of crews is used after Free or Clear"
	const afterClose = "ships is used after Close"
	for _, c := range []struct {
		name string
		f    func()
		want string
	}{
		{"pointers", func() { _, _ = NewLists[crew](Options{}) },
			"bulk: NewLists[crew]: crew.Names is a slice"},
		{"no size", func() { _, _ = NewLists[struct{}](Options{}) }, "no size"},
		{"capacity", func() { _, _ = NewLists[record](Options{Capacity: -1}) }, "Options.Capacity is -1"},
		{"At", func() { ls.At(l, 1) }, "At(1) on a list of crews of length 1"},
		{"At before", func() { ls.At(l, -1) }, "At(-1) on a list of crews"},
		{"At zero", func() { ls.At(zero, 0) }, "At(0) on a list of crews of length 0"},
		{"Insert", func() { ls.Insert(&l, 2, record{}) }, "Insert(2) into a list of crews of length 1"},
		{"Insert before", func() { ls.Insert(&l, math.MinInt, record{}) },
			"into a list of crews of length 1"},
		{"Remove", func() { ls.Remove(l, 1) },
			"element 1 cannot be removed from a list of crews of length 1"},
		{"RemoveSwap", func() { ls.RemoveSwap(zero, 0) },
			"element 0 cannot be removed from a list of crews of length 0"},
		{"Truncate", func() { ls.Truncate(l, 2) }, "Truncate(2) on a list of crews of length 1"},
		{"Grow", func() { _ = ls.Grow(&l, -1) }, "Grow(-1) on a list of crews"},
		{"freed Append", func() { ls.Append(&freed, record{}) }, afterFree},
		{"freed AppendSlice", func() { _, _ = ls.AppendSlice(&freed, nil) }, afterFree},
		{"freed Insert", func() { ls.Insert(&freed, 0, record{}) }, afterFree},
		{"freed Slice", func() { ls.Slice(freed) }, afterFree},
		{"freed At", func() { ls.At(freed, 0) }, afterFree},
		{"freed Remove", func() { ls.Remove(freed, 0) }, afterFree},
		{"freed RemoveSwap", func() { ls.RemoveSwap(freed, 0) }, afterFree},
		{"freed Truncate", func() { ls.Truncate(freed, 0) }, afterFree},
		{"freed Free", func() { ls.Free(&freed) }, afterFree},
		{"freed Grow", func() { _ = ls.Grow(&freed, 0) }, afterFree},
		{"outgrown Append", func() { ls.Append(&outgrown, record{}) },
			"or is a copy made before the list moved"},
		{"outgrown Compact", func() { _ = ls.Compact(each(outgrown)) }, afterFree},
		{"foreign Slice", func() { ls.Slice(foreign) }, "used in crews, but another Lists has made it"},
		{"foreign Append", func() { ls.Append(&foreign, record{}) }, "another Lists has made it"},
		{"closed Append", func() { closed.Append(&lost, record{}) }, afterClose},
		{"closed first Append", func() { closed.Append(&zero, record{}) }, afterClose},
		{"closed AppendSlice", func() { _, _ = closed.AppendSlice(&zero, make([]record, 1)) }, afterClose},
		{"closed Slice", func() { closed.Slice(lost) }, afterClose},
		{"closed Free", func() { closed.Free(&lost) }, afterClose},
		{"closed Clear", func() { closed.Clear() }, afterClose},
		{"closed Compact", func() { _ = closed.Compact(each(lost)) }, afterClose},
		{"closed Grow", func() { _ = closed.Grow(&zero, 1) }, afterClose},
		{"closed Valid", func() { closed.Valid(lost) }, afterClose},
		{"closed Stats", func() { closed.Stats() }, afterClose},
		{"closed All", func() {
			for range closed.All() {
			}
		}, afterClose},
	} {
		if got := modeltest.PanicText(c.f); !strings.Contains(got, c.want) {
			t.Errorf("%s: panic %q, want %q", c.name, got, c.want)
		}
	}
	added, err := ls.AppendSlice(&zero, nil)
	if !zero.IsZero() || len(ls.Slice(zero)) != 0 || ls.Valid(zero) || added != nil || err != nil {
		t.Error("the zero List is not empty")
	}
	ls.Truncate(zero, 0)
	ls.Free(&zero)
	if err := ls.Grow(&zero, 0); err != nil || !zero.IsZero() {
		t.Errorf("Grow(0) changes the zero List to %v: %v", zero, err)
	}
	if s := ls.Slice(l); len(s) != 1 || s[0] != numbered(4) || ls.Valid(freed) || ls.Valid(foreign) ||
		!ls.Valid(l) {
		t.Errorf("misuse changed a list: %v", s)
	}
}

func TestListsOfLists(t *testing.T) {
	type node struct {
		value    int
		children List[node]
	}
	ls := newLists[node](t, Options{Capacity: 50_000})
	var root List[node]
	for i := range 50 {
		child := ls.Append(&root, node{value: i})
		for j := range 20 {
			ls.Append(&child.children, node{value: i * j})
		}
	}
	owners := func(yield func(*List[node]) bool) {
		if !yield(&root) {
			return
		}
		children := ls.Slice(root)
		for i := range children {
			if !yield(&children[i].children) {
				return
			}
		}
	}
	if err := ls.Compact(owners); err != nil {
		t.Fatal(err)
	}
	for i, child := range ls.Slice(root) {
		for j, n := range ls.Slice(child.children) {
			if child.value != i || n.value != i*j || len(ls.Slice(child.children)) != 20 {
				t.Fatalf("child %d of %d is %d", j, i, n.value)
			}
		}
	}
	ls.checkInvariants()
}

func TestHugeList(t *testing.T) {
	n := 3_000_000
	if !longtest.Enabled() || heapStandIn() {
		n = 300_000
	}
	ls := newLists[uint32](t, Options{Capacity: 4 * n})
	var huge List[uint32]
	small := make([]List[uint32], n/1000)
	moves, at := 0, (*uint32)(nil)
	for i := range n {
		ls.Append(&huge, uint32(i))
		ls.Append(&small[i%len(small)], uint32(i))
		if p := ls.At(huge, 0); p != at {
			moves++
			at = p
		}
	}
	// Each move makes the room of a list larger by at least a quarter.
	if most := int(math.Log(float64(n))/math.Log(1.25)) + 2; moves > most {
		t.Errorf("a list of %d elements has moved %d times, want %d at most", n, moves, most)
	}
	for i, v := range ls.Slice(huge) {
		if v != uint32(i) {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	if room := int(ls.cells.room(huge.place)); room-n > n/4+largestUnit/4 {
		t.Errorf("a list of %d elements has room for %d", n, room)
	}
	before := ls.At(huge, 0)
	for i := range small {
		ls.Free(&small[i])
	}
	if err := ls.Grow(&huge, n/2); err != nil || len(ls.Slice(huge)) != n ||
		*ls.At(huge, n-1) != uint32(n-1) {
		t.Fatalf("Grow: %v", err)
	}
	if err := ls.Compact(func(yield func(*List[uint32]) bool) { yield(&huge) }); err != nil ||
		ls.At(huge, 0) == before {
		t.Errorf("Compact did not move the list (%v)", err)
	}
	for i, v := range ls.Slice(huge) {
		if v != uint32(i) {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	ls.checkInvariants()
}

func TestListGrowsInPlace(t *testing.T) {
	ls := newLists[record](t, Options{Capacity: 400_000})
	var l List[record]
	if err := ls.Grow(&l, 10_000); err != nil {
		t.Fatal(err)
	}
	first := ls.Append(&l, numbered(0))
	for i := 1; i < 200_000; i++ {
		ls.Append(&l, numbered(i))
	}
	if ls.At(l, 0) != first {
		t.Error("a list has moved although the memory behind it was free")
	}
}

func TestFreedListsArePoisoned(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("only with the build tag invariants")
	}
	ls := newLists[uint64](t, Options{Capacity: 1000})
	var l List[uint64]
	s := mustAppend(t, ls, &l, []uint64{1, 2, 3, 4})
	const poisoned = 0x0101010101010101 * uint64(invariants.PoisonByte)
	ls.RemoveSwap(l, 0)
	if s[0] != 4 || s[3] != poisoned {
		t.Errorf("after RemoveSwap: %x", s)
	}
	ls.Remove(l, 0)
	if s[0] != 2 || s[2] != poisoned {
		t.Errorf("after Remove: %x", s)
	}
	ls.Truncate(l, 1)
	if s[0] != 2 || s[1] != poisoned {
		t.Errorf("after Truncate: %x", s)
	}
	mustAppend(t, ls, &l, make([]uint64, 100))
	if s[0] != poisoned {
		t.Errorf("after the list has moved: %x", s)
	}
	s = ls.Slice(l)
	ls.Free(&l)
	if s[0] != poisoned || s[100] != poisoned {
		t.Errorf("after Free: %x", s)
	}
}

func TestPlacesOfLargeReservations(t *testing.T) {
	if heapStandIn() || strconv.IntSize == 32 {
		t.Skip("there are not enough addresses")
	}
	// The reservation has 2³⁸ bytes, and the number of a place has 32 bits. So a place (see the type cells)
	// must have at least 64 bytes.
	ls := newLists[uint64](t, Options{Capacity: int(min(int64(1)<<35, math.MaxInt))})
	var owners [3000]List[uint64]
	for round := range 3 {
		for i := range owners {
			for e := range i % 40 {
				ls.Append(&owners[i], uint64(i*e))
			}
		}
		ls.checkInvariants()
		for i := range owners {
			for e, v := range ls.Slice(owners[i]) {
				if v != uint64(i*e) {
					t.Fatalf("element %d of list %d is %d", e, i, v)
				}
			}
			if i%3 != round {
				ls.Free(&owners[i])
			} else {
				ls.Truncate(owners[i], 0)
			}
		}
		if err := ls.Compact(each(owners[:]...)); err != nil {
			t.Fatal(err)
		}
	}
	if k := ls.cells.classes[0]; ls.cells.shiftPlace < 6 || k.places != 1 {
		t.Errorf("a place has %d bytes, want at least 64, and the smallest cell has %d places, want 1",
			1<<ls.cells.shiftPlace, k.places)
	}
}
