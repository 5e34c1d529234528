package bitset

import (
	"testing"

	"github.com/vastgo/vast/vm"
)

// capacityTest is the number of slots that the tests ask for: two groups, and a part of a third group that
// ends in the middle of a word. A set has room for the whole word.
const capacityTest = 2*groupBits + 3*BlockBits + 5*wordBits + 17

func newSet(t testing.TB, capacity int) *Set {
	t.Helper()
	r, err := vm.Reserve(Size(capacity), vm.Options{Name: "bitset test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := New(r, capacity)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Grow(capacity); err != nil {
		t.Fatal(err)
	}
	return s
}

// model is the expected set: one bool for each slot.
type model []bool

func (m model) next(i uint, value bool) uint {
	for ; i < uint(len(m)); i++ {
		if m[i] == value {
			return i
		}
	}
	return uint(len(m))
}

func (m model) fill(lo, hi uint, value bool) {
	for i := lo; i < hi; i++ {
		m[i] = value
	}
}

func (m model) count() int {
	n := 0
	for _, set := range m {
		if set {
			n++
		}
	}
	return n
}

// stream turns bytes into choices. The bytes come from the fuzzer or from a random test.
type stream struct{ rest []byte }

func (s *stream) more() bool { return len(s.rest) > 0 }

func (s *stream) byte() byte {
	if len(s.rest) == 0 {
		return 0
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return b
}

// below returns a number in [0, n), often a number at or next to a border of a word, a block or a group.
func (s *stream) below(n uint) uint {
	kind := s.byte()
	v := uint(s.byte()) | uint(s.byte())<<8 | uint(s.byte())<<16
	switch kind % 4 {
	case 0:
		v = v%(n/wordBits+1)*wordBits + uint(kind>>2)%3 - 1
	case 1:
		v = v%(n/BlockBits+1)*BlockBits + uint(kind>>2)%3 - 1
	case 2:
		v = v%(n/groupBits+1)*groupBits + uint(kind>>2)%3 - 1
	}
	return v % n
}

// span returns a range with lo <= hi <= n.
func (s *stream) span(n uint) (lo, hi uint) {
	lo, hi = s.below(n+1), s.below(n+1)
	return min(lo, hi), max(lo, hi)
}

// play applies the operations in data to a set and to a model, and compares the set with the model.
func play(t *testing.T, s *Set, data []byte) {
	n := uint(s.Len())
	m := make(model, n)
	for in := (stream{data}); in.more(); {
		switch op := in.byte() % 13; op {
		case 0:
			i := in.below(n)
			s.Set(i)
			m[i] = true
		case 1:
			i := in.below(n)
			s.Clear(i)
			m[i] = false
		case 2:
			lo, hi := in.span(n)
			s.Fill(lo, hi)
			m.fill(lo, hi, true)
		case 3:
			lo, hi := in.span(n)
			s.Erase(lo, hi)
			m.fill(lo, hi, false)
		case 4, 5, 6:
			w := in.below(n) / wordBits
			mask := uint64(in.below(1<<24)) * 0x9E3779B97F4A7C15
			if mask&7 == 0 {
				mask = ones
			}
			switch op {
			case 4:
				s.Store(w, mask)
			case 5:
				s.Or(w, mask)
			case 6:
				s.AndNot(w, mask)
			}
			for i := uint(0); i < wordBits; i++ {
				bit := mask>>i&1 != 0
				switch {
				case op == 4:
					m[w*wordBits+i] = bit
				case op == 5 && bit:
					m[w*wordBits+i] = true
				case op == 6 && bit:
					m[w*wordBits+i] = false
				}
			}
		case 10, 11:
			w, mask := in.below(n)/wordBits, uint64(in.below(1<<24))*0x9E3779B97F4A7C15
			if mask&3 == 0 {
				mask = ones
			}
			before := s.Word(w)
			if got := s.toggle(op == 10, w, mask); got != before {
				t.Fatalf("toggling word %d returns %#x, want %#x", w, got, before)
			}
			for i := uint(0); i < wordBits; i++ {
				if mask>>i&1 != 0 {
					m[w*wordBits+i] = op == 10
				}
			}
		case 12:
			if in.byte()%8 == 0 {
				s.Tighten()
				s.mustBeExact(t)
			}
		case 7:
			i := in.below(n + 2*wordBits)
			if got, want := s.Next(i), m.next(min(i, n), true); got != want {
				t.Fatalf("Next(%d) = %d, want %d", i, got, want)
			}
		case 8:
			i := in.below(n + 2*wordBits)
			if got, want := s.NextClear(i), m.next(min(i, n), false); got != want {
				t.Fatalf("NextClear(%d) = %d, want %d", i, got, want)
			}
		case 9:
			i := in.below(n + 2*wordBits)
			if got, want := s.Test(i), i < n && m[i]; got != want {
				t.Fatalf("Test(%d) = %t, want %t", i, got, want)
			}
		}
	}
	s.CheckInvariants()
	if got, want := s.Count(), m.count(); got != want {
		t.Fatalf("Count() = %d, want %d", got, want)
	}
	occupied := 0
	for w := range n / wordBits {
		if s.Word(w) != 0 {
			occupied++
		}
	}
	if got := s.OccupiedWords(); got != occupied {
		t.Fatalf("OccupiedWords() = %d, want %d", got, occupied)
	}
	for _, r := range [][2]uint{{0, n}, {1, n + 100}, {wordBits, BlockBits}, {BlockBits - 1, 3*BlockBits + 1},
		{5, 5}, {70, 60},
		{BlockBits, groupBits}, {groupBits + 17, groupBits + 30}, {n, n + 1}} {
		if got, want := s.CountRange(r[0], r[1]), m[min(r[0], n):max(min(r[0], n),
			min(r[1], n))].count(); got != want {
			t.Fatalf("CountRange(%d, %d) = %d, want %d", r[0], r[1], got, want)
		}
	}
	for w := range n / wordBits {
		want := uint64(0)
		for i := uint(0); i < wordBits; i++ {
			if m[w*wordBits+i] {
				want |= 1 << i
			}
		}
		if got := s.Word(w); got != want {
			t.Fatalf("Word(%d) = %#x, want %#x", w, got, want)
		}
	}
}
