package bitset

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

const (
	// BlockBits is the number of slots in a block.
	BlockBits = 64 * wordBits
	// BlockBytes is the size of a block's summary in bytes.
	BlockBytes = int(unsafe.Sizeof(summary{}))

	wordBits        = 64
	groupBits       = 64 * BlockBits
	bytesWord       = wordBits / 8
	bytesBlockWords = 64 * bytesWord // size of a block's words in bytes
	ones            = ^uint64(0)
)

// summary describes the 64 words of a block, or the 64 blocks of a group.
type summary struct {
	any  uint64 // mask of the words or blocks that have a set slot
	full uint64 // mask of the words or blocks whose slots are all set
}

// Set is a set of slots. [New] and [NewOnHeap] make a Set. A Set must not be copied.
type Set struct {
	words  unsafe.Pointer   // address of word 0
	blocks unsafe.Pointer   // address of the summary of block 0; the next summaries lie below this address
	groups []summary        // summaries of the groups, on the Go heap
	_      [0]atomic.Uint64 // aligns the next field for atomic operations on 32-bit processors
	first  [1]summary       // memory for the field groups while there is only one group
	usable uint             // number of usable words
	seam   vm.Seam          // memory of the block summaries and the words
	onHeap bool             // whether NewOnHeap made the set
	loose  atomic.Bool      // whether the summaries may be loose: see toggle.go
	skew   int              // number of bytes from the beginning of a page to word 0
}

// The words of different sets usually begin at different cache lines of a page. An operation on an entity
// touches one word in the set of each of its columns, at the same index in all sets. If these words had equal
// offsets in their pages, they would compete for a few places of the first-level cache. A load of one word
// would also wait for the store to another word, because processors compare the low bits of addresses first.
const (
	cacheLine = 64
	lineWords = cacheLine / bytesWord
	// Every set has skewRoom additional bytes, so that its number of pages does not depend on the skew.
	skewRoom = 64 * cacheLine
)

// Skew returns an offset from the beginning of a page, in bytes, for array i of several arrays that are read
// at equal indices. The offset is a multiple of a cache line and less than 4,096. The offsets for consecutive
// or regularly spaced i are spread evenly.
func Skew(i int) int {
	// The method is Knuth's multiplicative hashing with the golden ratio.
	return int(uint64(i)*0x9E3779B97F4A7C15>>58) * cacheLine
}

func ceil(n, unit int) int { return (n + unit - 1) / unit }

// above returns the number of bytes above the seam for capacity slots, if the words begin skew bytes after
// the beginning of a page.
func above(capacity, skew int) int {
	if capacity == 0 {
		return 0
	}
	return skewRoom - skew + ceil(capacity, wordBits)*bytesWord
}

// sizes returns the bytes of address space for the block summaries and for the words of capacity slots. The
// results are multiples of the page size.
func sizes(capacity int) (blocks, words int) {
	page := vm.PageSize()
	words = ceil(above(capacity, 0), page) * page
	return ceil(ceil(words, bytesBlockWords)*BlockBytes, page) * page, words
}

// Size returns the bytes of address space that a set of capacity slots carves from its region.
func Size(capacity int) int {
	blocks, words := sizes(capacity)
	return blocks + words
}

// New carves a set of capacity slots from r. No slot is usable before [Set.Grow]. New fails as
// [vm.Region.CarvePrivate] does.
func New(r *vm.Region, capacity int) (*Set, error) {
	span, err := r.CarvePrivate(Size(capacity), 0)
	if err != nil {
		return nil, err
	}
	blocks, _ := sizes(capacity)
	s := &Set{skew: Skew(span.Offset() / vm.PageSize())}
	// If the skew is not zero, the summaries of the first blocks lie in the page in which the words begin.
	s.seam = span.Seam(blocks+s.skew, BlockBytes, bytesBlockWords)
	s.words = s.seam.Base()
	s.blocks = unsafe.Add(s.words, -BlockBytes)
	return s, nil
}

// Grow makes at least the first n slots usable. New slots are clear. Grow fails as [vm.Seam.CommitTo] does. A
// failed Grow leaves the set unchanged.
func (s *Set) Grow(n int) error {
	if uint(n) <= s.usable*wordBits {
		return nil
	}
	if s.onHeap {
		s.growHeap(n)
		return nil
	}
	if err := s.seam.CommitTo(s.need(n)); err != nil {
		return err
	}
	s.measure()
	return nil
}

// need returns the number of bytes above the seam for n slots. For 1 to 512 slots, need returns 1, which
// commits the first page. This page always has room for a cache line of words, because the skew is at most
// 4,032 bytes.
func (s *Set) need(n int) int {
	if n > 0 && n <= lineWords*wordBits {
		return 1
	}
	return above(n, s.skew)
}

