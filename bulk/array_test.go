package bulk

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

func newArray[T any](t testing.TB, o Options) *Array[T] {
	t.Helper()
	a, err := NewArray[T](o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// many returns a number of elements that needs several steps of growth and several huge pages. The number is
// smaller in short runs and on the heap stand-in.
func many() int {
	if testing.Short() || heapStandIn() {
		return 300_000
	}
	return longtest.Pick(3_000_000, 10_000_000)
}

func TestPointersStayWhileArrayGrows(t *testing.T) {
	a := newArray[record](t, Options{})
	n := many()
	var pointers []*record
	first, err := a.AppendN(1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range first {
		first[i] = numbered(i)
		pointers = append(pointers, &first[i])
	}
	for i := len(first); i < n; i++ {
		a.Append(numbered(i))
	}
	for i, p := range pointers {
		if p != a.At(i) || *p != numbered(i) {
			t.Fatalf("element %d was appended at %p, which holds %v now; At returns %p", i, p, *p, a.At(i))
		}
	}
	for i, e := range a.Slice() {
		if e != numbered(i) {
			t.Fatalf("element %d of %d is %v", i, n, e)
		}
	}
}

func TestSliceIsReadBesideAppender(t *testing.T) {
	a := newArray[record](t, Options{})
	for i := range 1000 {
		a.Append(numbered(i))
	}
	s, done := a.Slice(), make(chan int)
	go func() {
		wrong := 0
		for range 200 {
			for i := range s {
				if s[i] != numbered(i) {
					wrong++
				}
			}
		}
		done <- wrong
	}()
	for i := 1000; i < 100_000; i++ {
		a.Append(numbered(i))
	}
	if wrong := <-done; wrong != 0 {
		t.Fatalf("%d elements changed under a reader", wrong)
	}
	if len(s) != 1000 || cap(s) != 1000 {
		t.Fatalf("the slice has length %d and capacity %d, want 1000: appending to it must copy", len(s),
			cap(s))
	}
}

func TestTruncateGivesMemoryBack(t *testing.T) {
	limit := vm.NewLimit(1 << 30)
	a := newArray[record](t, Options{Limit: limit, Pages: vm.PagesSmall, Capacity: 300_000})
	for i := range 300_000 {
		a.Append(numbered(i))
	}
	full := limit.Used()
	p := a.At(99)
	a.Truncate(100)
	if most := 100*40 + minStep + vm.PageSize(); limit.Used() > most {
		t.Errorf("100 elements keep %d of %d bytes, want %d at most", limit.Used(), full, most)
	}
	if *p != numbered(99) || a.Len() != 100 {
		t.Errorf("after Truncate(100), the length is %d and element 99 is %v", a.Len(), *p)
	}
	added, err := a.AppendN(10_000)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range added {
		if e != (record{}) {
			t.Fatalf("element %d added after Truncate is %v, want zero", i, e)
		}
	}
}

func TestArrayAsStackKeepsItsMemory(t *testing.T) {
	limit := vm.NewLimit(1 << 30)
	a := newArray[record](t, Options{Limit: limit, Capacity: 100_000})
	for i := range 50_000 {
		a.Append(numbered(i))
	}
	a.Truncate(49_999)
	used := limit.Used()
	for i := range 1000 {
		a.Append(numbered(i))
	}
	if limit.Used() != used {
		t.Errorf("appending 1000 elements changed the memory from %d to %d bytes", used, limit.Used())
	}
	for a.Len() > 49_999 {
		a.Truncate(a.Len() - 1)
	}
	if limit.Used() != used {
		t.Errorf("removing those elements one by one changed the memory to %d bytes", limit.Used())
	}
}

func TestArrayMisuse(t *testing.T) {
	type crew struct{ Name string }
	type ship struct {
		Hull [3]float32
		Crew [4]crew
	}
	open := newArray[record](t, Options{Name: "open"})
	open.Append(record{})
	closed := newArray[record](t, Options{Name: "ships"})
	closed.Append(record{})
	for range 2 {
		if err := closed.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	for _, c := range []struct {
		name string
		f    func()
		want string
	}{
		{"strings", func() { _, _ = NewArray[ship](Options{}) },
			"bulk: NewArray[ship]: ship.Crew[].Name is a string"},
		{"no size", func() { _, _ = NewArray[struct{}](Options{}) }, "no size"},
		{"capacity", func() { _, _ = NewArray[record](Options{Capacity: -1}) }, "Options.Capacity is -1"},
		{"budget", func() { _, _ = NewArray[record](Options{MaxBytes: -1}) }, "Options.MaxBytes is -1"},
		{"step", func() { _, _ = NewArray[record](Options{Step: -1}) }, "Options.Step is -1"},
		{"At beyond the end", func() { open.At(1) }, "At(1) on open of length 1"},
		{"At before the start", func() { open.At(-1) }, "At(-1) on open"},
		{"At overflow", func() { open.At(math.MinInt) }, "on open of length 1"},
		{"AppendN", func() { _, _ = open.AppendN(-1) }, "AppendN(-1) on open"},
		{"Grow", func() { _ = open.Grow(-1) }, "Grow(-1) on open"},
		{"Truncate longer", func() { open.Truncate(2) }, "Truncate(2) on open of length 1"},
		{"Truncate negative", func() { open.Truncate(-1) }, "Truncate(-1) on open"},
		{"closed Append", func() { closed.Append(record{}) }, "ships is used after Close"},
		{"closed AppendN", func() { _, _ = closed.AppendN(1) }, "ships is used after Close"},
		{"closed At", func() { closed.At(0) }, "ships is used after Close"},
		{"closed Slice", func() { closed.Slice() }, "ships is used after Close"},
		{"closed Grow", func() { _ = closed.Grow(1) }, "ships is used after Close"},
		{"closed Truncate", func() { closed.Truncate(0) }, "ships is used after Close"},
	} {
		if got := modeltest.PanicText(c.f); !strings.Contains(got, c.want) {
			t.Errorf("%s: panic %q, want %q", c.name, got, c.want)
		}
	}
	if open.Len() != 1 || closed.Len() != 0 {
		t.Errorf("the open array has length %d, want 1; the closed array has length %d, want 0", open.Len(),
			closed.Len())
	}
}

func TestArraySizesThatOverflow(t *testing.T) {
	for _, capacity := range []int{math.MaxInt, math.MaxInt / 40, math.MaxInt / 100} {
		if _, err := NewArray[record](Options{Capacity: capacity}); !errors.Is(err, vm.ErrSize) &&
			!errors.Is(err, vm.ErrAddressSpace) {
			t.Errorf("NewArray with capacity %d returns %v", capacity, err)
		}
	}
	a := newArray[record](t, Options{Capacity: 100})
	a.Append(numbered(1))
	for _, n := range []int{100, math.MaxInt, math.MaxInt / 40, math.MaxInt - 1} {
		if err := a.Grow(n); !errors.Is(err, vm.ErrCapacity) {
			t.Errorf("Grow(%d) returns %v, want ErrCapacity", n, err)
		}
		if s, err := a.AppendN(n); s != nil || !errors.Is(err, vm.ErrCapacity) {
			t.Errorf("AppendN(%d) returns %d elements and %v, want ErrCapacity", n, len(s), err)
		}
	}
	if a.Len() != 1 || *a.At(0) != numbered(1) {
		t.Errorf("after failures the array has %d elements, want 1 unchanged element", a.Len())
	}
	if s, err := a.AppendN(0); err != nil || len(s) != 0 {
		t.Errorf("AppendN(0): %v", err)
	}
	if err := a.Grow(99); err != nil {
		t.Errorf("Grow to the capacity: %v", err)
	}
}

func TestArrayBudget(t *testing.T) {
	a := newArray[record](t, Options{Name: "ships", MaxBytes: 1000})
	for i := range 25 {
		a.Append(numbered(i))
	}
	e := exhausted(func() { a.Append(record{}) })
	if e == nil || !errors.Is(e, vm.ErrLimit) || !strings.Contains(e.Error(), "Options.MaxBytes (1000 B)") ||
		e.Purpose != "ships" {
		t.Fatalf("Append beyond the budget panics with %v", e)
	}
	if a.Len() != 25 {
		t.Fatalf("%d elements after the failed Append, want 25", a.Len())
	}
	a.Truncate(24)
	if *a.Append(numbered(5)) != numbered(5) || a.Len() != 25 {
		t.Fatal("no room after Truncate")
	}
}

func TestNamesOfPurposes(t *testing.T) {
	_ = newArray[record](t, Options{})
	_ = newPool[record](t, Options{})
	found := map[string]int{}
	for _, p := range vm.Snapshot(false).Purposes {
		found[p.Purpose] = p.Regions
	}
	if found["bulk.Array[record]"] != 1 || found["bulk.Pool[record]"] != 1 {
		t.Errorf("regions by purpose: %v, want one of bulk.Array[record] and one of bulk.Pool[record]", found)
	}
}

func TestArrayMemory(t *testing.T) {
	a := newArray[record](t, Options{Capacity: 100_000})
	for i := range 50_000 {
		a.Append(numbered(i))
	}
	resident, err := a.Resident()
	if err != nil {
		t.Fatal(err)
	}
	if resident < 50_000*40 || a.Committed() < 50_000*40 || a.Reserved() < 100_000*40 ||
		a.Reserved() < a.Committed() {
		t.Errorf("%d bytes are resident, %d committed, %d reserved", resident, a.Committed(), a.Reserved())
	}
	a.Truncate(0)
	if a.Committed() >= 50_000*40 && !heapStandIn() {
		t.Errorf("an empty array has %d bytes committed", a.Committed())
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := a.Resident(); n != 0 || err != nil || a.Committed() != 0 || a.Reserved() != 0 {
		t.Errorf("a closed array has %d bytes in memory, %d committed, %d reserved: %v", n, a.Committed(),
			a.Reserved(), err)
	}
}
