package bulk

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// newLists returns lists that are closed at the end of the test.
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

func TestListsMisuse(t *testing.T) {
	type crew struct{ Names []string }
	ls := newLists[record](t, Options{Name: "crews", Capacity: 1000})
	other := newLists[record](t, Options{Name: "others", Capacity: 1000})
	var zero, l, foreign List[record]
	ls.Append(&l, numbered(1))
	other.Append(&foreign, numbered(2))
	freed := l
	ls.Append(&freed, numbered(3)) // a copy is the same list
	if ls.Len(l) != 2 || *ls.At(l, 1) != numbered(3) {
		t.Fatalf("a copy of a List is another list: %d elements", ls.Len(l))
	}
	ls.Free(&freed)
	freed = l
	ls.Append(&zero, numbered(4)) // takes the slot and the cell
	l, zero = zero, List[record]{}
	if freed.slot != l.slot {
		t.Fatalf("slot %d is not taken again, but %d", freed.slot, l.slot)
	}
	closed := newLists[record](t, Options{Name: "ships", Capacity: 1000})
	var lost List[record]
	closed.Append(&lost, record{})
	for range 2 {
		if err := closed.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	if closed.Count() != 0 || closed.Committed() != 0 || closed.Reserved() != 0 {
		t.Errorf("after Close there are %d lists and %d bytes", closed.Count(), closed.Committed())
	}
	if n, err := closed.Resident(); n != 0 || err != nil {
		t.Errorf("after Close %d bytes are resident: %v", n, err)
	}
	const afterFree = "a List of crews is used after Free or Clear: keep one List, in its owner"
	const afterClose = "ships is used after Close"
	for _, c := range []struct {
		name string
		f    func()
		want string
	}{
		{"pointers", func() { _, _ = NewLists[crew](Options{}) }, "bulk: NewLists[crew]: crew.Names is a slice"},
		{"no size", func() { _, _ = NewLists[struct{}](Options{}) }, "no size"},
		{"capacity", func() { _, _ = NewLists[record](Options{Capacity: -1}) }, "Options.Capacity is -1"},
		{"At", func() { ls.At(l, 1) }, "At(1) on a list of crews of length 1"},
		{"At before", func() { ls.At(l, -1) }, "At(-1) on a list of crews"},
		{"At zero", func() { ls.At(zero, 0) }, "At(0) on a list of crews of length 0"},
		{"Insert", func() { ls.Insert(&l, 2, record{}) }, "Insert(2) into a list of crews of length 1"},
		{"Insert before", func() { ls.Insert(&l, math.MinInt, record{}) }, "into a list of crews of length 1"},
		{"Remove", func() { ls.Remove(l, 1) }, "element 1 is removed from a list of crews of length 1"},
		{"RemoveSwap", func() { ls.RemoveSwap(zero, 0) }, "element 0 is removed from a list of crews of length 0"},
		{"Truncate", func() { ls.Truncate(l, 2) }, "Truncate(2) on a list of crews of length 1"},
		{"Grow", func() { _ = ls.Grow(&l, -1) }, "Grow(-1) on a list of crews"},
		{"freed Append", func() { ls.Append(&freed, record{}) }, afterFree},
		{"freed AppendSlice", func() { ls.AppendSlice(&freed, nil) }, afterFree},
		{"freed Insert", func() { ls.Insert(&freed, 0, record{}) }, afterFree},
		{"freed Slice", func() { ls.Slice(freed) }, afterFree},
		{"freed At", func() { ls.At(freed, 0) }, afterFree},
		{"freed Len", func() { ls.Len(freed) }, afterFree},
		{"freed Remove", func() { ls.Remove(freed, 0) }, afterFree},
		{"freed RemoveSwap", func() { ls.RemoveSwap(freed, 0) }, afterFree},
		{"freed Truncate", func() { ls.Truncate(freed, 0) }, afterFree},
		{"freed Free", func() { ls.Free(&freed) }, afterFree},
		{"freed Grow", func() { _ = ls.Grow(&freed, 0) }, afterFree},
		{"foreign Slice", func() { ls.Slice(foreign) }, "used in crews, but another Lists has made it"},
		{"foreign Append", func() { ls.Append(&foreign, record{}) }, "another Lists has made it"},
		{"closed Append", func() { closed.Append(&lost, record{}) }, afterClose},
		{"closed first Append", func() { closed.Append(&zero, record{}) }, afterClose},
		{"closed AppendSlice", func() { closed.AppendSlice(&zero, make([]record, 1)) }, afterClose},
		{"closed Slice", func() { closed.Slice(lost) }, afterClose},
		{"closed Free", func() { closed.Free(&lost) }, afterClose},
		{"closed Clear", func() { closed.Clear() }, afterClose},
		{"closed Compact", func() { _ = closed.Compact() }, afterClose},
		{"closed Grow", func() { _ = closed.Grow(&zero, 1) }, afterClose},
		{"closed Valid", func() { closed.Valid(lost) }, afterClose},
		{"closed Stats", func() { closed.Stats() }, afterClose},
		{"closed All", func() {
			for range closed.All() {
			}
		}, afterClose},
	} {
		if got := panicText(c.f); !strings.Contains(got, c.want) {
			t.Errorf("%s: panic %q, want %q", c.name, got, c.want)
		}
	}
	if !zero.IsZero() || ls.Len(zero) != 0 || len(ls.Slice(zero)) != 0 || ls.Valid(zero) || ls.AppendSlice(&zero, nil) != nil {
		t.Error("the zero List is not an empty one")
	}
	ls.Truncate(zero, 0)
	ls.Free(&zero)
	if err := ls.Grow(&zero, 0); err != nil || !zero.IsZero() {
		t.Errorf("Grow(0) makes the zero List %v: %v", zero, err)
	}
	if s := ls.Slice(l); len(s) != 1 || s[0] != numbered(4) || ls.Valid(freed) || ls.Valid(foreign) || !ls.Valid(l) {
		t.Errorf("misuse changed a list: %v", s)
	}
}

// TestListsOfLists appends to lists whose Lists are elements of lists of the same container.
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
	if err := ls.Compact(); err != nil {
		t.Fatal(err)
	}
	for i, child := range ls.Slice(root) {
		for j, n := range ls.Slice(child.children) {
			if child.value != i || n.value != i*j || ls.Len(child.children) != 20 {
				t.Fatalf("child %d of %d is %d", j, i, n.value)
			}
		}
	}
	ls.checkInvariants()
}

