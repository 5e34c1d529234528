package vast

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// exhausted checks that f panics with a *vm.Error or returns one, that the error wraps want, and that its
// text contains the given text.
func exhausted(t *testing.T, f func() error, want error, text string) {
	t.Helper()
	var err error
	if v := panicOf(func() { err = f() }); v != nil {
		err, _ = v.(error)
	}
	var e *vm.Error
	if !errors.As(err, &e) || !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
		t.Fatalf("got %v, want a *vm.Error that wraps %q and contains %q", err, want, text)
	}
}

func TestMaxEntities(t *testing.T) {
	w := NewWorld(Options{Name: "small", MaxEntities: 100})
	defer w.Close()
	c, d := anotherColumn[uint64](w), anotherColumn[uint64](w)
	a, b := w.Archetype(c), w.Archetype(d)
	for i := range 128 { // MaxEntities is rounded up to whole words of 64 slots
		*c.Get(a.New()) = uint64(i)
	}
	before := fmt.Sprint(w.Stats())
	for name, f := range map[string]func() error{
		"New":        func() error { a.New(); return nil },
		"NewN":       func() error { a.NewN(1, func(Run) { t.Error("fill is called") }); return nil },
		"Grow":       func() error { return a.Grow(1) },
		"New of b":   func() error { b.New(); return nil },
		"NewN of b":  func() error { b.NewN(200, nil); return nil },
		"Grow of b":  func() error { return b.Grow(64) },
		"Grow a lot": func() error { return b.Grow(math.MaxInt) },
	} {
		t.Run(name, func(t *testing.T) {
			exhausted(t, f, vm.ErrCapacity, "set a larger Options.MaxEntities")
		})
	}
	if after := fmt.Sprint(w.Stats()); after != before {
		t.Errorf("refusals changed the world:\n%s\nbefore:\n%s", after, before)
	}
	w.checkInvariants()
	es := entitiesOf(w.Query(c))
	for i, e := range es {
		if *c.Get(e) != uint64(i) {
			t.Fatalf("the component of entity %d is %d", i, *c.Get(e))
		}
	}
	for _, e := range es[:64] {
		w.Delete(e)
	}
	b.NewN(64, nil)
	exhausted(t, func() error { b.New(); return nil }, vm.ErrCapacity, "of the 128 slots")
	if w.Len() != 128 || a.Len() != 64 || b.Len() != 64 {
		t.Errorf("%d entities, %d of a and %d of b; want 128, 64 and 64", w.Len(), a.Len(), b.Len())
	}
	w.checkInvariants()
}

func TestRefusedInPart(t *testing.T) {
	limit := vm.NewLimit(1 << 30)
	w := NewWorld(Options{MaxEntities: 64 * 16, Limit: limit})
	defer w.Close()
	c, d, e := NewColumn[uint64](w), NewColumn[[3]byte](w), NewColumn[byte](w)
	a, b, hole := w.Archetype(c), w.Archetype(d), w.Archetype(e)
	for range 8 {
		a.NewN(64, nil)
		hole.NewN(64, nil)
	}
	w.DeleteAll(w.Query(e))
	used := limit.Used()
	exhausted(t, func() error { b.NewN(513, nil); return nil }, vm.ErrCapacity, "larger Options.MaxEntities")
	exhausted(t, func() error { return b.Grow(513) }, vm.ErrCapacity, "larger Options.MaxEntities")
	if w.Len() != 512 || b.Len() != 0 || w.Stats().Slots != 512 || len(b.extents) != 0 || w.frontier != 15 {
		t.Errorf("%d entities, %d slots, %d extents, frontier at word %d; want 512, 512, 0 and 15",
			w.Len(), w.Stats().Slots, len(b.extents), w.frontier)
	}
	if limit.Used() != used {
		t.Errorf("a refusal keeps %d bytes", limit.Used()-used)
	}
	w.checkInvariants()
	b.NewN(512, nil)
	if b.Len() != 512 || len(runsOf(w.Query(d))) != 8 {
		t.Errorf("%d entities in %d runs, want 512 in 8", b.Len(), len(runsOf(w.Query(d))))
	}
	w.checkInvariants()
}

func TestSharedLimit(t *testing.T) {
	for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesSmall, vm.PagesHeap} {
		t.Run(pages.String(), func(t *testing.T) { sharedLimit(t, pages) })
	}
}

