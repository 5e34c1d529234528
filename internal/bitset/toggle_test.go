package bitset

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// toggle calls TurnOn or TurnOff.
func (s *Set) toggle(on bool, i uint, mask uint64) uint64 {
	if on {
		return s.TurnOn(i, mask)
	}
	return s.TurnOff(i, mask)
}

// mustBeExact fails the test if a summary is not exact.
func (s *Set) mustBeExact(t *testing.T) {
	t.Helper()
	if s.loose.Load() {
		t.Fatal("the summaries are loose")
	}
	s.CheckInvariants()
}

// TestTighten: slots of a set are toggled; then each operation that promises exact summaries leaves exact
// summaries.
func TestTighten(t *testing.T) {
	for name, exact := range map[string]func(s *Set){
		"Tighten": (*Set).Tighten,
		"Trim":    func(s *Set) { _ = s.Trim() },
		"Shrink":  func(s *Set) { s.Shrink(3 * BlockBits) },
		"Reset":   (*Set).Reset,
		"Load":    func(s *Set) { s.Load([]uint64{ones}) },
	} {
		s := newSet(t, capacityTest)
		for i := range uint(150) {
			s.TurnOn(i, ones)
			s.TurnOff(i, ones<<(i%2*64)) // clears every second word
			s.TurnOff(i, ones)
		}
		if any, _ := s.Block(0); any != ones {
			t.Fatalf("the any mask of block 0 is %#x, want all bits", any)
		}
		if n := s.Next(0); n != uint(s.Len()) {
			t.Errorf("Next finds slot %d in the empty set", n)
		}
		exact(s)
		t.Run(name, s.mustBeExact)
	}
	s := newSet(t, BlockBits)
	s.TurnOn(3, ones)
	if _, full := s.Block(0); full != 0 {
		t.Fatalf("the full mask of block 0 is %#x, want 0", full)
	}
	if n := s.NextClear(3 * 64); n != 4*64 {
		t.Errorf("NextClear finds slot %d, want 256", n)
	}
	s.Tighten()
	if _, full := s.Block(0); full != 8 {
		t.Errorf("the full mask of block 0 is %#x, want 8", full)
	}
}

// TestTogglesOfSeveralGoroutines: goroutines toggle slots of the same words, and filters that exclude or
// require the set are always right about the slots that no goroutine toggles.
func TestTogglesOfSeveralGoroutines(t *testing.T) {
	all, s := newSet(t, capacityTest), newSet(t, capacityTest)
	n := uint(all.Len())
	all.Fill(0, n)
	const still = 0x8000_0000_0000_0001 // slots that no goroutine toggles; the lowest of them is set
	for w := range n / 64 {
		s.Or(w, 1)
	}
	var toggling sync.WaitGroup
	for k := range 3 {
		toggling.Go(func() {
			r := rand.New(rand.NewPCG(uint64(k), 0))
			for range 20_000 {
				mask := r.Uint64() &^ still & (0x9249_2492_4924_9249 << k)
				s.toggle(r.IntN(2) == 0, r.UintN(n/64), mask)
				s.toggle(k == 0, r.UintN(n/64), ^uint64(still)&(0x9249_2492_4924_9249<<k))
			}
		})
	}
	without := NewFilter([]*Set{all}, nil).WithParts([]Part{{Set: s}}, nil)
	with := NewFilter([]*Set{all}, nil).WithParts(nil, [][]Part{{{Set: s}}})
	for range 5 {
		for f, bit := range map[*Filter]uint64{&without: 1 << 63, &with: 1} {
			var c Cursor
			c.Start(f, n/64)
			for w := range n / 64 {
				word, mask := c.NextWord()
				if word != w || mask&still != bit {
					t.Fatalf("the filter yields %#x of word %d, want word %d with %#x", mask, word, w, bit)
				}
			}
		}
	}
	toggling.Wait()
	s.CheckInvariants()
	s.Tighten()
	s.mustBeExact(t)
}

