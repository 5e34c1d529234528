package bulk

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

func TestHandlesAgainstModel(t *testing.T) {
	longtest.OneGoroutine(t)
	rounds := longtest.Pick(1, 8)
	for range rounds {
		data := modeltest.RandomBytes(t, 1500)
		for _, kind := range kinds {
			for _, pages := range pageKinds {
				for _, step := range []int{0, 1, 100_000} {
					o := Options{Pages: pages, Step: step}
					playHandled(t, kind, o, data, numbered)
					playHandled(t, kind, o, data, numberedByte)
					playHandled(t, kind, o, data[:300], numberedLarge)
					playHandled(t, kind, o, data[:300], func(int) struct{} { return struct{}{} })
				}
			}
		}
	}
}

func TestRefillPacks(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		p := newHandled[record](t, kind, Options{})
		const n = 20_000
		handles := make([]Handle[record], n)
		for i := range handles {
			handles[i], _ = p.Insert(numbered(i))
		}
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		removed := r.Perm(n)[:n/2]
		for _, i := range removed {
			p.Remove(handles[i])
		}
		slices.Sort(removed)
		for _, want := range removed {
			if h, _ := p.Insert(record{}); int(h.Slot()) != want {
				t.Fatalf("Insert took slot %d, but the lowest free slot is %d", h.Slot(), want)
			}
		}
		if h, _ := p.Insert(record{}); h.Slot() != n {
			t.Fatalf("without holes the next element is in slot %d, want %d", h.Slot(), n)
		}
	})
}

// The slots of an emptied presence word may share a generation again. Nevertheless, no handle is returned
// twice and no stale handle becomes valid.
func TestHandlesOfEmptiedWords(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		p := newHandled[uint64](t, kind, Options{Capacity: 128})
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		seen := map[Handle[uint64]]bool{}
		var live []Handle[uint64]
		for range 3000 {
			for range r.IntN(70) {
				if len(live) == 128 {
					break
				}
				h, _ := p.Insert(1)
				if seen[h] {
					t.Fatalf("handle %v was returned twice", h)
				}
				seen[h] = true
				live = append(live, h)
			}
			r.Shuffle(len(live), func(i, j int) { live[i], live[j] = live[j], live[i] })
			keep := 0
			if r.IntN(3) != 0 {
				keep = r.IntN(len(live) + 1)
			}
			for _, h := range live[keep:] {
				if !p.Remove(h) || p.Remove(h) {
					t.Fatalf("handle %v could not be removed, or could be removed twice", h)
				}
			}
			live = live[:keep]
			p.checkInvariants()
		}
		valid := 0
		for h := range seen {
			if p.Valid(h) {
				valid++
			}
		}
		if valid != len(live) {
			t.Fatalf("%d handles are valid for %d elements", valid, len(live))
		}
	})
}

// setCount sets the count of all slots of a presence word. A test would take too long to reach the count by
// insertions.
func setCount[T any](c handled[T], w uint, count uint32) {
	switch c := c.(type) {
	case *Pool[T]:
		c.generations.common(w).generation = uint32(c.generations.tag) | count
		*c.generations.ofWord(w) = uint32(c.generations.tag) | count
	case *Dense[T]:
		for i := range uint(wordBits) {
			c.locator(w*wordBits + i).generation = uint32(c.tag) | count
		}
	}
}