func sharedLimit(t *testing.T, pages vm.Pages) {
	limit := vm.NewLimit(24 << 20)
	first := NewWorld(Options{Name: "first", Limit: limit, MaxEntities: 1 << 16, Pages: pages})
	second := NewWorld(Options{Name: "second", Limit: limit, MaxEntities: 1 << 16, Pages: pages})
	defer second.Close()
	defer first.Close()
	big := NewColumn[kilobyte](first)
	if err := big.Grow(1); err != nil {
		t.Fatal(err)
	}
	hog := first.Archetype(big)
	hog.NewN(16_000, nil) // two thirds of the limit
	small, large, late := NewColumn[uint64](second), anotherColumn[kilobyte](second),
		anotherColumn[kilobyte](second)
	a, tiny := second.Archetype(small, large), second.Archetype(small)
	var es []Entity
	for i := range 1000 {
		e := a.New()
		*small.Get(e) = uint64(i)
		large.Get(e)[999] = byte(i)
		es = append(es, e)
	}
	made := len(es)
	state := func() string { return fmt.Sprint(second.Stats(), limit.Used()) }
	before := state()
	for name, f := range map[string]func() error{
		"Grow": func() error { return a.Grow(40_000) },
		"NewN": func() error { a.NewN(40_000, func(Run) { t.Error("fill is called") }); return nil },
	} {
		for range 3 {
			exhausted(t, f, vm.ErrLimit, "raise the limit")
			if after := state(); after != before {
				t.Fatalf("%s: a refusal changed the world:\n%s\nbefore:\n%s", name, after, before)
			}
		}
	}
	second.checkInvariants()
	exhausted(t, func() error {
		for range 1 << 16 {
			e := a.New()
			*small.Get(e) = uint64(made)
			large.Get(e)[999] = byte(made)
			es = append(es, e)
			made++
		}
		return nil
	}, vm.ErrLimit, "raise the limit")
	if second.Len() != made || small.Len() != made || large.Len() != made || made < 2000 {
		t.Errorf("%d entities, %d small and %d large components; want %d of each, at least 2000",
			second.Len(), small.Len(), large.Len(), made)
	}
	second.checkInvariants()
	exhausted(t, func() error {
		for _, e := range es {
			late.Add(e, kilobyte{1})
		}
		return nil
	}, vm.ErrLimit, "raise the limit")
	exhausted(t, func() error { return late.Grow(1) }, vm.ErrLimit, "raise the limit")
	second.checkInvariants()
	if n := late.Len(); n == made || second.Len() != made {
		t.Errorf("%d components and %d entities at the limit, want less than %[3]d and %[3]d", n,
			second.Len(), made)
	}
	if limit.Used() > limit.Max() {
		t.Errorf("%d bytes used of %d", limit.Used(), limit.Max())
	}
	if !second.Delete(es[0]) || !second.Alive(es[1]) {
		t.Error("Delete fails at the limit")
	}
	a.New()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := a.Grow(4000); err != nil {
		t.Fatal(err)
	}
	a.NewN(4000, nil)
	tiny.NewN(4000, nil)
	for i, e := range es[1:] {
		if *small.Get(e) != uint64(i+1) || large.Get(e)[999] != byte(i+1) {
			t.Fatalf("the component of entity %d is %d", i+1, *small.Get(e))
		}
	}
	if late.Add(es[made-1], kilobyte{2})[0] != 2 {
		t.Error("Add wrote another value")
	}
	second.checkInvariants()
	second.Close()
	if limit.Used() != 0 {
		t.Errorf("%d bytes are charged to closed worlds", limit.Used())
	}
}

