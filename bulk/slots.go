package bulk

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// slots is the common part of a [Pool] and a [Dense]: a region of memory, and the numbered slots that handles
// refer to. A slot of a Pool holds an element. A slot of a Dense holds the index of an element.
type slots struct {
	words   unsafe.Pointer // the presence words; &noFree if no memory is committed for them
	room    uint           // slots for which memory is committed
	hint    uint           // words before this word have no slot that is free to take
	skip    uint64         // the retired slots of word hint, which are skipped
	len     int            // live slots
	live    *bitset.Set
	retired map[uint]uint64 // by word: the slots whose generations are used up

	region    *vm.Region
	plan      plan
	ended     error // the panic after Close
	unchecked int   // changes since checkInvariants ran
}

// container has the methods of a Pool or a Dense that its slots call.
type container interface {
	// commit makes at least the first n slots usable, or changes nothing.
	commit(n int) error
	// committed returns the bytes of elements that have memory.
	committed() int
	checkInvariants()
}

// newSlots reserves a region for a container's elements, presence bits and tables, and carves the presence
// bits from the region. sizes lists the bytes that each table takes.
func newSlots(p plan, o Options, sizes []int) (slots, error) {
	capacity := max(1, p.capacity)
	total := bitset.Size(capacity) + alignedSize(capacity*p.sizeElement)
	for _, bytes := range sizes {
		total += alignedSize(bytes)
	}
	r, err := vm.Reserve(total, vm.Options{Name: p.name, Limit: o.Limit, Pages: o.Pages})
	if err != nil {
		return slots{}, err
	}
	// The presence words come first, so that in a small container they are near the tables.
	live, err := bitset.New(r, capacity)
	if err != nil {
		_ = r.Close()
	}
	return slots{words: unsafe.Pointer(&noFree), live: live, region: r, plan: p}, err
}

// findWords sets the address of the presence words after their number has changed.
func (s *slots) findWords() {
	s.words = unsafe.Pointer(&noFree)
	if s.live.Len() > 0 {
		s.words = s.live.Words()
	}
}

// noFree stands for the presence words of a container without memory. Insert finds no free slot in noFree, so
// Insert calls search.
var noFree uint64 = full

const (
	full      = 1<<64 - 1 // a presence word without holes
	wordBits  = 64
	bytesWord = 8
)

// word returns the address of presence word i, which must be the word of a slot below room. It is sound
// because these words are committed and do not move before Close.
func (s *slots) word(i uint) *uint64 { return (*uint64)(unsafe.Add(s.words, i*bytesWord)) }

// lowest moves the hint to the lowest word with a slot that is free to take, and returns that slot. It
// returns false if no such slot has memory.
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

// retire notes that slot i is being taken for the last time.
//
//go:noinline
func (s *slots) retire(i uint) {
	if s.retired == nil {
		s.retired = make(map[uint]uint64)
	}
	s.retired[i/wordBits] |= 1 << (i % wordBits)
	s.skip = s.retired[s.hint]
}

// retiredHoles returns the number of slots that stay holes forever.
func (s *slots) retiredHoles() int {
	n := 0
	for w, m := range s.retired {
		n += bits.OnesCount64(m &^ s.live.Word(w))
	}
	return n
}

// grow makes the next n insertions unable to fail.
func (s *slots) grow(c container, n int) error {
	if n < 0 {
		panic(fmt.Sprintf("bulk: Grow(%d) on %s: a number of elements is zero or more", n, s.plan.name))
	}
	return s.makeRoom(c, opGrow, n)
}

// makeRoom makes slots usable, so that at least n slots are free to take.
func (s *slots) makeRoom(c container, op operation, n int) error {
	s.mustBeOpen()
	inUse := s.len + s.retiredHoles()
	if n <= int(s.room)-inUse {
		return nil
	}
	p := &s.plan
	if n > p.capacity-inUse {
		return p.full(op, n, inUse)
	}
	need, committed := inUse+n, c.committed()
	ahead := min(max(need, (committed+p.stepFrom(committed))/p.sizeElement), p.capacity)
	room := s.room
	err := op.commitAhead(need, ahead, c.commit)
	if invariants.Enabled && s.room != room {
		c.checkInvariants()
	}
	return err
}

// search returns the lowest free slot. If there is no free slot, search makes room. If it cannot make room,
// it panics and changes nothing.
//
//go:noinline
func (s *slots) search(c container) uint {
	s.mustBeOpen()
	for {
		if i, ok := s.lowest(); ok {
			return i
		}
		if err := s.makeRoom(c, opInsert, 1); err != nil {
			panic(err)
		}
	}
}

// behindLast returns the slot behind the last live one. Complexity: that of [bitset.Set.Gaps].
func (s *slots) behindLast() int {
	for lo, hi := range s.live.Gaps(s.room) {
		if hi == s.room {
			return int(lo)
		}
	}
	return int(s.room)
}

// free replaces presence word w by a word in which one live slot has become free. It also updates the
// summaries and the hint.
//
//go:noinline
func (s *slots) free(w uint, word uint64) {
	s.live.Store(w, word)
	if w < s.hint {
		s.lower(w)
	}
}

// clear frees all slots.
func (s *slots) clear() {
	s.live.Erase(0, min(s.room, uint(s.live.Len())))
	s.len = 0
	s.lower(0)
}

// changed counts a change and sometimes calls checkInvariants. The checks take at most a constant factor of
// the time of the changes, so that tests can use large containers.
func (s *slots) changed(c container) {
	if s.unchecked++; s.unchecked*16 >= int(s.room) {
		c.checkInvariants()
	}
}

// broken panics because the bookkeeping contradicts itself.
func (s *slots) broken(format string, args ...any) {
	panic("bulk: " + s.plan.name + ": broken invariant: " + fmt.Sprintf(format, args...))
}

// checkInvariants panics when the bookkeeping of the slots contradicts itself.
func (s *slots) checkInvariants() {
	s.unchecked = 0
	s.live.CheckInvariants()
	if n := s.live.Count(); n != s.len {
		s.broken("%d presence bits for %d elements", n, s.len)
	}
	if int(s.room) > s.plan.capacity {
		s.broken("room for %d elements exceeds the capacity %d", s.room, s.plan.capacity)
	}
	if i := s.live.Next(s.room); i < uint(s.live.Len()) {
		s.broken("slot %d is live, but there are %d slots", i, s.room)
	}
	for w := range min(s.hint, (s.room+wordBits-1)/wordBits) {
		if free := ^s.live.Word(w) &^ s.retired[w]; free != 0 {
			s.broken("slot %d is free below the hint %d", w*wordBits+uint(bits.TrailingZeros64(free)), s.hint)
		}
	}
	if s.room > 0 && s.skip != s.retired[s.hint] {
		s.broken("retired slots %#x are to be skipped, not %#x", s.retired[s.hint], s.skip)
	}
}

// close gives the memory back. A closed container has no room and no free slot, so that its short paths reach
// mustBeOpen.
func (s *slots) close() error {
	if err := s.region.Close(); err != nil {
		return err
	}
	*s = slots{words: unsafe.Pointer(&noFree), live: s.live, region: s.region, plan: s.plan,
		ended: &closedError{s.plan.name}}
	return nil
}

func (s *slots) mustBeOpen() {
	if s.ended != nil {
		panic(s.ended)
	}
}

// reserved returns the bytes of addresses of the container.
func (s *slots) reserved() int {
	if s.ended != nil {
		return 0
	}
	return s.region.Size()
}