func TestSlotsAreRetired(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		p := newHandled[record](t, kind, Options{Capacity: 70})
		var handles []Handle[record]
		for i := range 70 {
			h, _ := p.Insert(numbered(i))
			handles = append(handles, h)
		}
		for _, h := range handles[:64] {
			p.Remove(h)
		}
		// The first 64 slots have two counts left. Slot 0 uses up both.
		setCount(p, 0, generation.MaxCount-2)
		seen := map[Handle[record]]bool{}
		for range 2 {
			h, _ := p.Insert(record{})
			if h.Slot() != 0 || seen[h] {
				t.Fatalf("Insert returned handle %v, want a new handle of slot 0", h)
			}
			seen[h] = true
			p.Remove(h)
			p.checkInvariants()
		}
		h, e := p.Insert(numbered(5))
		if h.Slot() != 1 || *e != numbered(5) {
			t.Fatalf("slot %d was taken, but slot 0 is retired and slot 1 is free", h.Slot())
		}
		for old := range seen {
			if p.Valid(old) || p.Remove(old) {
				t.Fatalf("handle %v of a retired slot is valid", old)
			}
		}
		if err := p.Grow(62); err != nil {
			t.Fatalf("Grow(62) with 62 free slots: %v", err)
		}
		if err := p.Grow(63); !errors.Is(err, vm.ErrCapacity) {
			t.Fatalf("Grow(63) with 62 free slots: %v", err)
		}
		// The retired slot must stay a hole when another slot of its word becomes free.
		for p.Len() < 69 {
			p.Insert(record{})
		}
		for i := range uint32(5) {
			p.Remove(handles[66])
			handles[66], _ = p.Insert(record{}) // the search now begins in the second word
			for h := range p.All() {
				if h.Slot() == 10*i+3 {
					p.Remove(h)
					break
				}
			}
			if h, _ := p.Insert(record{}); h.Slot() != 10*i+3 {
				t.Fatalf("slot %d was taken, but the lowest free slot is %d", h.Slot(), 10*i+3)
			}
		}
		for again := range p.All() {
			if again.Slot() > 1 && again.Slot() < 64 {
				p.Remove(again)
			}
		}
		// Use up the counts of all free slots. Then the container is full.
		for i := 0; ; i++ {
			if i > 200 {
				t.Fatal("the slots are never retired")
			}
			var last Handle[record]
			if e := exhausted(func() { last, _ = p.Insert(record{}) }); e != nil {
				if !errors.Is(e, vm.ErrCapacity) {
					t.Fatal(e)
				}
				break
			}
			if seen[last] {
				t.Fatalf("handle %v was returned twice", last)
			}
			seen[last] = true
			p.Remove(last)
		}
		p.checkInvariants()
		if p.Len() != 7 || *p.Get(h) != numbered(5) || *p.Get(handles[69]) != numbered(69) {
			t.Fatalf("%d elements are left", p.Len())
		}
	})
}

// If one slot is taken again and again, the other slots must not lose counts.
func TestWearIsSpread(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		p := newHandled[record](t, kind, Options{Capacity: 64})
		for range 1000 {
			h, _ := p.Insert(record{})
			p.Remove(h)
		}
		var last Handle[record]
		for range 64 {
			last, _ = p.Insert(record{})
		}
		if c := last.Generation(); c != 1 {
			t.Errorf("the last slot was taken once and has count %d", c)
		}
		p.Clear(nil)
		p.Insert(record{})
		if h, _ := p.Insert(record{}); h.Generation() > 2 {
			t.Errorf("the second slot was taken twice and has count %d", h.Generation())
		}
	})
}

func TestHandlesOfOthers(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		p, q := newHandled[record](t, kind, Options{}), newHandled[record](t, kind, Options{})
		hp, _ := p.Insert(numbered(1))
		hq, _ := q.Insert(numbered(2))
		if p.Valid(hq) || q.Valid(hp) || p.Get(hq) != nil || q.Remove(hp) || p.Remove(hq) {
			t.Error("a handle is valid in another container")
		}
		if !p.Valid(hp) || *q.Get(hq) != numbered(2) {
			t.Error("a handle is not valid in its own container")
		}
		var zero Handle[record]
		if !zero.IsZero() || hp.IsZero() || p.Valid(zero) || p.Get(zero) != nil || p.Remove(zero) {
			t.Error("the zero handle is valid")
		}
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		for range 100_000 {
			h := Handle[record]{r.Uint32(), r.Uint32()}
			if r.IntN(2) == 0 {
				h.slot %= 100
			}
			if h != hp && (p.Valid(h) || p.Get(h) != nil || p.Remove(h)) {
				t.Fatalf("handle %v of random bits is valid", h)
			}
		}
		if p.Len() != 1 {
			t.Errorf("there are %d elements, want 1", p.Len())
		}
	})
}