// TestPartsAgainstModel compares filters with parts, whose sets have loose summaries, with words that are
// computed one by one.
func TestPartsAgainstModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 30 {
		sets := make([]*Set, 6)
		for i := range sets {
			sets[i] = newSet(t, []int{capacityTest, capacityTest, 3 * BlockBits, BlockBits + 77}[r.IntN(4)])
			fillLoosely(r, sets[i])
		}
		sets[0] = newSet(t, capacityTest)
		sets[0].Fill(0, uint(sets[0].Len()))
		sets[0].Erase(uint(r.IntN(9000)), 9000)
		part := func() Part { return Part{sets[1+r.IntN(5)], sets[1 : 1+r.IntN(3)]} }
		parts := func(n int) (list []Part) {
			for range n {
				list = append(list, part())
			}
			return list
		}
		excluded := parts(r.IntN(3))
		var groups [][]Part
		for range r.IntN(3) {
			groups = append(groups, parts(1+r.IntN(3)))
		}
		f := NewFilter(sets[:1], nil).WithParts(excluded, groups)
		word := func(s *Set, i uint) uint64 {
			if i < s.usable {
				return s.Word(i)
			}
			return 0
		}
		of := func(p Part, i uint) uint64 {
			m := word(p.Set, i)
			for _, s := range p.Off {
				m &^= word(s, i)
			}
			return m
		}
		want := make(model, sets[0].Len())
		for i := range f.words() {
			m := sets[0].Word(i)
			for _, p := range excluded {
				m &^= of(p, i)
			}
			for _, group := range groups {
				in := uint64(0)
				for _, p := range group {
					in |= of(p, i)
				}
				m &= in
			}
			for bit := range uint(64) {
				want[i*64+bit] = m>>bit&1 != 0
			}
		}
		checkFilter(t, &f, want)
	}
}

// fillLoosely fills and toggles words and blocks of a set, so that its summaries become loose.
func fillLoosely(r *rand.Rand, s *Set) {
	n := s.usable
	for range 2 + r.IntN(20) {
		lo := r.UintN(n)
		hi := min(n, lo+r.UintN(130))
		on := r.IntN(3) > 0
		if on && r.IntN(2) == 0 {
			s.Fill(lo*64, hi*64) // toggling alone makes no word full according to the summaries
			continue
		}
		for w := lo; w < hi; w++ {
			mask := ones
			if r.IntN(8) == 0 {
				mask = r.Uint64()
			}
			s.toggle(on, w, mask)
		}
	}
}

// checkFilter compares the runs, words and counts of a filter with a model.
func checkFilter(t *testing.T, f *Filter, want model) {
	t.Helper()
	end := f.words()
	var runs, words Cursor
	runs.Start(f, end)
	words.Start(f, end)
	for at := want.next(0, true); at < uint(len(want)); {
		hi := min(want.next(at, false), end*64)
		if !runs.Next() || runs.Lo != at || runs.Hi != hi {
			t.Fatalf("the run is [%d, %d), want [%d, %d)", runs.Lo, runs.Hi, at, hi)
		}
		at = want.next(hi, true)
	}
	if runs.Next() {
		t.Fatalf("there is a further run [%d, %d)", runs.Lo, runs.Hi)
	}
	got := make(model, len(want))
	for word, mask := words.NextWord(); mask != 0; word, mask = words.NextWord() {
		for i := range uint(64) {
			got[word*64+i] = mask>>i&1 != 0
		}
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("slot %d matches: %t, want %t", i, got[i], want[i])
		}
	}
	for _, r := range [][2]uint{{0, end * 64}, {1, end*64 - 1}, {BlockBits, 2*BlockBits + 5}, {63, 65}} {
		lo, hi := min(r[0], end*64), min(r[1], end*64)
		if got, want := f.Count(r[0], r[1]), want[lo:hi].count(); got != want {
			t.Fatalf("Count(%d, %d) is %d, want %d", r[0], r[1], got, want)
		}
	}
}
