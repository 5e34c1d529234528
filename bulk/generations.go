package bulk

import (
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/vm"
)

// generations holds the generation of each slot of a pool. Validating a handle must read the slot's
// generation, and a random read from a table with 4 bytes per slot would cost more than all other steps of a
// removal. So the common generation of the 64 slots of a presence word is stored once, in a table that is
// small enough for the processor's caches. A slot that is taken again while other slots of its word are live
// gets its own generation: the slot is then apart. When a word that was full becomes empty, its slots usually
// share one generation again. A pool that is filled once, or filled and emptied as a whole, never touches the
// memory for single slots.
type generations struct {
	shared  unsafe.Pointer // for each presence word the generation of its slots, or 0 if some are apart
	commons unsafe.Pointer // one entry of type common for each presence word
	slots   unsafe.Pointer // a generation for each slot; used only for slots that are apart
	tag     generation.Mark
	spans   [3]denseSpan // of the three tables
}

// common is the state of the slots of a presence word. Every take of a slot reads it; a look-up reads it only
// if the word has slots apart.
//
// Invariant: the slots below fresh were taken after the generation was set; the slots from fresh on were not,
// and are not apart. One number describes the taken slots, because the lowest free slot is taken first.
type common struct {
	apart      uint64 // the slots that have a generation of their own
	generation uint32 // the generation of the other slots
	fresh      uint32
}

const (
	bytesShared     = 4
	bytesCommon     = int(unsafe.Sizeof(common{}))
	bytesGeneration = 4
)

// sizesGenerations returns the sizes of the three tables for a number of slots.
func sizesGenerations(slots int) [3]int {
	words := max(1, (slots+wordBits-1)/wordBits)
	return [3]int{words * bytesShared, words * bytesCommon, max(1, slots) * bytesGeneration}
}

// newGenerations carves the generations of this many slots from r.
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

// grow commits memory for this many slots, or changes nothing.
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

// committed returns the committed bytes of the three tables.
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

// room returns the number of slots that have memory.
func (g *generations) room() int {
	bytes := g.committed()
	return min(bytes[0]/bytesShared*wordBits, bytes[1]/bytesCommon*wordBits, bytes[2]/bytesGeneration)
}

// The next three methods are sound for slots below room: their memory is committed, and the spans never move
// before Close.

func (g *generations) ofWord(w uint) *uint32 { return (*uint32)(unsafe.Add(g.shared, w*bytesShared)) }

func (g *generations) common(w uint) *common {
	return (*common)(unsafe.Add(g.commons, w*uint(bytesCommon)))
}

func (g *generations) slot(i uint) *uint32 { return (*uint32)(unsafe.Add(g.slots, i*bytesGeneration)) }

// of returns the generation of slot i, as a handle to the slot's element has it. The result for a slot
// without an element means nothing.
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

// take advances the generation of slot i, which is being taken, and returns the new generation. empty says
// that no slot of the word is live. If the slot is fresh and the word is not empty, the result is the common
// generation; [Pool.Insert] has a copy of the code for this case.
func (g *generations) take(i uint, empty bool) uint32 {
	c := g.common(i / wordBits)
	if empty {
		// No valid handle to any slot of the word is left, so all slots may share any generation above the
		// earlier ones.
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
// is apart afterwards.
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

// maxSkipped is one more than the counts that a slot may skip when its word's slots share a generation again.
const maxSkipped = 8

// renewable returns the highest generation of the slots of word w, and whether all of these slots should
// continue with that generation. They should not if only some of the slots were taken, or if a slot would
// skip maxSkipped counts or more, because a slot is lost when it has used up its counts.
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

// exhausted returns the slots of word w that have no counts left.
func (g *generations) exhausted(w uint) uint64 {
	m := uint64(0)
	for i := range uint(g.common(w).fresh) {
		if generation.Exhausted(g.of(w*wordBits + i)) {
			m |= 1 << i
		}
	}
	return m
}