func TestRemoveWhileIterating(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		p := newHandled[record](t, kind, Options{})
		const n = 10_000
		handles := make([]Handle[record], n)
		for i := range handles {
			handles[i], _ = p.Insert(numbered(i))
		}
		// Each step removes the yielded element and the next two elements, which must not be yielded.
		yielded := 0
		for h := range p.All() {
			if int(h.Slot()) != 3*yielded {
				t.Fatalf("slot %d is yielded, want %d", h.Slot(), 3*yielded)
			}
			yielded++
			for i := h.Slot(); i < min(h.Slot()+3, n); i++ {
				if !p.Remove(handles[i]) {
					t.Fatalf("slot %d cannot be removed", i)
				}
			}
		}
		if p.Len() != 0 || yielded != (n+2)/3 {
			t.Fatalf("%d elements are left after %d steps", p.Len(), yielded)
		}
		for i := range handles {
			handles[i], _ = p.Insert(numbered(i))
		}
		for first, run := range p.Runs() {
			for i := range run {
				p.Remove(handles[first+i])
			}
		}
		if p.Len() != 0 {
			t.Fatalf("%d elements are left after the runs", p.Len())
		}
		for range p.All() {
			t.Fatal("an empty container yields an element")
		}
	})
}

func TestLeavingLoops(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		p := newHandled[record](t, kind, Options{})
		for i := range 1000 {
			p.Insert(numbered(i))
		}
		steps := 0
		for range p.All() {
			if steps++; steps == 70 {
				break
			}
		}
		for range p.Runs() {
			break
		}
		if steps != 70 || p.Len() != 1000 {
			t.Errorf("the loop made %d steps, want 70; there are %d elements, want 1000", steps, p.Len())
		}
	})
}

func TestClearThatPanicsRemovesNothing(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		p := newHandled[record](t, kind, Options{})
		h, _ := p.Insert(numbered(1))
		p.Insert(numbered(2))
		if text := modeltest.PanicText(func() {
			p.Clear(func(Handle[record], *record) {
				panic("stop")
			})
		}); text != "stop" {
			t.Fatalf("panic %q", text)
		}
		if p.Len() != 2 || *p.Get(h) != numbered(1) {
			t.Errorf("%d elements are left", p.Len())
		}
	})
}

func TestMisuse(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		type ship struct{ Next *int }
		open := newHandled[record](t, kind, Options{Name: "open"})
		closed := newHandled[record](t, kind, Options{Name: "ships"})
		h, _ := closed.Insert(record{})
		for range 2 {
			if err := closed.Close(); err != nil {
				t.Fatalf("Close: %v", err)
			}
		}
		var zero Handle[record]
		for _, c := range []struct {
			name string
			f    func()
			want string
		}{
			{"pointers", func() { _, _ = makeHandled[ship](kind, Options{}) }, "bulk: New" + kind +
				"[ship]: ship.Next is a pointer"},
			{"capacity", func() { _, _ = makeHandled[record](kind, Options{Capacity: -1}) },
				"Options.Capacity is -1"},
			{"Grow", func() { _ = open.Grow(-1) }, "Grow(-1) on open"},
			{"closed Insert", func() { closed.Insert(record{}) }, "ships is used after Close"},
			{"closed Get", func() { closed.Get(h) }, "ships is used after Close"},
			{"closed Get of zero", func() { closed.Get(zero) }, "ships is used after Close"},
			{"closed Valid", func() { closed.Valid(h) }, "ships is used after Close"},
			{"closed Remove", func() { closed.Remove(h) }, "ships is used after Close"},
			{"closed Grow", func() { _ = closed.Grow(0) }, "ships is used after Close"},
			{"closed Clear", func() { closed.Clear(nil) }, "ships is used after Close"},
			{"closed All", func() {
				for range closed.All() {
					break
				}
			}, "ships is used after Close"},
			{"closed Runs", func() {
				for range closed.Runs() {
					break
				}
			}, "ships is used after Close"},
			{"Close in All", func() { closeIn(t, kind, closeAll) }, "inner is used after Close"},
			{"Close in Runs", func() { closeIn(t, kind, closeRuns) }, "inner is used after Close"},
		} {
			if got := modeltest.PanicText(c.f); !strings.Contains(got, c.want) {
				t.Errorf("%s: panic %q, want %q", c.name, got, c.want)
			}
		}
		if closed.Len() != 0 || open.Len() != 0 {
			t.Errorf("the closed container has length %d, the open one %d, want 0", closed.Len(), open.Len())
		}
	})
}

