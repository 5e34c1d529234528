package bulk

import (
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
)

// slots are the numbered places that handles refer to: which are live, and which is taken next. A [Pool] has its elements
// in them, a [Dense] the places of its elements.
type slots struct {
	words   unsafe.Pointer // the presence words; &noFree where there is no memory for any
	room    uint           // slots for which memory is committed
	hint    uint           // no word below this one has a slot that is free to take
	skip    uint64         // the retired slots of word hint
	len     int            // live slots
	live    *bitset.Set
	retired map[uint]uint64 // by word: the slots that were taken as often as they can be
}

// noFree stands for the presence words of a container that has no memory. It sends Insert the long way.
var noFree uint64 = full

const (
	full      = 1<<64 - 1 // a presence word without holes
	wordBits  = 64
	bytesWord = 8
)

// word is sound for the words of slots below room: so far the presence words are committed, and they never move before
// Close.
func (s *slots) word(i uint) *uint64 { return (*uint64)(unsafe.Add(s.words, i*bytesWord)) }

// lowest moves the hint to the lowest word with a slot that is free to take and returns that slot, unless none has memory.
func (s *slots) lowest() (i uint, ok bool) {
	for from := s.hint; ; {
		w := s.live.NextClear(from*wordBits) / wordBits
		if w*wordBits >= s.room {
			return 0, false
		}
		if m := ^s.live.Word(w) &^ s.retired[w]; m != 0 {
			if i = w*wordBits + uint(bits.TrailingZeros64(m)); i >= s.room {
				return 0, false
			}
			s.hint, s.skip = w, s.retired[w]
			return i, true
		}
		from = w + 1
	}
}

// lower moves the hint down to word w, where a slot became free.
//
//go:noinline
func (s *slots) lower(w uint) { s.hint, s.skip = w, s.retired[w] }

// retire takes slot i, which is being taken for the last time, out of those that may be taken.
//
//go:noinline
func (s *slots) retire(i uint) {
	if s.retired == nil {
		s.retired = make(map[uint]uint64)
	}
	s.retired[i/wordBits] |= 1 << (i % wordBits)
	s.skip = s.retired[s.hint]
}

// retiredHoles returns the number of slots that hold no element and never will again.
func (s *slots) retiredHoles() int {
	n := 0
	for w, m := range s.retired {
		n += bits.OnesCount64(m &^ s.live.Word(w))
	}
	return n
}

// makeRoom has commit make slots usable until n are free to take. committed is the bytes of elements that have memory.
func (s *slots) makeRoom(p *plan, committed int, op string, n int, commit func(slots int) error) error {
	inUse := s.len + s.retiredHoles()
	if n <= int(s.room)-inUse {
		return nil
	}
	if n > p.capacity-inUse {
		return p.full(op, n, inUse)
	}
	need := inUse + n
	ahead := min(max(need, (committed+p.stepFrom(committed))/p.sizeElement), p.capacity)
	err := commit(ahead)
	if err != nil && need < ahead && settlesForLess(op, err) {
		err = commit(need)
	}
	return err
}

// behindLast returns how many slots there are up to the last live one. Complexity: as [bitset.Set.Gaps].
func (s *slots) behindLast() int {
	for lo, hi := range s.live.Gaps(s.room) {
		if hi == s.room {
			return int(lo)
		}
	}
	return int(s.room)
}

// free brings the summaries and the hint up to date where word w became after, and a slot of it free.
//
//go:noinline
func (s *slots) free(w uint, after uint64) {
	s.live.Store(w, after)
	if w < s.hint {
		s.lower(w)
	}
}

// checkInvariants calls fail where the bookkeeping of a container of so many slots contradicts itself.
func (s *slots) checkInvariants(capacity int, fail func(format string, args ...any)) {
	s.live.CheckInvariants()
	if n := s.live.Count(); n != s.len {
		fail("%d presence bits for %d elements", n, s.len)
	}
	if int(s.room) > capacity {
		fail("room for %d of %d elements", s.room, capacity)
	}
	if i := s.live.Next(s.room); i < uint(s.live.Len()) {
		fail("slot %d is live, but there are %d", i, s.room)
	}
	for w := range min(s.hint, (s.room+wordBits-1)/wordBits) {
		if free := ^s.live.Word(w) &^ s.retired[w]; free != 0 {
			fail("slot %d is free below the hint %d", w*wordBits+uint(bits.TrailingZeros64(free)), s.hint)
		}
	}
	if s.room > 0 && s.skip != s.retired[s.hint] {
		fail("retired slots %#x are to be skipped, not %#x", s.retired[s.hint], s.skip)
	}
}

// end makes the short paths of a closed container fail their first test.
func (s *slots) end() { *s = slots{words: unsafe.Pointer(&noFree), live: s.live} }