// Shrink rounds n up to whole words, and makes the slots from n on unusable. These slots must be clear.
// Shrink returns pages without usable slots to the operating system. Shrink does not change a set of
// [NewOnHeap].
func (s *Set) Shrink(n int) {
	if s.onHeap {
		return
	}
	s.Tighten() // the summaries must have no bit of a slot that becomes unusable
	maxUsable := min(s.usable, uint(ceil(n, wordBits)))
	// If DecommitTo fails, the memory stays committed, and the next Grow uses the memory.
	_ = s.seam.DecommitTo(0, s.need(n))
	s.measure()
	s.usable = min(s.usable, maxUsable)
}

// measure derives the number of usable words from the committed memory.
func (s *Set) measure() {
	words := max(0, s.seam.Above()-skewRoom+s.skew) / bytesWord
	if words == 0 && s.seam.Above() > 0 {
		words = lineWords
	}
	s.usable = uint(words)
	s.addGroups()
}

// Committed returns the number of committed bytes of the set. It returns 0 for a set on the Go heap.
func (s *Set) Committed() int { return s.seam.Committed() }

// Len returns the number of usable slots.
func (s *Set) Len() int { return int(s.usable * wordBits) }

// Words returns the address of the first word, for callers that test many bits in a loop. The caller must not
// read beyond Len.
func (s *Set) Words() unsafe.Pointer { return s.words }

// The conversions in the methods word and block are sound for usable words and blocks: their memory exists
// and holds no Go pointers. Only growHeap moves the memory, and growHeap updates s.words and s.blocks.
func (s *Set) word(i uint) *uint64   { return (*uint64)(unsafe.Add(s.words, i*bytesWord)) }
func (s *Set) block(i uint) *summary { return (*summary)(unsafe.Add(s.blocks, -int(i)*BlockBytes)) }
func (s *Set) group(i uint) *summary { return &s.groups[i] }

// Word returns the 64 bits of word i, which must be usable.
func (s *Set) Word(i uint) uint64 { return *s.word(i) }

// Block returns two masks of the 64 words of block i: the words with a set slot, and the full words. The
// block must be usable.
func (s *Set) Block(i uint) (any, full uint64) {
	b := s.block(i)
	return b.any, b.full
}