// hog returns a function leave, which takes all free memory of a limit except the given number of bytes. Each
// call of leave first gives back the memory that the previous call took.
func hog(t *testing.T, limit *vm.Limit) (leave func(bytes int)) {
	t.Helper()
	r, err := vm.Reserve(limit.Max(), vm.Options{Name: "hog", Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return func(bytes int) {
		t.Helper()
		if err := r.Decommit(0, r.Size()); err != nil {
			t.Fatal(err)
		}
		if n := limit.Max() - limit.Used() - bytes; n > 0 {
			if err := r.Commit(0, n); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestLimitWithoutQuarter checks that an archetype grows only by the words that it needs if the limit has no
// room for a quarter of the archetype's words. The growth by a quarter fails first and gives its memory back;
// the growth by the needed words uses this memory.
func TestLimitWithoutQuarter(t *testing.T) {
	limit := vm.NewLimit(64 << 20)
	leave := hog(t, limit)
	w := NewWorld(Options{MaxEntities: 1 << 14, Limit: limit, Pages: vm.PagesSmall})
	defer w.Close()
	const kib = 1 << 10
	c, d := anotherColumn[[kib]byte](w), anotherColumn[[kib]byte](w)
	a := w.Archetype(c, d)
	a.NewN(8192, nil)
	leave(0)
	exhausted(t, func() error {
		for range 1 << 14 {
			a.New()
		}
		return nil
	}, vm.ErrLimit, "raise the limit")
	n := a.Len()
	if n%64 != 0 || n == 1<<14 {
		t.Fatalf("%d entities at the limit, want a multiple of 64 below %d", n, 1<<14)
	}
	// The first column can grow by a quarter, but then only 48 KiB are left for the second column. The
	// archetype needs 64 KiB in each column.
	leave(n/4/64*64*kib + 48*kib)
	if err := a.Grow(1); err != nil {
		t.Fatal(err)
	}
	a.NewN(64, nil)
	if a.Len() != n+64 {
		t.Errorf("%d entities, want %d", a.Len(), n+64)
	}
	w.checkInvariants()
}

func TestLimitOfColumnGrow(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("too large for the heap stand-in")
	}
	limit := vm.NewLimit(512 << 20)
	leave := hog(t, limit)
	w := NewWorld(Options{MaxEntities: 1 << 22, Limit: limit, Pages: vm.PagesSmall})
	defer w.Close()
	c := NewColumn[[8]uint64](w)
	w.Archetype().NewN(1<<21, nil)
	leave(1 << 20)
	used := limit.Used()
	exhausted(t, func() error { return c.Grow(1) }, vm.ErrLimit, "raise the limit")
	if limit.Used() != used || c.Len() != 0 {
		t.Errorf("a refusal keeps %d bytes", limit.Used()-used)
	}
	leave(200 << 20)
	if err := c.Grow(1); err != nil {
		t.Fatal(err)
	}
	leave(0)
	for _, e := range entitiesOf(w.Query()) {
		if e.Slot()%1000 == 0 {
			c.Add(e, [8]uint64{1})
		}
	}
	if c.Len() != (1<<21+999)/1000 {
		t.Errorf("%d components, want %d", c.Len(), (1<<21+999)/1000)
	}
}

// TestLimitAtEveryStep runs a program under limits that grow from 0 bytes until three limits refuse nothing.
func TestLimitAtEveryStep(t *testing.T) {
	step := longtest.Pick(128<<10, 16<<10)
	enough := 0
	for max := 0; enough < 3; max += step {
		limit := vm.NewLimit(max)
		w := NewWorld(Options{MaxEntities: 1 << 14, Limit: limit})
		refused := 0
		try := func(f func()) {
			lens := fmt.Sprint(w.Len())
			if v := panicOf(f); v != nil {
				err, _ := v.(error)
				if !errors.Is(err, vm.ErrLimit) {
					t.Fatalf("limit %d: %v", max, v)
				}
				refused++
				if got := fmt.Sprint(w.Len()); got != lens {
					t.Fatalf("limit %d: a refusal left %s entities, want %s", max, got, lens)
				}
			}
			w.checkInvariants()
		}
		a, b, c := NewColumn[[100]byte](w), NewColumn[byte](w), NewColumn[[3]uint64](w)
		es := []Entity{}
		collect := func(r Run) {
			for i := range r.Len() {
				es = append(es, r.Entity(i))
			}
		}
		try(func() { es = append(es, w.Archetype(a, b, c).New()) })
		try(func() { w.Archetype(b).NewN(100, collect) })
		try(func() { w.Archetype(a, b).NewN(2000, collect) })
		for _, e := range es {
			if n := c.Len(); panicOf(func() { c.Add(e, [3]uint64{1, 2, 3}) }) != nil && c.Len() != n {
				t.Fatalf("limit %d: a refused Add changed the number of components", max)
			}
		}
		try(func() { w.Archetype(c).NewN(10_000, nil) })
		try(func() { w.Archetype(a, b, c).NewN(1000, nil) })
		if limit.Used() > max {
			t.Fatalf("limit %d: %d bytes used", max, limit.Used())
		}
		if refused == 0 {
			enough++
		}
		w.DeleteAll(w.Query())
		w.checkInvariants()
		if err := w.Close(); err != nil || limit.Used() != 0 {
			t.Fatalf("limit %d: Close: %v; %d bytes used after Close", max, err, limit.Used())
		}
	}
}
