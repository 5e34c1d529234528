package bulk

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

func newSharedPool[T any](t testing.TB, o Options) *SharedPool[T] {
	t.Helper()
	p, err := NewSharedPool[T](o)
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

func TestSharedHandlesOfEmptiedWords(t *testing.T) {
	p := newSharedPool[uint64](t, Options{Capacity: 128})
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	seen := map[Handle[uint64]]bool{}
	var live []Handle[uint64]
	common, apart := 0, 0
	for range 3000 {
		for range 1 + r.IntN(70) { // at least one, so that the first chunk exists
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
				t.Fatalf("handle %v was not removed exactly once", h)
			}
		}
		live = live[:keep]
		p.checkInvariants()
		if commonOf(p.chunk(0).word(0).Load()) != 0 {
			common++
		} else {
			apart++
		}
	}
	if common == 0 || apart == 0 {
		t.Errorf("the slots of the first word had a common generation %d times and their own generations "+
			"%d times, want each at least once", common, apart)
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
}

func TestSharedSlotsAreRetired(t *testing.T) {
	for _, apart := range []bool{false, true} {
		p := newSharedPool[record](t, Options{Capacity: 40})
		var handles []Handle[record]
		for i := range 40 {
			h, _ := p.Insert(numbered(i))
			handles = append(handles, h)
		}
		for _, h := range handles[:32] {
			p.Remove(h)
		}
		c := p.chunk(0)
		if apart {
			c.separate(&c.lines[0], 0)
			for i := range uint(32) {
				c.own(i).Store(generation.MaxCount - 2)
			}
		} else {
			c.words[0].Store(sharedWord(uint32(p.tag)|(generation.MaxCount-2), 0))
		}
		seen := map[Handle[record]]bool{}
		for len(seen) < 64 {
			h, e := p.Insert(numbered(5))
			if seen[h] || h.Slot() >= 32 || *e != numbered(5) {
				t.Fatalf("apart %t: Insert returned the handle %v twice, or its slot or element is wrong",
					apart, h)
			}
			seen[h] = true
			if !p.Remove(h) || p.Valid(h) {
				t.Fatalf("apart %t: handle %v is not removed", apart, h)
			}
			p.checkInvariants()
		}
		if e := exhausted(func() { p.Insert(record{}) }); !errors.Is(e, vm.ErrCapacity) {
			t.Fatalf("apart %t: Insert with retired slots only: %v", apart, e)
		}
		if err := p.Grow(1); !errors.Is(err, vm.ErrCapacity) {
			t.Fatalf("apart %t: Grow(1) with retired slots only: %v", apart, err)
		}
		if !p.Remove(handles[39]) || p.Grow(1) != nil || p.Grow(2) == nil {
			t.Fatalf("apart %t: Grow does not count the free slot of another word", apart)
		}
		if h, _ := p.Insert(record{}); h.Slot() != 39 {
			t.Fatalf("apart %t: slot %d was taken, but only slot 39 is free", apart, h.Slot())
		}
		for old := range seen {
			if p.Valid(old) || p.Remove(old) {
				t.Fatalf("apart %t: handle %v of a retired slot is valid", apart, old)
			}
		}
		if p.Len() != 8 {
			t.Fatalf("apart %t: %d elements, want 8", apart, p.Len())
		}
	}
}

func TestReservedSlotsAreRetired(t *testing.T) {
	p := newSharedPool[record](t, Options{Capacity: 32})
	first, _ := p.Insert(record{})
	p.Remove(first)
	p.chunk(0).words[0].Store(sharedWord(uint32(p.tag)|generation.MaxCount, 0))
	p.chunk(0).lines[0].taken[0], p.chunk(0).lines[0].ready[0] = 0, 0
	in := p.Inserter()
	h, _ := in.Insert(numbered(1))
	if h.Generation() != generation.MaxCount {
		t.Fatalf("the inserter's handle %v has the count %d, want %d", h, h.Generation(), generation.MaxCount)
	}
	in.Close()
	if e := exhausted(func() { p.Insert(record{}) }); !errors.Is(e, vm.ErrCapacity) {
		t.Fatalf("a slot is taken beyond its last use: %v", e)
	}
	if v, ok := p.Load(h); !ok || v != numbered(1) || p.Len() != 1 {
		t.Fatalf("Load(%v) = %v, %t", h, v, ok)
	}
}

func TestAnnouncedSlotsAreNotTaken(t *testing.T) {
	p := newSharedPool[record](t, Options{Capacity: 1000})
	var handles []Handle[record]
	for i := range 1000 {
		h, _ := p.Insert(numbered(i))
		handles = append(handles, h)
	}
	for _, h := range handles[300:400] {
		p.Remove(h)
	}
	var taken []Handle[record]
	cell := p.announce(310)
	// The announcements need more cells than a block has.
	for i := range 40 {
		defer p.announce(uint(320 + i)).Store(0)
	}
	if p.announcements() != 41 {
		t.Fatalf("%d announcements, want 41", p.announcements())
	}
	for range 100 - 41 {
		h, _ := p.Insert(numbered(7))
		if h.Slot() < 300 || h.Slot() >= 400 || h.Slot() == 310 || h.Slot() >= 320 && h.Slot() < 360 {
			t.Fatalf("slot %d was taken, which is live or announced", h.Slot())
		}
		taken = append(taken, h)
	}
	cell.Store(0)
	if h, _ := p.Insert(numbered(7)); h.Slot() != 310 {
		t.Fatalf("slot %d was taken, but only slot 310 is free", h.Slot())
	}
	for _, h := range taken {
		if v, ok := p.Load(h); !ok || v != numbered(7) {
			t.Fatalf("Load(%v) = %v, %t", h, v, ok)
		}
	}
}

func TestSharedHandlesOfOthers(t *testing.T) {
	p, q := newSharedPool[record](t, Options{Capacity: 1000}),
		newSharedPool[record](t, Options{Capacity: 1000})
	hp, _ := p.Insert(numbered(1))
	hq, _ := q.Insert(numbered(2))
	if p.Valid(hq) || q.Valid(hp) || p.Get(hq) != nil || q.Remove(hp) || p.Remove(hq) {
		t.Error("a handle is valid in another pool")
	}
	var zero Handle[record]
	if p.Valid(zero) || p.Get(zero) != nil || p.Remove(zero) {
		t.Error("the zero handle is valid")
	}
	// The slots of some words have one generation in common. Each slot of the remaining words has its own
	// generation. In each kind of word, some slots have an element and some do not.
	for i := range 100 {
		h, _ := p.Insert(numbered(i))
		if i%3 == 0 {
			p.Remove(h)
		}
	}
	for i := range 20 {
		p.Insert(numbered(i))
	}
	there := map[Handle[record]]bool{}
	for h := range p.All() {
		there[h] = true
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 100_000 {
		h := Handle[record]{r.Uint32(), r.Uint32()}
		if r.IntN(2) == 0 {
			h.slot, h.generation = h.slot%128, h.generation%8
			if r.IntN(2) == 0 {
				h.generation |= uint32(p.tag)
			}
		}
		if _, loads := p.Load(h); !there[h] && (loads || p.Valid(h) || p.Get(h) != nil || p.Remove(h)) {
			t.Fatalf("handle %v of random bits is valid", h)
		}
	}
	if p.Len() != len(there) {
		t.Errorf("%d elements, want %d", p.Len(), len(there))
	}
	p.checkInvariants()
}

func TestSharedPoolMisuse(t *testing.T) {
	open, closed := newSharedPool[record](t, Options{Name: "open"}),
		newSharedPool[record](t, Options{Name: "ships"})
	in := closed.Inserter()
	h, _ := in.Insert(record{})
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
		{"pointers", func() { _, _ = NewSharedPool[*int](Options{}) },
			"bulk: NewSharedPool[*int]: *int is a pointer"},
		{"capacity", func() { _, _ = NewSharedPool[record](Options{Capacity: -1}) },
			"Options.Capacity is -1"},
		{"Grow", func() { _ = open.Grow(-1) }, "Grow(-1) on open"},
		{"closed Insert", func() { closed.Insert(record{}) }, "ships is used after Close"},
		{"closed Inserter", func() { closed.Inserter() }, "ships is used after Close"},
		{"insert by an old inserter", func() { in.Insert(record{}) }, "ships is used after Close"},
		{"remove by an old inserter", func() { in.Remove(h) }, "ships is used after Close"},
		{"closed Get", func() { closed.Get(h) }, "ships is used after Close"},
		{"closed Load", func() { closed.Load(h) }, "ships is used after Close"},
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
	} {
		if got := modeltest.PanicText(c.f); !strings.Contains(got, c.want) {
			t.Errorf("%s: panic %q, want %q", c.name, got, c.want)
		}
	}
	in.Close()
	if closed.Len() != 0 || open.Len() != 0 {
		t.Errorf("the lengths are %d and %d, want 0", closed.Len(), open.Len())
	}
}

func TestSharedPoolSizesThatOverflow(t *testing.T) {
	for _, capacity := range []int{math.MaxInt, math.MaxInt / 40} {
		if _, err := NewSharedPool[record](Options{Capacity: capacity}); !errors.Is(err, vm.ErrSize) {
			t.Errorf("capacity %d: %v", capacity, err)
		}
	}
	p := newSharedPool[record](t, Options{Capacity: 100})
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
		t.Errorf("the pool has %d elements, want 1, or the element is wrong", p.Len())
	}
	budget := newSharedPool[uint8](t, Options{Name: "flags", MaxBytes: 10_000})
	for i := range 10_000 {
		budget.Insert(numberedByte(i))
	}
	if e := exhausted(func() { budget.Insert(1) }); e == nil || !errors.Is(e, vm.ErrLimit) ||
		!strings.Contains(e.Error(), "Options.MaxBytes (9.766 KiB)") {
		t.Errorf("beyond the budget: %v", e)
	}
}

