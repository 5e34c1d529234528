package bulk

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

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
			t.Fatalf("%v: Append of element %d panics with %v", pages, n, e)
		}
		for name, f := range map[string]func() error{
			"Insert": func() error {
				return listsError(exhausted(func() {
					ls.Insert(&l, 0,
						record{})
				}))
			},
			"AppendSlice": func() error { _, err := ls.AppendSlice(&l, make([]record, 100_000)); return err },
			"Grow":        func() error { return ls.Grow(&l, 100_000) },
			"first Grow":  func() error { return ls.Grow(&second, 100_000) },
		} {
			if err := f(); !errors.Is(err, vm.ErrLimit) || l != before || !second.IsZero() ||
				len(ls.Slice(l)) != n || limit.Used() > used {
				t.Fatalf("%v: %s fails with %v; the list has %d elements, want %d; %d bytes are used, want "+
					"at most %d", pages, name, err, len(ls.Slice(l)), n, limit.Used(), used)
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
		if err := ls.Compact(each(l)); err != nil || limit.Used() > 4*minStep+8*vm.PageSize() {
			t.Errorf("%v: without lists, %d bytes are in use: %v", pages, limit.Used(), err)
		}
	}
}

func listsError(e *vm.Error) error {
	if e == nil {
		return nil
	}
	return e
}

func TestListsBudgetAndSizes(t *testing.T) {
	ls := newLists[record](t, Options{MaxBytes: 1 << 20, Name: "crews"})
	var l List[record]
	for _, n := range []int{1 << 20, math.MaxInt, math.MaxInt / 40, maxRoom,
		min(math.MaxUint32+1, math.MaxInt)} {
		err := ls.Grow(&l, n)
		if !errors.Is(err, vm.ErrLimit) || !strings.Contains(err.Error(), "raise Options.MaxBytes") ||
			!l.IsZero() {
			t.Errorf("Grow(%d): %v", n, err)
		}
	}
	ls.Append(&l, numbered(1))
	for _, n := range []int{1 << 20, math.MaxInt, maxRoom} {
		if err := ls.Grow(&l, n); !errors.Is(err, vm.ErrLimit) || len(ls.Slice(l)) != 1 {
			t.Errorf("Grow(%d) of a list: %v", n, err)
		}
	}
	if err := ls.Grow(&l, 20_000); err != nil {
		t.Errorf("Grow(20000) within the budget: %v", err)
	}
	ls.Free(&l)
	// Freed lists leave an empty slab in each class, which Grow must reclaim.
	var small [100]List[record]
	for i := range small {
		mustAppend(t, ls, &small[i], make([]record, 1+i))
	}
	for i := range small {
		ls.Free(&small[i])
	}
	if err := ls.Grow(&l, 26_000); err != nil {
		t.Errorf("Grow(26000) after other lists were freed: %v", err)
	}
	capacities := []int{math.MaxInt, math.MaxInt / 40, math.MaxInt / 100}
	if strconv.IntSize == 64 {
		capacities = append(capacities, math.MaxInt/330) // newPlan allows this, and vm.Reserve refuses it
	}
	for _, capacity := range capacities {
		if _, err := NewLists[record](Options{Capacity: capacity}); !errors.Is(err, vm.ErrSize) &&
			!errors.Is(err, vm.ErrAddressSpace) {
			t.Errorf("capacity %d: %v", capacity, err)
		}
	}
}

// TestListsWaste checks the bounds that the comment of Lists documents.
func TestListsWaste(t *testing.T) {
	checkListsWaste[uint32](t)
	checkListsWaste[record](t)
	checkListsWaste[[5]uint8](t)
	checkListsWaste[large](t)
}

func checkListsWaste[T any](t *testing.T) {
	ls := newLists[T](t, Options{Capacity: 40_000})
	size, unit := ls.cells.plan.sizeElement, 1<<ls.cells.shiftUnit
	for n := 1; n*size < 8*unit && n < 9000; n += 1 + n/50 {
		var exact, grown List[T]
		mustAppend(t, ls, &exact, make([]T, n))
		for range n {
			ls.Append(&grown, *new(T))
		}
		for name, l := range map[string]List[T]{"by AppendSlice": exact, "by Append": grown} {
			used, room := n*size, int(ls.cells.room(l.place))*size
			most := max(minCell, used+used/2+size)
			if used > unit/2 {
				most = used + used/2 + unit
			}
			if name == "by Append" && used <= doublingBytes {
				most = max(most, doublingBytes, 2*used)
			}
			if room < used || room > most {
				t.Errorf("a list (%s) of %d elements of %d bytes has room for %d bytes, want at most %d",
					name, n, size, room, most)
			}
		}
		ls.Free(&exact)
		ls.Free(&grown)
	}
	for _, k := range ls.cells.classes {
		bytes := int(k.units) * unit
		if cut := bytes - int(k.cells)*int(k.places)<<ls.cells.shiftPlace; cut > bytes/8 {
			t.Errorf("a slab of %d bytes has %d unused bytes behind its cells", bytes, cut)
		}
	}
}