// TestHugeList grows one list over several runs and others beside it, and looks at how often its elements move.
func TestHugeList(t *testing.T) {
	n := 3_000_000
	if testing.Short() || heapStandIn() {
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
	// A cell is a third larger than the one before, a run a quarter than the list.
	if most := int(math.Log(float64(n))/math.Log(1.25)) + 2; moves > most {
		t.Errorf("a list of %d elements has moved %d times, want %d at most", n, moves, most)
	}
	for i, v := range ls.Slice(huge) {
		if v != uint32(i) {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	if room := int(ls.find(huge).room); room-n > n/4+largestUnit/4 {
		t.Errorf("a list of %d elements has room for %d", n, room)
	}
	before := ls.At(huge, 0)
	for i := range small {
		ls.Free(&small[i])
	}
	if err := ls.Grow(&huge, n/2); err != nil || ls.Len(huge) != n || *ls.At(huge, n-1) != uint32(n-1) {
		t.Fatalf("Grow: %v", err)
	}
	if err := ls.Compact(); err != nil || ls.At(huge, 0) == before {
		t.Errorf("the list lies as high as before (%v)", err)
	}
	for i, v := range ls.Slice(huge) {
		if v != uint32(i) {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	ls.checkInvariants()
}

// TestListGrowsInPlace checks that a run grows where it lies while what follows is free.
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
		t.Error("a list that has all the memory to itself has moved")
	}
}

// TestListsExhaustion lets room end in the middle: the list is as it was, and goes on when room returns.
func TestListsExhaustion(t *testing.T) {
	for _, pages := range pageKinds {
		limit := vm.NewLimit(3 << 20)
		ballast := newArray[record](t, Options{Limit: limit, Pages: pages, Capacity: 30_000})
		if err := ballast.Grow(10_000); err != nil {
			t.Fatal(err)
		}
		ls := newLists[record](t, Options{Limit: limit, Pages: pages, Capacity: 250_000, Name: "crews"})
		var l, second List[record]
		n := 0
		var e *vm.Error
		for ; e == nil; n++ {
			e = exhausted(func() { ls.Append(&l, numbered(n)) })
		}
		n--
		used, before := limit.Used(), l
		if !errors.Is(e, vm.ErrLimit) || e.Purpose != "crews" || n < 1000 {
			t.Fatalf("%v: after %d elements: %v", pages, n, e)
		}
		for name, f := range map[string]func() error{
			"Insert":      func() error { return asError(exhausted(func() { ls.Insert(&l, 0, record{}) })) },
			"AppendSlice": func() error { return asError(exhausted(func() { ls.AppendSlice(&l, make([]record, 100_000)) })) },
			"Grow":        func() error { return ls.Grow(&l, 100_000) },
			"first Grow":  func() error { return ls.Grow(&second, 100_000) },
		} {
			if err := f(); !errors.Is(err, vm.ErrLimit) || l != before || !second.IsZero() || ls.Len(l) != n || limit.Used() > used {
				t.Fatalf("%v: %s changed something: %v, %d elements, %d bytes", pages, name, err, ls.Len(l), limit.Used())
			}
		}
		ls.checkInvariants()
		if err := ballast.Close(); err != nil {
			t.Fatal(err)
		}
		for i := n; i < n+100; i++ {
			ls.Append(&l, numbered(i))
		}
		for i, v := range ls.Slice(l) {
			if v != numbered(i) {
				t.Fatalf("%v: element %d is lost", pages, i)
			}
		}
		ls.Free(&l)
		if err := ls.Compact(); err != nil || limit.Used() > 4*minStep+8*vm.PageSize() {
			t.Errorf("%v: %d bytes are left of no lists: %v", pages, limit.Used(), err)
		}
	}
}

func asError(e *vm.Error) error {
	if e == nil {
		return nil
	}
	return e
}

func TestListsBudgetAndSizes(t *testing.T) {
	ls := newLists[record](t, Options{MaxBytes: 1 << 20, Name: "crews"})
	var l List[record]
	for _, n := range []int{1 << 20, math.MaxInt, math.MaxInt / 40, math.MaxUint32, math.MaxUint32 + 1} {
		err := ls.Grow(&l, n)
		if !errors.Is(err, vm.ErrLimit) || !strings.Contains(err.Error(), "raise Options.MaxBytes") || !l.IsZero() {
			t.Errorf("Grow(%d): %v", n, err)
		}
	}
	ls.Append(&l, numbered(1))
	for _, n := range []int{1 << 20, math.MaxInt, math.MaxUint32} {
		if err := ls.Grow(&l, n); !errors.Is(err, vm.ErrLimit) || ls.Len(l) != 1 {
			t.Errorf("Grow(%d) of a list: %v", n, err)
		}
	}
	if err := ls.Grow(&l, 20_000); err != nil {
		t.Errorf("Grow(20000) within the budget: %v", err)
	}
	ls.Free(&l)
	// Empty slabs, one a class, do not keep a list from all the memory.
	var small [100]List[record]
	for i := range small {
		ls.AppendSlice(&small[i], make([]record, 1+i))
	}
	for i := range small {
		ls.Free(&small[i])
	}
	if err := ls.Grow(&l, 26_000); err != nil {
		t.Errorf("Grow(26000) after other lists were freed: %v", err)
	}
	for _, capacity := range []int{math.MaxInt, math.MaxInt / 40, math.MaxInt / 330} {
		if _, err := NewLists[record](Options{Capacity: capacity}); !errors.Is(err, vm.ErrSize) && !errors.Is(err, vm.ErrAddressSpace) {
			t.Errorf("capacity %d: %v", capacity, err)
		}
	}
}

// TestListsWaste checks the documented bounds for lists of every size up to some runs, grown in three ways.
func TestListsWaste(t *testing.T) {
	checkListsWaste[uint32](t)
	checkListsWaste[record](t)
	checkListsWaste[[5]uint8](t)
	checkListsWaste[large](t)
}

func checkListsWaste[T any](t *testing.T) {
	ls := newLists[T](t, Options{Capacity: 40_000})
	size, unit := ls.plan.sizeElement, 1<<ls.cells.shiftUnit
	for n := 1; n*size < 8*unit && n < 9000; n += 1 + n/50 {
		var exact, grown List[T]
		ls.AppendSlice(&exact, make([]T, n))
		for range n {
			ls.Append(&grown, *new(T))
		}
		for name, l := range map[string]List[T]{"made": exact, "grown": grown} {
			used, room := n*size, int(ls.find(l).room)*size
			most := max(leastCell, used+used/2+size)
			if used > unit/2 {
				most = used + used/2 + unit
			}
			if name == "grown" && used <= cacheLine {
				most = max(most, cacheLine, 2*used)
			}
			if room < used || room > most {
				t.Errorf("a list %s of %d elements of %d bytes has room for %d, want %d at most", name, n, size, room, most)
			}
		}
		ls.Free(&exact)
		ls.Free(&grown)
	}
	for _, k := range ls.cells.classes {
		bytes := int(k.units) * unit
		if cut := bytes - int(k.cells)*int(k.places)<<ls.cells.shiftPlace; cut > bytes/8 {
			t.Errorf("of a slab of %d bytes %d are cut off", bytes, cut)
		}
	}
}

// TestCompact frees and shrinks at random and checks that what is left is as it was, in little memory.
func TestCompact(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	n := 60_000
	if testing.Short() || heapStandIn() || invariants.Enabled {
		n = 6000
	}
	ls := newLists[uint64](t, Options{Pages: vm.PagesSmall, Capacity: 40 * n})
	owners := make([]List[uint64], n)
	sizes := make([]int, n)
	for i := range owners {
		sizes[i] = int(r.ExpFloat64() * 12)
		if r.IntN(2000) == 0 {
			sizes[i] = 20_000
		}
		for e := range sizes[i] {
			ls.Append(&owners[i], uint64(i*e))
		}
	}
	full := ls.Stats()
	residentFull, err := ls.Resident()
	if err != nil {
		t.Fatal(err)
	}
	for i := range owners {
		switch r.IntN(10) {
		case 0:
		case 1:
			sizes[i] /= 3
			ls.Truncate(owners[i], sizes[i])
		default:
			sizes[i] = 0
			ls.Free(&owners[i])
		}
	}
	before := slices.Clone(owners)
	if err := ls.Compact(); err != nil {
		t.Fatal(err)
	}
	ls.checkInvariants()
	for i, l := range owners {
		s := ls.Slice(l)
		if l != before[i] || len(s) != sizes[i] {
			t.Fatalf("list %d has %d elements, want %d", i, len(s), sizes[i])
		}
		for e := range s {
			if s[e] != uint64(i*e) {
				t.Fatalf("element %d of list %d is %d", e, i, s[e])
			}
		}
	}
	s := ls.Stats()
	resident, err := ls.Resident()
	if err != nil {
		t.Fatal(err)
	}
	// Fitted cells are at most half as large again, and each class has one slab that is not full.
	slack := 0
	for _, k := range ls.cells.classes {
		slack += 2 * int(k.units) << ls.cells.shiftUnit
	}
	if most := s.BytesElements*3/2 + leastCell*s.Lists + slack; s.BytesSlabs > most {
		t.Errorf("slabs of %d bytes for elements of %d, want %d at most", s.BytesSlabs, s.BytesElements, most)
	}
	if !heapStandIn() && resident > residentFull/2 || s.Committed > full.Committed/2+4*minStep {
		t.Errorf("%d bytes resident of %d, %d committed of %d", resident, residentFull, s.Committed, full.Committed)
	}
	if end := ls.cells.end(); end != uint(ls.cells.used.Count()) {
		t.Errorf("%d units are used, but the last one is %d", ls.cells.used.Count(), end)
	}
	for i := range owners { // go on
		ls.Append(&owners[i], 7)
	}
	ls.checkInvariants()
}

// TestListsReuseWhatIsFreed builds and frees again and again: the memory must stay the same.
func TestListsReuseWhatIsFreed(t *testing.T) {
	ls := newLists[uint64](t, Options{Capacity: 200_000})
	owners := make([]List[uint64], 3000)
	build := func() {
		for i := range owners {
			for e := range i % 30 {
				ls.Append(&owners[i], uint64(e))
			}
		}
	}
	build()
	committed := ls.Committed()
	free := func() {
		for i := range owners {
			ls.Free(&owners[len(owners)-1-i])
		}
	}
	if n := testing.AllocsPerRun(5, func() { free(); build() }); n != 0 && !invariants.Enabled {
		t.Errorf("freeing and building allocates %v times", n)
	}
	if ls.Committed() > committed+committed/4 {
		t.Errorf("the memory has grown from %d to %d bytes", committed, ls.Committed())
	}
	ls.Clear()
	if ls.Count() != 0 || panicText(func() { ls.Slice(owners[5]) }) == "" {
		t.Error("Clear leaves a list")
	}
	clear(owners)
	build()
	if ls.Committed() > committed+committed/4 {
		t.Errorf("after Clear the memory has grown from %d to %d bytes", committed, ls.Committed())
	}
}

// TestListsAreNoWorkForTheCollector counts what a collection finds: lists must not add objects to Go's heap.
func TestListsAreNoWorkForTheCollector(t *testing.T) {
	ls := newLists[uint64](t, Options{Capacity: 400_000})
	owners := make([]List[uint64], 20_000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range owners {
		ls.Append(&owners[i], 1)
		ls.Append(&owners[i], 2)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	// Sets of slabs are on the heap, some a class; with the tag invariants the checks leave garbage behind.
	if more := int(after.HeapObjects) - int(before.HeapObjects); more > 200 {
		t.Errorf("%d lists have added %d objects to the heap", len(owners), more)
	}
	runtime.KeepAlive(owners)
}

// TestFreedListsArePoisoned looks through pointers that have gone bad.
func TestFreedListsArePoisoned(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("only with the build tag invariants")
	}
	ls := newLists[uint64](t, Options{Capacity: 1000})
	var l List[uint64]
	s := ls.AppendSlice(&l, []uint64{1, 2, 3, 4})
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
	ls.AppendSlice(&l, make([]uint64, 100))
	if s[0] != poisoned {
		t.Errorf("after the list has moved: %x", s)
	}
	s = ls.Slice(l)
	ls.Free(&l)
	if s[0] != poisoned || s[100] != poisoned {
		t.Errorf("after Free: %x", s)
	}
}

// TestListsWithFailingMemory makes each memory call fail in turn.
func TestListsWithFailingMemory(t *testing.T) {
	calls := faulttest.EachCall(t, func() error {
		ls, err := NewLists[uint64](Options{Capacity: 400_000, Pages: vm.PagesSmall})
		if err != nil {
			return err
		}
		var owners [40]List[uint64]
		want := [40]int{}
		var failed error
		for round := range 12 {
			for i := range owners {
				e := exhausted(func() { ls.AppendSlice(&owners[i], make([]uint64, i*round)) })
				if e != nil {
					failed = e
				} else {
					want[i] += i * round
				}
			}
		}
		failed = errors.Join(failed, ls.Grow(&owners[0], 60_000))
		for i := range owners[:30] {
			ls.Free(&owners[i])
			want[i] = 0
		}
		failed = errors.Join(failed, ls.Compact())
		ls.checkInvariants()
		for i, l := range owners {
			if ls.Len(l) != want[i] {
				t.Errorf("list %d has %d elements, want %d", i, ls.Len(l), want[i])
			}
		}
		if err := ls.Close(); err != nil {
			failed = errors.Join(failed, err)
			if err := ls.Close(); err != nil {
				t.Errorf("the second Close: %v", err)
			}
		}
		return failed
	})
	if calls < 8 && !heapStandIn() {
		t.Errorf("%d calls", calls)
	}
}