func closeIn(t *testing.T, kind string, f func(handled[record])) {
	p := newHandled[record](t, kind, Options{Name: "inner"})
	for range 200 {
		p.Insert(record{})
	}
	f(p)
}

func closeAll(p handled[record]) {
	for range p.All() {
		_ = p.Close()
	}
}

func closeRuns(p handled[record]) {
	for range p.Runs() {
		_ = p.Close()
	}
}

func TestSizesThatOverflow(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		capacities := []int{math.MaxInt, math.MaxInt / 40}
		if most := maxSlots; most < math.MaxInt {
			capacities = append(capacities, most+1)
		}
		for _, capacity := range capacities {
			if _, err := makeHandled[record](kind, Options{Capacity: capacity}); !errors.Is(err, vm.ErrSize) {
				t.Errorf("capacity %d: %v", capacity, err)
			}
		}
		p := newHandled[record](t, kind, Options{Capacity: 100})
		h, _ := p.Insert(numbered(1))
		for _, n := range []int{100, math.MaxInt, math.MaxInt - 1} {
			if err := p.Grow(n); !errors.Is(err, vm.ErrCapacity) {
				t.Errorf("Grow(%d): %v", n, err)
			}
		}
		if err := p.Grow(99); err != nil {
			t.Errorf("Grow to the capacity: %v", err)
		}
		if p.Len() != 1 || *p.Get(h) != numbered(1) {
			t.Errorf("there are %d elements", p.Len())
		}
	})
}

func TestBudget(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		p := newHandled[uint8](t, kind, Options{Name: "flags", MaxBytes: 10_000})
		var last Handle[uint8]
		for i := range 10_000 {
			last, _ = p.Insert(numberedByte(i))
		}
		if last.Slot() != 9_999 {
			t.Fatalf("the last slot is %d", last.Slot())
		}
		e := exhausted(func() { p.Insert(1) })
		if e == nil || !errors.Is(e, vm.ErrLimit) || !strings.Contains(e.Error(),
			"Options.MaxBytes (9.766 KiB)") || e.Purpose != "flags" {
			t.Fatalf("beyond the budget: %v", e)
		}
		p.Remove(last)
		if h, _ := p.Insert(1); h.Slot() != 9_999 || h == last {
			t.Fatalf("Insert after the removal of %v returned %v, want a new handle of the same slot", last,
				h)
		}
	})
}

func TestGrowMakesInsertionsSafe(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		limit := vm.NewLimit(1 << 20)
		p := newHandled[record](t, kind, Options{Limit: limit})
		if err := p.Grow(10_000); err != nil {
			t.Fatal(err)
		}
		if err := p.Grow(100_000); !errors.Is(err, vm.ErrLimit) {
			t.Fatalf("Grow beyond the limit: %v", err)
		}
		if used := limit.Used(); used > 1<<20 || used < 10_000*40 {
			t.Fatalf("%d bytes are in use", used)
		}
		used := limit.Used()
		for i := range 10_000 {
			p.Insert(numbered(i))
		}
		if limit.Used() != used {
			t.Errorf("insertions after Grow changed the used bytes from %d to %d", used, limit.Used())
		}
	})
}
