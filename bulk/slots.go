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
	room    uint           // number of slots for which memory is committed
	hint    uint           // index of a presence word; words before it have no slot that can be taken
	skip    uint64         // the retired slots of word hint, which Insert skips
	len     int            // number of live slots
	live    *bitset.Set
	retired map[uint]uint64 // the retired slots of each word that has some, by index of the word

	region    *vm.Region
	plan      plan
	ended     error // what methods panic with after Close; nil before
	unchecked int   // number of changes since checkInvariants ran
}

// container has the methods of a Pool or a Dense that its slots call.
type container interface {
	// commit makes at least the first n slots usable, or changes nothing.
	commit(n int) error
	// committed returns the number of bytes that are committed for elements.
	committed() int
	checkInvariants()
}

// newSlots reserves a region for a container's elements, presence bits and tables, and carves the presence
// bits from the region. sizes has the size of each table in bytes.
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

// noFree stands for the presence words of a container without memory. It has no free slot, so Insert calls
// search.
var noFree uint64 = full

const (
	full      = 1<<64 - 1 // a presence word without holes
	wordBits  = 64
	bytesWord = 8
)

// word returns the address of presence word i. The pointer is sound if word i has slots below room: these
// words are committed and do not move before Close.
func (s *slots) word(i uint) *uint64 { return (*uint64)(unsafe.Add(s.words, i*bytesWord)) }

// lowest returns the lowest slot that can be taken and has memory, and moves the hint to its word. It returns
// false if there is no such slot.
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

// makeRoom commits memory, so that at least n slots can be taken.
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

// search returns the lowest slot that can be taken. If there is none, search makes room or panics.
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

// behindLast returns the number of the slot after the last live slot. Complexity: that of [bitset.Set.Gaps].
func (s *slots) behindLast() int {
	for lo, hi := range s.live.Gaps(s.room) {
		if hi == s.room {
			return int(lo)
		}
	}
	return int(s.room)
}

// free stores a presence word in which one more slot is free, and updates the summaries and the hint.
//
//go:noinline
func (s *slots) free(w uint, word uint64) {
	s.live.Store(w, word)
	if w < s.hint {
		s.lower(w)
	}
}

func (s *slots) clear() {
	s.live.Erase(0, min(s.room, uint(s.live.Len())))
	s.len = 0
	s.lower(0)
}

// changed counts a change and sometimes calls checkInvariants. All checks together take time proportional to
// the number of changes, so that tests can use large containers.
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

// close gives the memory back. Afterwards the container has no room and no free slot, so that the fast paths
// of its methods fail and call mustBeOpen.
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

func (s *slots) reserved() int {
	if s.ended != nil {
		return 0
	}
	return s.region.Size()
}
