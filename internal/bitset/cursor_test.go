package bitset

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

// pattern fills a set with stretches of different density and returns its model. Some stretches end at the
// end of a word, a block or a group.
func pattern(r *rand.Rand, s *Set) model {
	n := uint(s.Len())
	m := make(model, n)
	for lo := uint(0); lo < n; {
		length := []uint{1, 7, wordBits, 3 * wordBits, BlockBits, 2 * BlockBits, groupBits}[r.IntN(7)]
		if r.IntN(2) == 0 {
			length += r.UintN(2 * wordBits)
		}
		hi := min(n, lo+length)
		if r.IntN(3) == 0 {
			hi = min(n, (hi+BlockBits-1)/BlockBits*BlockBits)
		}
		kind := r.IntN(5)
		for i := lo; i < hi; i++ {
			switch kind {
			case 0:
				m[i] = false
			case 1:
				m[i] = true
			case 2:
				m[i] = r.IntN(200) == 0
			case 3:
				m[i] = r.IntN(200) != 0
			case 4:
				m[i] = i&1 == 0
			}
		}
		lo = hi
	}
	for i, set := range m {
		if set {
			s.Set(uint(i))
		}
	}
	return m
}

type run struct{ lo, hi uint }

// runsOf returns the maximal runs of matching slots in [lo, hi). A slot matches if it is in all required sets
// and in no excluded set.
func runsOf(required, excluded []model, lo, hi uint) (runs []run) {
	matches := func(i uint) bool {
		for _, m := range required {
			if i >= uint(len(m)) || !m[i] {
				return false
			}
		}
		for _, m := range excluded {
			if i < uint(len(m)) && m[i] {
				return false
			}
		}
		return true
	}
	for i := lo; i < hi; i++ {
		if !matches(i) {
			continue
		}
		if k := len(runs) - 1; k >= 0 && runs[k].hi == i {
			runs[k].hi++
		} else {
			runs = append(runs, run{i, i + 1})
		}
	}
	return runs
}

func walk(c *Cursor) (runs []run) {
	for c.Next() {
		runs = append(runs, run{c.Lo, c.Hi})
	}
	return runs
}

func same(t *testing.T, what string, got, want []run) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: run %d is %v, want %v", what, i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d runs, want %d", what, len(got), len(want))
	}
}

func TestCursorAgainstModel(t *testing.T) {
	rounds := longtest.Pick(6, 40)
	for range rounds {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		// All required sets have the same length, as in a world. Excluded sets may be shorter.
		var sets []*Set
		var models []model
		for range 1 + r.IntN(3) {
			s := newSet(t, capacityTest)
			sets, models = append(sets, s), append(models, pattern(r, s))
		}
		and := len(sets)
		for range r.IntN(3) {
			s := newSet(t, 1+r.IntN(capacityTest))
			sets, models = append(sets, s), append(models, pattern(r, s))
		}
		f := NewFilter(sets[:and], sets[and:])
		words := uint(sets[0].Len()) / wordBits
		var c Cursor
		c.Start(&f, words)
		same(t, "Start", walk(&c), runsOf(models[:and], models[and:], 0, words*wordBits))
		for range 5 {
			lo, hi := r.UintN(words+2), r.UintN(words+70)
			if r.IntN(2) == 0 {
				lo = lo / 64 * 64
			}
			var c Cursor
			c.StartAt(&f, lo, hi)
			same(t, "StartAt", walk(&c), runsOf(models[:and], models[and:], lo*wordBits,
				min(hi, words)*wordBits))
		}
		for range 200 {
			w, want := r.UintN(words), uint64(0)
			for _, one := range runsOf(models[:and], models[and:], w*wordBits, (w+1)*wordBits) {
				for i := one.lo; i < one.hi; i++ {
					want |= 1 << (i % wordBits)
				}
			}
			if got := f.Match(w); got != want {
				t.Fatalf("Match(%d) = %#x, want %#x", w, got, want)
			}
		}
	}
}

func TestCursorOverFullAndEmptySets(t *testing.T) {
	s := newSet(t, capacityTest)
	n := uint(s.Len())
	f := NewFilter([]*Set{s}, nil)
	for _, c := range []struct {
		name   string
		lo, hi uint
		want   []run
	}{
		{"empty", 0, 0, nil},
		{"full", 0, n, []run{{0, n}}},
		{"one block", BlockBits, 2 * BlockBits, []run{{BlockBits, 2 * BlockBits}}},
		{"across a group", groupBits - 3, groupBits + BlockBits + 1,
			[]run{{groupBits - 3, groupBits + BlockBits + 1}}},
		{"last slot", n - 1, n, []run{{n - 1, n}}},
	} {
		s.Erase(0, n)
		s.Fill(c.lo, c.hi)
		var cursor Cursor
		cursor.Start(&f, n/wordBits)
		same(t, c.name, walk(&cursor), c.want)
	}
}

// TestCursorWhileClearing clears each run as soon as the cursor yields it, as the removal of all matches of a
// query does.
func TestCursorWhileClearing(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	s := newSet(t, capacityTest)
	m := pattern(rand.New(rand.NewPCG(seed, 0)), s)
	f := NewFilter([]*Set{s}, nil)
	var c Cursor
	c.Start(&f, uint(s.Len())/wordBits)
	var got []run
	for c.Next() {
		got = append(got, run{c.Lo, c.Hi})
		s.Erase(c.Lo, c.Hi)
	}
	same(t, "runs", got, runsOf([]model{m}, nil, 0, uint(s.Len())))
	if s.Count() != 0 {
		t.Fatalf("%d slots are still set", s.Count())
	}
	s.CheckInvariants()
}

// TestWalkToTheEnd walks to the last slot of sets that end at the end of a group. The memory for the
// summaries also ends with this group.
func TestWalkToTheEnd(t *testing.T) {
	large, s, other := newSet(t, 8*groupBits), newSet(t, 4*groupBits), newSet(t, 4*groupBits)
	last := uint(s.Len()) - 1
	if last != 4*groupBits-1 {
		t.Skipf("%d slots are usable: the pages of this system are too large", s.Len())
	}
	for _, want := range []run{{5, 6}, {last - BlockBits, last}, {last, last + 1},
		{last - 3*BlockBits, last + 1}} {
		for _, set := range []*Set{large, s, other} {
			set.Fill(want.lo, want.hi)
		}
		large.Set(last + 1)
		large.Set(last + 2)
		for i, f := range []Filter{NewFilter([]*Set{s}, nil), NewFilter([]*Set{s}, nil, []*Set{other}),
			NewFilter([]*Set{large}, nil, []*Set{s, other}),
			NewFilter([]*Set{large, s}, nil)} {
			var c Cursor
			c.Start(&f, ^uint(0))
			same(t, fmt.Sprintf("filter %d to the end", i), walk(&c), []run{want})
		}
		minus := NewFilter([]*Set{large}, []*Set{s})
		var c Cursor
		c.Start(&minus, ^uint(0))
		same(t, "without the smaller set", walk(&c), []run{{last + 1, last + 3}})
		for _, set := range []*Set{large, s, other} {
			set.Erase(want.lo, want.hi)
		}
	}
}
