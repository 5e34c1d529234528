package bulk

import (
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/vm"
)

// generations holds the generation of each slot of a pool.
//
// Usually the 64 slots of a presence word share one generation. It is stored once, in a table that fits into
// the processor's caches. A read from a table with 4 bytes for each slot would take longer than the rest of a
// removal.
//
// A slot that is taken again while other slots of its word are live gets a generation of its own: the slot is
// apart. When all slots of a word have been taken and the word becomes empty, its slots usually share one
// generation again. A pool that is filled once, or filled and emptied as a whole, hardly uses the table of
// single slots.
type generations struct {
	shared  unsafe.Pointer // for each presence word: its generation; 0 if a slot is apart or none was taken
	commons unsafe.Pointer // for each presence word: a common
	slots   unsafe.Pointer // for each slot: its generation if it is apart
	tag     generation.Mark
	spans   [3]denseSpan // the memory of shared, commons and slots
}

// common is the state of the slots of a presence word. Taking a slot reads this state. A look-up reads it
// only if slots of the word are apart.
type common struct {
	apart      uint64 // bits of the slots that are apart
	generation uint32 // the generation of the other slots
	// fresh is the first slot of the word that was not taken since generation was set. One number suffices,
	// because the lowest free slot is taken first. Slots from fresh on are not apart.
	fresh uint32
}

const (
	bytesShared     = 4
	bytesCommon     = int(unsafe.Sizeof(common{}))
	bytesGeneration = 4
)

// sizesGenerations returns the bytes of the three tables for a number of slots.
func sizesGenerations(slots int) [3]int {
	words := max(1, (slots+wordBits-1)/wordBits)
	return [3]int{words * bytesShared, words * bytesCommon, max(1, slots) * bytesGeneration}
}

func newGenerations(r *vm.Region, slots int) (g generations, err error) {
	for i, bytes := range sizesGenerations(slots) {
		if g.spans[i], err = carve(r, bytes); err != nil {
			return g, err
		}
	}
	g.shared, g.commons, g.slots = g.spans[0].Base(), g.spans[1].Base(), g.spans[2].Base()
	g.tag = generation.NewMark()
	return g, nil
}

// grow commits memory for the given number of slots, or changes nothing.
func (g *generations) grow(slots int) error {
	before := g.committed()
	for i, bytes := range sizesGenerations(slots) {
		if err := g.spans[i].grow(bytes); err != nil {
			g.shrinkTo(before)
			return err
		}
	}
	return nil
}

func (g *generations) committed() (bytes [3]int) {
	for i := range g.spans {
		bytes[i] = g.spans[i].Committed()
	}
	return bytes
}

// shrinkTo decommits the tables down to an earlier result of the method committed.
func (g *generations) shrinkTo(bytes [3]int) {
	for i := range g.spans {
		g.spans[i].shrinkTo(bytes[i])
	}
}

func (g *generations) room() int {
	bytes := g.committed()
	return min(bytes[0]/bytesShared*wordBits, bytes[1]/bytesCommon*wordBits, bytes[2]/bytesGeneration)
}

// The next three methods are sound for slots below room: the memory of these slots is committed, and stays at
// its address until Close.

func (g *generations) ofWord(w uint) *uint32 { return (*uint32)(unsafe.Add(g.shared, w*bytesShared)) }

func (g *generations) common(w uint) *common {
	return (*common)(unsafe.Add(g.commons, w*uint(bytesCommon)))
}

func (g *generations) slot(i uint) *uint32 { return (*uint32)(unsafe.Add(g.slots, i*bytesGeneration)) }

// of returns the generation of slot i, which must have been taken before.
func (g *generations) of(i uint) uint32 {
	if shared := *g.ofWord(i / wordBits); shared != 0 {
		return shared
	}
	c := g.common(i / wordBits)
	if c.apart>>(i%wordBits)&1 != 0 {
		return *g.slot(i)
	}
	return c.generation
}

// take sets the generation of slot i, which is being taken, and returns it. empty reports whether the slot's
// word has no live slot. Pool.take has a copy of the code for a fresh slot in a word that is not empty.
func (g *generations) take(i uint, empty bool) uint32 {
	c := g.common(i / wordBits)
	if empty {
		// No handle to a slot of the word is valid, so all slots may share a generation that is higher than
		// all earlier generations.
		if last, ok := g.renewable(i / wordBits); ok {
			*c = common{generation: generation.Next(last, g.tag), fresh: uint32(i%wordBits) + 1}
			*g.ofWord(i / wordBits) = c.generation
			return c.generation
		}
	}
	if uint32(i%wordBits) >= c.fresh {
		c.fresh = uint32(i%wordBits) + 1
		return c.generation
	}
	return g.again(i)
}

// again advances the generation of slot i, which was taken before, and returns the new generation. The slot
// becomes apart.
func (g *generations) again(i uint) uint32 {
	c, own, bit := g.common(i/wordBits), g.slot(i), uint64(1)<<(i%wordBits)
	if c.apart&bit == 0 {
		c.apart |= bit
		*own = c.generation
		*g.ofWord(i / wordBits) = 0
	}
	*own = generation.Next(*own, g.tag)
	return *own
}

// When the slots of a word share a generation again, each slot skips fewer than maxSkipped generations.
const maxSkipped = 8

// renewable returns the highest generation of the slots of word w. ok reports whether all these slots should
// continue with the generation after it. They should not if only some of the slots were taken, if a slot
// would skip too many generations, or if no generation is left after the highest one. A slot that has used up
// its generations is lost.
func (g *generations) renewable(w uint) (last uint32, ok bool) {
	c := g.common(w)
	if c.generation == 0 {
		return 0, true
	}
	if c.fresh < wordBits {
		return 0, false
	}
	last = c.generation
	for m := c.apart; m != 0; m &= m - 1 {
		last = max(last, *g.slot(w*wordBits + uint(bits.TrailingZeros64(m))))
	}
	return last, last-c.generation < maxSkipped && !generation.Exhausted(last)
}

// exhausted returns the bits of the slots of word w that have no generations left.
func (g *generations) exhausted(w uint) uint64 {
	m := uint64(0)
	for i := range uint(g.common(w).fresh) {
		if generation.Exhausted(g.of(w*wordBits + i)) {
			m |= 1 << i
		}
	}
	return m
}