func TestSharedClear(t *testing.T) {
	p := newSharedPool[record](t, Options{Capacity: 2000})
	in := p.Inserter()
	var old []Handle[record]
	for i := range 1500 {
		h, _ := in.Insert(numbered(i))
		old = append(old, h)
		if i%2 == 0 && i > 100 {
			p.Remove(old[i-50])
		}
	}
	if text := modeltest.PanicText(func() {
		p.Clear(func(Handle[record], *record) {
			panic("stop")
		})
	}); text != "stop" || p.Len() == 0 {
		t.Fatalf("Clear panics with %q, want \"stop\", and leaves %d elements", text, p.Len())
	}
	in.Insert(numbered(1))
	n := p.Len()
	p.Clear(func(h Handle[record], e *record) {
		if !p.Valid(h) || *e != numbered(int(e[0])) {
			t.Errorf("Clear passes %v", h)
		}
		n--
	})
	if n != 0 || p.Len() != 0 {
		t.Fatalf("Clear passed %d elements too few to the callback, and left %d in the pool", n, p.Len())
	}
	in.Insert(numbered(1)) // into a slot that was reserved before Clear
	in.Close()
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 500 - g/3 {
				p.Insert(numbered(i))
			}
		})
	}
	all.Wait()
	if p.Len() != 2000 {
		t.Fatalf("%d elements, want 2000", p.Len())
	}
	for _, h := range old {
		if p.Valid(h) {
			t.Fatalf("handle %v is valid after Clear", h)
		}
	}
	p.checkInvariants()
}
