package bitset

import (
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// BlockBits is how many slots a block has, the unit of the first summary level.
const BlockBits = blockBits

const (
	wordBits  = 64
	blockBits = 64 * wordBits
	groupBits = 64 * blockBits
	ones      = ^uint64(0)
)

// summary describes 64 things of the level below.
type summary struct {
	any  uint64 // which of them hold a set bit
	full uint64 // which of them hold nothing else
}

// Set is a set of slots. Make one with [New]; it must not be copied.
type Set struct {
	words  unsafe.Pointer // usable words
	blocks unsafe.Pointer // a summary for each 64 words
	groups unsafe.Pointer // a summary for each 64 blocks
	usable uint           // words
	spans  [3]vm.Span     // groups, blocks, words: in this order in memory, so that small sets are one mapping
}

// Levels begin at different cache lines of their first page. An operation on an entity touches one word of each of its
// columns' sets, at the same index in all. If these were equally far into a page, they would compete for the same few
// places of the first-level cache, and a load from one would wait for the store to another: processors compare the low bits
// of addresses first.
const (
	cacheLine = 64
	skewRoom  = 64 * cacheLine // every span has so much more than its level, so that sets of one size behave alike
	stepAhead = 64 << 10       // least bytes by which a level grows
)

// Skew returns how far to move the i-th of some arrays that are read at the same index: a multiple of a cache line, below
// 4096, spread evenly over any consecutive or regularly spaced i.
func Skew(i int) int {
	return int(uint64(i)*0x9E3779B97F4A7C15>>58) * cacheLine // Knuth's multiplicative hashing, by the golden ratio
}

func ceil(n, unit int) int { return (n + unit - 1) / unit }

// sizes returns the bytes of the three levels for capacity slots.
func sizes(capacity int) [3]int {
	const pair = int(unsafe.Sizeof(summary{}))
	return [3]int{
		ceil(capacity, groupBits) * pair,
		ceil(capacity, blockBits) * pair,
		ceil(capacity, wordBits) * 8,
	}
}

// Size returns the bytes of addresses that a set of capacity slots carves from its region, at most.
func Size(capacity int) int {
	total := 0
	for _, n := range sizes(capacity) {
		total += ceil(n+skewRoom, vm.PageSize()) * vm.PageSize()
	}
	return total
}

// New carves a set of capacity slots from r. No slot is usable before [Set.Grow]. It fails as [vm.Region.Carve] does.
func New(r *vm.Region, capacity int) (*Set, error) {
	s := new(Set)
	for i, n := range sizes(capacity) {
		span, err := r.Carve(n+skewRoom, 0)
		if err != nil {
			return nil, err
		}
		s.spans[i] = span
	}
	s.groups, s.blocks, s.words = s.level(0), s.level(1), s.level(2)
	return s, nil
}

// level returns the address of the first element of a level.
func (s *Set) level(i int) unsafe.Pointer {
	return unsafe.Add(s.spans[i].Base(), s.skew(i))
}

// skew returns how far into its span a level begins.
func (s *Set) skew(i int) int { return Skew(s.spans[i].Offset() / vm.PageSize()) }

// committed returns the bytes of a level that are committed, whatever its skew.
func (s *Set) committed(i int) int { return max(0, s.spans[i].Committed()-skewRoom) }

// need returns the bytes of a span that hold so many bytes of its level.
func need(bytes int) int {
	if bytes == 0 {
		return 0
	}
	return bytes + skewRoom
}

// Grow makes at least the first n slots usable; new ones are clear. It fails as [vm.Span.Grow] does, and then the set is
// as it was.
func (s *Set) Grow(n int) error {
	if uint(n) <= s.usable*wordBits {
		return nil
	}
	var before [3]int
	for i := range s.spans {
		before[i] = s.spans[i].Committed()
	}
	for i, bytes := range sizes(n) {
		// As much ahead as a span does by itself, and the room for the skew: so that the summaries of a set of the usual
		// size are committed whole, and one mapping with the words.
		step := max(stepAhead, s.spans[i].Committed()/8) + skewRoom
		if err := s.spans[i].Grow(need(bytes), step); err != nil {
			for k := range i {
				// Where shrinking fails too, memory stays committed that the next Grow will use.
				_ = s.spans[k].Shrink(before[k])
			}
			return err
		}
	}
	s.measure()
	return nil
}

// Shrink gives back the memory of the slots from n on, which must be clear, as far as it fills pages.
func (s *Set) Shrink(n int) {
	for i, keep := range sizes(n) {
		// Where this fails, memory stays committed that the next Grow will use.
		_ = s.spans[i].Shrink(need(keep))
	}
	s.measure()
}

// measure counts the usable words.
func (s *Set) measure() {
	// The words' prefix may end inside a block whose summary is not committed: count whole blocks that are.
	const pair = int(unsafe.Sizeof(summary{}))
	words := min(s.committed(2)/8, s.committed(1)/pair*64, s.committed(0)/pair*64*64)
	s.usable = uint(words)
}

// Committed returns the bytes of memory that the set may touch.
func (s *Set) Committed() int {
	return s.spans[0].Committed() + s.spans[1].Committed() + s.spans[2].Committed()
}

// Len returns the number of usable slots.
func (s *Set) Len() int { return int(s.usable * wordBits) }

// Words returns the address of the first word, for callers that test many bits in a loop and keep within Len.
func (s *Set) Words() unsafe.Pointer { return s.words }

// word, block and group are sound for indices below the usable length: the spans are committed that far, never move, and
// hold no Go pointers.
func (s *Set) word(i uint) *uint64   { return (*uint64)(unsafe.Add(s.words, i*8)) }
func (s *Set) block(i uint) *summary { return (*summary)(unsafe.Add(s.blocks, i*16)) }
func (s *Set) group(i uint) *summary { return (*summary)(unsafe.Add(s.groups, i*16)) }

// Word returns the 64 bits of word i, which must be usable.
func (s *Set) Word(i uint) uint64 { return *s.word(i) }

// Block returns which of the 64 words of block i hold a set slot, and which are full. The block must be usable.
func (s *Set) Block(i uint) (any, full uint64) {
	b := s.block(i)
	return b.any, b.full
}

// Test reports whether slot i is set. Slots beyond the usable ones are clear.
func (s *Set) Test(i uint) bool {
	return i/wordBits < s.usable && *s.word(i / wordBits)>>(i%wordBits)&1 != 0
}

// Set sets slot i, which must be usable.
func (s *Set) Set(i uint) {
	w := s.word(i / wordBits)
	before := *w
	after := before | 1<<(i%wordBits)
	*w = after
	if before == 0 || after == ones {
		s.Summarize(i/wordBits, after)
	}
}

// Clear clears slot i, which must be usable.
func (s *Set) Clear(i uint) {
	w := s.word(i / wordBits)
	before := *w
	after := before &^ (1 << (i % wordBits))
	*w = after
	if after == 0 || before == ones {
		s.Summarize(i/wordBits, after)
	}
}

// Or sets the slots of mask in word i, which must be usable.
func (s *Set) Or(i uint, mask uint64) { s.Store(i, *s.word(i)|mask) }

// AndNot clears the slots of mask in word i, which must be usable.
func (s *Set) AndNot(i uint, mask uint64) { s.Store(i, *s.word(i)&^mask) }

// Store replaces word i, which must be usable.
func (s *Set) Store(i uint, after uint64) {
	w := s.word(i)
	before := *w
	*w = after
	if (before == 0) != (after == 0) || (before == ones) != (after == ones) {
		s.Summarize(i, after)
	}
}

// Summarize brings the summaries up to date after word i became after: for callers that write words by themselves, which
// must call it when a word becomes or was zero or full. It stops where nothing changes above.
//
//go:noinline
func (s *Set) Summarize(i uint, after uint64) {
	b := s.block(i / 64)
	bit := uint64(1) << (i % 64)
	old := *b
	if after != 0 {
		b.any |= bit
	} else {
		b.any &^= bit
	}
	if after == ones {
		b.full |= bit
	} else {
		b.full &^= bit
	}
	if (old.any == 0) != (b.any == 0) || (old.full == ones) != (b.full == ones) {
		s.summarizeBlock(i/64, *b)
	}
}

func (s *Set) summarizeBlock(i uint, b summary) {
	g := s.group(i / 64)
	bit := uint64(1) << (i % 64)
	if b.any != 0 {
		g.any |= bit
	} else {
		g.any &^= bit
	}
	if b.full == ones {
		g.full |= bit
	} else {
		g.full &^= bit
	}
}

// Fill sets the slots [lo, hi), which must be usable. Complexity: one step a word.
func (s *Set) Fill(lo, hi uint) { s.storeRange(lo, hi, ones) }

// Erase clears the slots [lo, hi), which must be usable. Complexity: one step a word.
func (s *Set) Erase(lo, hi uint) { s.storeRange(lo, hi, 0) }

// storeRange writes value, all ones or zero, to the slots [lo, hi).
func (s *Set) storeRange(lo, hi uint, value uint64) {
	for lo < hi {
		i := lo / wordBits
		if lo%blockBits == 0 && hi-lo >= blockBits {
			for w := i; w < i+64; w++ {
				*s.word(w) = value
			}
			*s.block(i / 64) = summary{any: value, full: value}
			s.summarizeBlock(i/64, summary{any: value, full: value})
			lo += blockBits
			continue
		}
		end := min(hi, (i+1)*wordBits)
		mask := ones << (lo % wordBits) & (ones >> (-end % wordBits))
		s.Store(i, *s.word(i)&^mask|value&mask)
		lo = end
	}
}

// Empty clears all slots. Complexity: one step for each block, and for each word that is not empty; memory that was never
// touched stays so.
func (s *Set) Empty() {
	blocks := (s.usable + 63) / 64
	for b := uint(0); b < blocks; b++ {
		sum := s.block(b)
		if sum.any == 0 {
			continue
		}
		for m := sum.any; m != 0; m &= m - 1 {
			*s.word(b*64 + uint(bits.TrailingZeros64(m))) = 0
		}
		*sum = summary{}
		s.summarizeBlock(b, *sum)
	}
}

// Next returns the first set slot at or after i, or Len where there is none. Complexity: at most one step for each
// 262,144 slots passed, and a few more.
func (s *Set) Next(i uint) uint {
	w := i / wordBits
	if w >= s.usable {
		return s.usable * wordBits
	}
	if m := *s.word(w) >> (i % wordBits); m != 0 {
		return i + uint(bits.TrailingZeros64(m))
	}
	w++
	blocks := (s.usable + 63) / 64
	for b := w / 64; b < blocks; b = w / 64 {
		if m := s.block(b).any >> (w % 64); m != 0 {
			w += uint(bits.TrailingZeros64(m))
			return w*wordBits + uint(bits.TrailingZeros64(*s.word(w)))
		}
		b++
		for b < blocks {
			if m := s.group(b/64).any >> (b % 64); m != 0 {
				b += uint(bits.TrailingZeros64(m))
				break
			}
			b = (b/64 + 1) * 64
		}
		w = b * 64
	}
	return s.usable * wordBits
}

// NextClear returns the first clear slot at or after i, or Len where there is none. Complexity: as [Set.Next].
func (s *Set) NextClear(i uint) uint {
	w := i / wordBits
	if w >= s.usable {
		return s.usable * wordBits
	}
	if m := ^*s.word(w) >> (i % wordBits); m != 0 {
		return i + uint(bits.TrailingZeros64(m))
	}
	w++
	blocks := (s.usable + 63) / 64
	for b := w / 64; b < blocks; b = w / 64 {
		if m := ^s.block(b).full >> (w % 64); m != 0 {
			w += uint(bits.TrailingZeros64(m))
			if w >= s.usable {
				break
			}
			return w*wordBits + uint(bits.TrailingZeros64(^*s.word(w)))
		}
		b++
		for b < blocks {
			if m := ^s.group(b/64).full >> (b % 64); m != 0 {
				b += uint(bits.TrailingZeros64(m))
				break
			}
			b = (b/64 + 1) * 64
		}
		w = b * 64
	}
	return s.usable * wordBits
}

// OccupiedWords returns the number of words with a set slot. Complexity: one step for each block.
func (s *Set) OccupiedWords() int {
	n := 0
	for b := range (s.usable + 63) / 64 {
		n += bits.OnesCount64(s.block(b).any)
	}
	return n
}

// Count returns the number of set slots. Complexity: one step for each word that is not empty.
func (s *Set) Count() int {
	n := 0
	blocks := (s.usable + 63) / 64
	for b := uint(0); b < blocks; b++ {
		sum := s.block(b)
		n += bits.OnesCount64(sum.full) * wordBits
		for m := sum.any &^ sum.full; m != 0; m &= m - 1 {
			n += bits.OnesCount64(*s.word(b*64 + uint(bits.TrailingZeros64(m))))
		}
	}
	return n
}