func TestCompact(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	n := 60_000
	if !longtest.Enabled() || heapStandIn() || invariants.Enabled {
		n = 6000
	}
	ls := newLists[uint64](t, Options{Pages: vm.PagesSmall, Capacity: 100 * n})
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
	if err := ls.Compact(each(owners[:]...)); err != nil {
		t.Fatal(err)
	}
	ls.checkInvariants()
	for i, l := range owners {
		s := ls.Slice(l)
		if len(s) != sizes[i] {
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
	// A cell is at most one and a half times as large as its list needs. The slack is two slabs of each
	// class.
	slack := 0
	for _, k := range ls.cells.classes {
		slack += 2 * int(k.units) << ls.cells.shiftUnit
	}
	if most := s.BytesElements*3/2 + minCell*s.Lists + slack; s.BytesSlabs > most {
		t.Errorf("the elements have %d bytes together, and the slabs %d bytes, want at most %d",
			s.BytesElements, s.BytesSlabs, most)
	}
	most := s.Committed
	if n == 60_000 { // with fewer lists, chance decides how many long lists stay
		most = min(most, residentFull/2)
	}
	if !heapStandIn() && resident > most || s.Committed > full.Committed/2+4*minStep {
		t.Errorf("after Compact, %d of %d bytes are still resident, and %d of %d are still committed",
			resident, residentFull, s.Committed, full.Committed)
	}
	// Compact may leave a gap that is too short for a slab behind it. A marked stretch slides down into a
	// short gap, a slab does not.
	longest := uint32(0)
	for _, slab := range ls.cells.held() {
		longest = max(longest, slab.units)
	}
	if end, used := ls.cells.end(), uint(ls.cells.used.Count()); end > firstUnit+used+2*uint(longest) {
		t.Errorf("slabs and stretches use %d units, at most %d each, but end at unit %d", used, longest, end)
	}
	for i := range owners {
		ls.Append(&owners[i], 7)
	}
	ls.checkInvariants()
}

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
		t.Errorf("the memory has grown from %d to %d bytes, want growth by a quarter at most", committed,
			ls.Committed())
	}
	ls.Clear()
	if ls.Len() != 0 || modeltest.PanicText(func() { ls.Slice(owners[5]) }) == "" {
		t.Error("Clear leaves a list")
	}
	clear(owners)
	build()
	if ls.Committed() > committed+committed/4 {
		t.Errorf("after Clear the memory has grown from %d to %d bytes", committed, ls.Committed())
	}
}

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
	// Some bookkeeping is on Go's heap. With the build tag invariants, the checks leave garbage there.
	if more := int(after.HeapObjects) - int(before.HeapObjects); more > 200 {
		t.Errorf("%d lists have added %d objects to the heap, want at most 200", len(owners), more)
	}
	runtime.KeepAlive(owners)
}

func TestListsWithFailingMemory(t *testing.T) {
	calls := faulttest.EachCall(t, func() error {
		ls, err := NewLists[uint64](Options{Capacity: 400_000, Pages: vm.PagesSmall})
		if err != nil {
			return err
		}
		var owners [40]List[uint64]
		want := [40]int{}
		var joined error
		for round := range 12 {
			for i := range owners {
				if _, err := ls.AppendSlice(&owners[i], make([]uint64, i*round)); err != nil {
					joined = err
				} else {
					want[i] += i * round
				}
			}
		}
		joined = errors.Join(joined, ls.Grow(&owners[0], 60_000))
		for i := range owners[:30] {
			ls.Free(&owners[i])
			want[i] = 0
		}
		joined = errors.Join(joined, ls.Compact(each(owners[:]...)))
		ls.checkInvariants()
		for i, l := range owners {
			if len(ls.Slice(l)) != want[i] {
				t.Errorf("list %d has %d elements, want %d", i, len(ls.Slice(l)), want[i])
			}
		}
		if err := ls.Close(); err != nil {
			joined = errors.Join(joined, err)
			if err := ls.Close(); err != nil {
				t.Errorf("the second Close: %v", err)
			}
		}
		return joined
	})
	if calls < 8 && !heapStandIn() {
		t.Errorf("only %d memory calls were made to fail, want at least 8", calls)
	}
}