// Test reports whether slot i is set. Slots that are not usable count as clear.
func (s *Set) Test(i uint) bool {
	return i/wordBits < s.usable && s.Load64(i/wordBits)>>(i%wordBits)&1 != 0
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

// Summarize updates the summaries for word i, whose new value is value. A caller that writes a word directly
// must call Summarize if the old or the new value is zero or all ones.
//
//go:noinline
func (s *Set) Summarize(i uint, value uint64) {
	b := s.block(i / 64)
	bit := uint64(1) << (i % 64)
	old := *b
	if value != 0 {
		b.any |= bit
	} else {
		b.any &^= bit
	}
	if value == ones {
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

// Fill sets the slots [lo, hi), which must be usable. Complexity: one step for each word.
func (s *Set) Fill(lo, hi uint) { s.storeRange(lo, hi, ones) }

// Erase clears the slots [lo, hi), which must be usable. Complexity: one step for each word.
func (s *Set) Erase(lo, hi uint) { s.storeRange(lo, hi, 0) }

// storeRange clears the slots [lo, hi) if value is 0, and sets them if value is ones.
func (s *Set) storeRange(lo, hi uint, value uint64) {
	for lo < hi {
		i := lo / wordBits
		if lo%BlockBits == 0 && hi-lo >= BlockBits {
			for w := i; w < i+64; w++ {
				*s.word(w) = value
			}
			*s.block(i / 64) = summary{any: value, full: value}
			s.summarizeBlock(i/64, summary{any: value, full: value})
			lo += BlockBits
			continue
		}
		end := min(hi, (i+1)*wordBits)
		mask := ones << (lo % wordBits) & (ones >> (-end % wordBits))
		s.Store(i, *s.word(i)&^mask|value&mask)
		lo = end
	}
}

// Load copies words to the beginning of an empty set. The set must have at least len(words) usable words.
func (s *Set) Load(words []uint64) {
	s.Tighten()
	for i, from := uint(0), words; len(from) > 0; i++ {
		n := min(64, len(from))
		var b summary
		for k, word := range from[:n] {
			if word != 0 {
				*s.word(i*64 + uint(k)) = word
				b.any |= 1 << k
				if word == ones {
					b.full |= 1 << k
				}
			}
		}
		if b.any != 0 {
			*s.block(i) = b
			s.summarizeBlock(i, b)
		}
		from = from[n:]
	}
}

// Reset clears all slots. Complexity: one step for each word that is not empty, and one for each 262,144
// slots. Memory that was never touched stays untouched.
func (s *Set) Reset() {
	s.loose.Store(false)
	blocks := (s.usable + 63) / 64
	for g := range (blocks + 63) / 64 {
		group := s.group(g)
		for any := group.any; any != 0; any &= any - 1 {
			b := g*64 + uint(bits.TrailingZeros64(any))
			block := s.block(b)
			for some := block.any; some != 0; some &= some - 1 {
				*s.word(b*64 + uint(bits.TrailingZeros64(some))) = 0
			}
			*block = summary{}
		}
		*group = summary{}
	}
}

// Next returns the first set slot at or after i, or Len if there is none. Complexity: at most one step for
// each 262,144 slots passed, plus a constant number of steps, and one step for each word that is empty
// despite the summaries: see [Set.TurnOn].
func (s *Set) Next(i uint) uint {
	w := i / wordBits
	if w >= s.usable {
		return s.usable * wordBits
	}
	if m := s.Load64(w) >> (i % wordBits); m != 0 {
		return i + uint(bits.TrailingZeros64(m))
	}
	w++
	blocks := (s.usable + 63) / 64
	for b := w / 64; b < blocks; b = w / 64 {
		if m := atomic.LoadUint64(&s.block(b).any) >> (w % 64); m != 0 {
			w += uint(bits.TrailingZeros64(m))
			if m := s.Load64(w); m != 0 {
				return w*wordBits + uint(bits.TrailingZeros64(m))
			}
			w++
			continue
		}
		b++
		for b < blocks {
			if m := atomic.LoadUint64(&s.group(b/64).any) >> (b % 64); m != 0 {
				b += uint(bits.TrailingZeros64(m))
				break
			}
			b = (b/64 + 1) * 64
		}
		w = b * 64
	}
	return s.usable * wordBits
}

// NextClear returns the first clear slot at or after i, or Len if there is none. Complexity: as [Set.Next],
// and one step for each word that is full despite the summaries.
func (s *Set) NextClear(i uint) uint {
	w := i / wordBits
	if w >= s.usable {
		return s.usable * wordBits
	}
	if m := ^s.Load64(w) >> (i % wordBits); m != 0 {
		return i + uint(bits.TrailingZeros64(m))
	}
	w++
	blocks := (s.usable + 63) / 64
	for b := w / 64; b < blocks; b = w / 64 {
		if m := ^atomic.LoadUint64(&s.block(b).full) >> (w % 64); m != 0 {
			w += uint(bits.TrailingZeros64(m))
			if w >= s.usable {
				break
			}
			if m := ^s.Load64(w); m != 0 {
				return w*wordBits + uint(bits.TrailingZeros64(m))
			}
			w++
			continue
		}
		b++
		for b < blocks {
			if m := ^atomic.LoadUint64(&s.group(b/64).full) >> (b % 64); m != 0 {
				b += uint(bits.TrailingZeros64(m))
				break
			}
			b = (b/64 + 1) * 64
		}
		w = b * 64
	}
	return s.usable * wordBits
}

// OccupiedWords returns the number of words with a set slot. Complexity: one step for each block. If the
// summaries may be loose, also one step for each word that is not empty according to them.
func (s *Set) OccupiedWords() int {
	n, loose := 0, s.loose.Load()
	for b := range (s.usable + 63) / 64 {
		any := s.block(b).any
		n += bits.OnesCount64(any)
		for ; loose && any != 0; any &= any - 1 {
			if *s.word(b*64 + uint(bits.TrailingZeros64(any))) == 0 {
				n--
			}
		}
	}
	return n
}

// Count returns the number of set slots. Complexity: one step for each block, and one for each word that is
// neither empty nor full.
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

// CountRange returns the number of set slots in [lo, hi). Slots that are not usable count as clear.
// Complexity: one step for each block, for each word that is neither empty nor full, and for each word of a
// block that lies only partly in the range.
func (s *Set) CountRange(lo, hi uint) int {
	hi = min(hi, s.usable*wordBits)
	n := 0
	for lo < hi {
		i := lo / wordBits
		if lo%BlockBits == 0 && hi-lo >= BlockBits {
			b := s.block(i / 64)
			n += bits.OnesCount64(b.full) * wordBits
			for m := b.any &^ b.full; m != 0; m &= m - 1 {
				n += bits.OnesCount64(*s.word(i + uint(bits.TrailingZeros64(m))))
			}
			lo += BlockBits
			continue
		}
		end := min(hi, (i+1)*wordBits)
		n += bits.OnesCount64(*s.word(i) & (ones << (lo % wordBits)) & (ones >> (-end % wordBits)))
		lo = end
	}
	return n
}
