package vast

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/vastgo/vast/vm"
)

// exhausted checks that f fails by panic or error with a *vm.Error that wraps want and says how to go on.
func exhausted(t *testing.T, f func() error, want error, says string) {
	t.Helper()
	var err error
	if v := panicOf(func() { err = f() }); v != nil {
		err, _ = v.(error)
	}
	var e *vm.Error
	if !errors.As(err, &e) || !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
		t.Fatalf("want %q, saying %q, got %v", want, says, err)
	}
}

func TestMaxEntities(t *testing.T) {
	w := NewWorld(Options{Name: "small", MaxEntities: 100})
	defer w.Close()
	c, d := NewColumn[uint64](w), NewColumn[uint64](w)
	a, b := w.Archetype(c), w.Archetype(d)
	for i := range 128 { // whole words
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
		t.Run(name, func(t *testing.T) { exhausted(t, f, vm.ErrCapacity, "set a larger Options.MaxEntities") })
	}
	if after := fmt.Sprint(w.Stats()); after != before {
		t.Errorf("refusals changed the world:\n%s\n%s", before, after)
	}
	w.checkInvariants()
	es := entitiesOf(w.Query(c))
	for i, e := range es {
		if *c.Get(e) != uint64(i) {
			t.Fatalf("entity %d is %d", i, *c.Get(e))
		}
	}
	// One word emptied is room for 64 of the other kind, and no more.
	for _, e := range es[:64] {
		w.Delete(e)
	}
	b.NewN(64, nil)
	exhausted(t, func() error { b.New(); return nil }, vm.ErrCapacity, "all 128 slots")
	if w.Len() != 128 || a.Len() != 64 || b.Len() != 64 {
		t.Errorf("%d entities: %d and %d", w.Len(), a.Len(), b.Len())
	}
	w.checkInvariants()
}

// TestRefusedInPart: where there is room for some of the entities, but not for all, none are made.
func TestRefusedInPart(t *testing.T) {
	limit := vm.NewLimit(1 << 30)
	w := NewWorld(Options{MaxEntities: 64 * 16, Limit: limit})
	defer w.Close()
	c, d, e := NewColumn[uint64](w), NewColumn[[5]byte](w), NewColumn[byte](w)
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
		t.Errorf("%d entities, %d slots, %d extents, frontier at word %d", w.Len(), w.Stats().Slots, len(b.extents), w.frontier)
	}
	if limit.Used() != used {
		t.Errorf("a refusal keeps %d bytes", limit.Used()-used)
	}
	w.checkInvariants()
	b.NewN(512, nil)
	if b.Len() != 512 || len(runsOf(w.Query(d))) != 8 {
		t.Errorf("%d in %d runs", b.Len(), len(runsOf(w.Query(d))))
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
	big := NewColumn[[1000]byte](first)
	if err := big.Grow(1); err != nil {
		t.Fatal(err)
	}
	hog := first.Archetype(big)
	hog.NewN(16_000, nil) // two thirds of the limit
	small, large, late := NewColumn[uint64](second), NewColumn[[1000]byte](second), NewColumn[[1000]byte](second)
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
	// One by one up to the limit.
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
		t.Errorf("%d entities, %d and %d components, %d were made", second.Len(), small.Len(), large.Len(), made)
	}
	second.checkInvariants()
	exhausted(t, func() error {
		for _, e := range es {
			late.Add(e, [1000]byte{1})
		}
		return nil
	}, vm.ErrLimit, "raise the limit")
	exhausted(t, func() error { return late.Grow(1) }, vm.ErrLimit, "raise the limit")
	second.checkInvariants()
	if n := late.Len(); n == made || second.Len() != made {
		t.Errorf("%d components beside the limit", n)
	}
	if limit.Used() > limit.Max() {
		t.Errorf("%d used of %d", limit.Used(), limit.Max())
	}
	// What needs no memory works.
	if !second.Delete(es[0]) || !second.Alive(es[1]) {
		t.Error("deleting fails at the limit")
	}
	a.New()
	// Room returns.
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
			t.Fatalf("entity %d is %d", i+1, *small.Get(e))
		}
	}
	if late.Add(es[made-1], [1000]byte{2})[0] != 2 {
		t.Error("a component cannot be added though there is room")
	}
	second.checkInvariants()
	second.Close()
	if limit.Used() != 0 {
		t.Errorf("%d bytes are charged to closed worlds", limit.Used())
	}
}

// hog takes all of a limit's room but some bytes, and returns how to take another amount.
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

// TestLimitWithoutQuarter: an archetype that may not grow by a quarter grows by what it needs, and what the attempt at
// more took of the limit is there for it.
func TestLimitWithoutQuarter(t *testing.T) {
	limit := vm.NewLimit(64 << 20)
	leave := hog(t, limit)
	w := NewWorld(Options{MaxEntities: 1 << 14, Limit: limit, Pages: vm.PagesSmall})
	defer w.Close()
	const kib = 1 << 10
	c, d := NewColumn[[kib]byte](w), NewColumn[[kib]byte](w)
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
		t.Fatalf("%d entities", n)
	}
	// A quarter for one column, with nothing left for the other: 128 KiB are needed.
	leave(n/4/64*64*kib + 48*kib)
	if err := a.Grow(1); err != nil {
		t.Fatal(err)
	}
	a.NewN(64, nil)
	if a.Len() != n+64 {
		t.Errorf("%d entities, %d before", a.Len(), n)
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
	c := NewColumn[[64]byte](w)
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
			c.Add(e, [64]byte{1})
		}
	}
	if c.Len() != (1<<21+999)/1000 {
		t.Errorf("%d components", c.Len())
	}
}

// TestLimitAtEveryStep runs the same program under every limit from nothing to enough: wherever it stops, the world is in
// order, and everything returns to the limit.
func TestLimitAtEveryStep(t *testing.T) {
	step := 16 << 10
	if testing.Short() || raceEnabled {
		step = 128 << 10
	}
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
					t.Fatalf("limit %d: a refusal left %s entities of %s", max, got, lens)
				}
			}
			w.checkInvariants()
		}
		a, b, c := NewColumn[[40]byte](w), NewColumn[byte](w), NewColumn[[3]uint64](w)
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
				t.Fatalf("limit %d: a refused Add left a component", max)
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
			t.Fatalf("limit %d: %v, %d bytes used after Close", max, err, limit.Used())
		}
	}
}
