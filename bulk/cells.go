package bulk

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/vm"
)

// cells hands out the memory of lists. It knows sizes and places, not what lies there.
//
// The memory is divided into units of 64 KiB, less in a small container. A slab is one unit, or a few, cut into cells of
// one size class; which cells of it are free is one bit each, in a table apart from the elements. A list that is larger
// than a unit gets a stretch of whole units to itself. Everything goes to the lowest free place: the lowest stretch of units that
// is long enough, the lowest slab of a class with a free cell, the lowest cell there. So lists pack towards low addresses,
// and no memory of an element is written to keep the books. A class takes its cells 64 at a time, a word of bits, and
// hands out these before it looks for lower ones.
//
// A place is an offset in multiples of 8 bytes, more where that would not reach all of the memory with 32 bits.
type cells struct {
	elements  denseSpan
	table     denseSpan // a slab and the bits of its cells for each unit
	slabs     unsafe.Pointer
	bytesSlab uint // of one entry of the table
	shiftUnit uint8
	// shiftPlace is the size of a place, shiftBoth the number of places in a unit, as powers of two.
	shiftPlace, shiftBoth uint8

	classes []sizeClass
	byRoom  [maxByRoom + 1]uint8 // the class for so many elements
	used    *bitset.Set          // units that a slab or a stretch has
	units   uint                 // as many as the capacity allows
	usable  uint                 // units with memory
	lowest  uint                 // no unit below this one is free

	doubles uint32 // elements: as many fill half a cache line
	plan    plan
}

// sizeClass is one size of cells.
type sizeClass struct {
	room   uint32      // elements that a cell holds
	places uint32      // of a cell
	magic  uint64      // 2³² ÷ places, rounded up
	cells  uint32      // of a slab
	units  uint32      // of a slab
	lowest uint        // the lowest slab with a free cell, or noSlab
	open   *bitset.Set // the slabs with free cells, by their first units

	ready     uint64 // free cells that were taken out of their slab's word of bits to be handed out next
	readyAt   uint32 // the place of the first of that word, free or not
	readySlab uint32
	readyWord uint32

	lists uint // that Compact has yet to find cells for
}

// slab describes a unit. Of units that belong together it is the first that counts, the others lead to it.
type slab struct {
	back  uint32 // how many units before this one the first is
	units uint32 // of the slab or stretch
	class uint32 // stretchClass for a stretch of one list
	free  uint32 // cells, without those that the class has ready
	to    uint32 // where Compact puts it
	any   uint64 // the words of bits with free cells
}

const (
	stretchClass = math.MaxUint32
	noSlab       = math.MaxUint
	maxRoom      = min(math.MaxUint32, math.MaxInt)
	maxByRoom    = 64

	largestUnit = 64 << 10
	// leastUnits is what units are made smaller for: below it a container would have too few for its classes.
	leastUnits    = 128
	leastCell     = 32 // bytes
	doublingBytes = 64 // bytes; lists within one grow by doubling
	// maxSlabUnits bounds slabs. Up to it there is always a number of units of which an eighth at most is cut off.
	maxSlabUnits = 8
	// maxSlack is more units than a slab of each class takes: there are two classes to each doubling of a cell.
	maxSlack = 64 * maxSlabUnits
)

// planCells decides how the memory of a container is divided.
func planCells(p plan) cells {
	c := cells{plan: p, doubles: uint32(doublingBytes / 2 / p.sizeElement)}
	bytes := p.capacity * p.sizeElement
	unit := vm.PageSize()
	for unit < largestUnit && bytes/unit >= leastUnits {
		unit *= 2
	}
	c.shiftUnit = uint8(bits.TrailingZeros(uint(unit)))
	c.units = max(1, uint(bytes+unit-1)>>c.shiftUnit)
	c.shiftPlace = 3
	for uint64(c.units+maxSlack)<<c.shiftUnit>>c.shiftPlace > math.MaxUint32 {
		c.shiftPlace++
	}
	c.shiftBoth = c.shiftUnit - c.shiftPlace
	c.planClasses()
	if !p.byBudget {
		// Each class may have a slab that is not full.
		for _, k := range c.classes {
			c.units += uint(k.units)
		}
	}
	most := uint32(0)
	for _, k := range c.classes {
		most = max(most, k.cells)
	}
	c.bytesSlab = uint(unsafe.Sizeof(slab{})) + uint(most+wordBits-1)/wordBits*bytesWord
	return c
}

// planClasses makes the size classes: 1, 2, 3, 4, 6, 8, 12, 16 elements and so on, up to a unit.
func (c *cells) planClasses() {
	place := 1 << c.shiftPlace
	for n, step := 1, 1; ; {
		bytes := (n*c.plan.sizeElement + place - 1) &^ (place - 1)
		if bytes > 1<<c.shiftUnit {
			break
		}
		if bytes >= leastCell {
			k := sizeClass{room: uint32(bytes / c.plan.sizeElement), places: uint32(bytes >> c.shiftPlace), lowest: noSlab,
				open: bitset.NewOnHeap()}
			k.magic = (1<<32 + uint64(k.places) - 1) / uint64(k.places)
			k.units = c.slabUnits(bytes)
			k.cells = min(k.units<<c.shiftUnit/uint32(bytes), wordBits*wordBits)
			if last := len(c.classes) - 1; last >= 0 && c.classes[last].places == k.places {
				c.classes = c.classes[:last] // the same, for fewer elements
			}
			c.classes = append(c.classes, k)
		}
		// 1, 2, 3, 4, 6, 8, 12, 16: two steps to each doubling.
		if n >= 4 && n&(n-1) == 0 {
			step = n / 2
		}
		n += step
	}
	for n := range c.byRoom {
		c.byRoom[n] = uint8(c.search(n))
	}
	c.used = bitset.NewOnHeap()
}

// slabUnits returns how many units a slab of cells of so many bytes takes: as few as cut off an eighth at most.
func (c *cells) slabUnits(bytes int) uint32 {
	units := 1
	for units < maxSlabUnits && units<<c.shiftUnit%bytes > units<<c.shiftUnit/8 {
		units++
	}
	return uint32(units)
}

func (c *cells) bytesElements() int { return int(c.units) << c.shiftUnit }

func (c *cells) bytesSlabs() int { return int(c.units * c.bytesSlab) }

// mostCells returns how many lists the container can have.
func (c *cells) mostCells() int {
	if len(c.classes) == 0 {
		return int(c.units)
	}
	return min(maxSlots-1, int(c.units)<<c.shiftBoth/int(c.classes[0].places))
}

// carve takes the memory from r.
func (c *cells) carve(r *vm.Region) (err error) {
	if c.elements, err = carve(r, c.bytesElements()); err != nil {
		return err
	}
	c.table, err = carve(r, c.bytesSlabs())
	c.slabs = c.table.Base()
	return err
}

// slab and words are sound for usable units: so far the table is committed, and it never moves before Close.

func (c *cells) slab(u uint) *slab { return (*slab)(unsafe.Add(c.slabs, u*c.bytesSlab)) }

// word returns word i of the bits of the free cells of a slab, which lie behind it. It is sound for the words of its cells.
func (s *slab) word(i uint32) *uint64 {
	return (*uint64)(unsafe.Add(unsafe.Pointer(s), unsafe.Sizeof(slab{})+uintptr(i)*bytesWord))
}

// classFor returns the smallest class for n elements, or the number of classes where none is large enough.
func (c *cells) classFor(n int) int {
	if n <= maxByRoom {
		return int(c.byRoom[n])
	}
	return c.search(n)
}

func (c *cells) search(n int) int {
	i, _ := slices.BinarySearchFunc(c.classes, n, func(k sizeClass, n int) int { return int(k.room) - n })
	return i
}

// take hands out a cell or a stretch for at least n elements, up to maxRoom, or changes nothing.
func (c *cells) take(op string, n int) (place, room uint32, err error) {
	k := c.classFor(n)
	if k == len(c.classes) {
		return c.takeStretch(op, n, 0)
	}
	cl := &c.classes[k]
	if cl.ready == 0 {
		if err := c.prepare(op, k); err != nil {
			return 0, 0, err
		}
	}
	m := cl.ready
	cl.ready = m & (m - 1)
	return cl.readyAt + uint32(bits.TrailingZeros64(m))*cl.places, cl.room, nil
}

// prepare makes the lowest free cells of class k ready, all of a word, or changes nothing.
//
//go:noinline
func (c *cells) prepare(op string, k int) error {
	cl := &c.classes[k]
	if cl.lowest == noSlab {
		if err := c.newSlab(op, k); err != nil {
			return err
		}
	}
	s := c.slab(cl.lowest)
	i := uint32(bits.TrailingZeros64(s.any))
	w := s.word(i)
	cl.ready, cl.readySlab, cl.readyWord = *w, uint32(cl.lowest), i
	cl.readyAt = cl.readySlab<<c.shiftBoth + i*wordBits*cl.places
	*w = 0
	s.any &= s.any - 1
	s.free -= uint32(bits.OnesCount64(cl.ready))
	if s.any == 0 {
		cl.open.Clear(cl.lowest)
		cl.findLowest(cl.lowest)
	}
	return nil
}

// putBack returns the cells that a class has ready to their slab.
func (c *cells) putBack(cl *sizeClass) {
	if cl.ready == 0 {
		return
	}
	s := c.slab(uint(cl.readySlab))
	*s.word(cl.readyWord) |= cl.ready
	s.any |= 1 << cl.readyWord
	s.free += uint32(bits.OnesCount64(cl.ready))
	cl.ready = 0
	cl.addOpen(uint(cl.readySlab))
}

// findLowest sets the lowest slab with a free cell, which is not before u.
func (cl *sizeClass) findLowest(u uint) {
	if cl.lowest = cl.open.Next(u); cl.lowest >= uint(cl.open.Len()) {
		cl.lowest = noSlab
	}
}

// give takes back a cell or a stretch that has room for so many elements.
func (c *cells) give(place, room uint32) {
	k := c.classFor(int(room))
	u := uint(place >> (c.shiftBoth & 31))
	if k == len(c.classes) {
		c.giveUnits(u, uint(c.slab(u).units))
		return
	}
	cl := &c.classes[k]
	s := c.slab(u)
	if s.back > 0 {
		u -= uint(s.back)
		s = c.slab(u)
	}
	// The distance is i × places, less than 2³², and magic × places is less than 2³² + places; so the product is i and a
	// fraction.
	i := uint32(uint64(place-uint32(u)<<(c.shiftBoth&31)) * cl.magic >> 32)
	if i/wordBits == cl.readyWord && uint32(u) == cl.readySlab && cl.ready != 0 {
		cl.ready |= 1 << (i % wordBits)
		return
	}
	*s.word(i / wordBits) |= 1 << (i % wordBits)
	if s.any == 0 {
		cl.addOpen(u)
	}
	s.any |= 1 << (i / wordBits)
	if s.free++; s.free == cl.cells {
		c.giveSlab(cl, u)
	}
}

// giveSlab gives a slab without lists back, unless it is the only one of its class with free cells: one that is emptied and
// used by turns stays a slab.
func (c *cells) giveSlab(cl *sizeClass, u uint) {
	if cl.lowest == u && cl.open.Next(u+1) >= uint(cl.open.Len()) {
		return
	}
	cl.open.Clear(u)
	if cl.lowest == u {
		cl.findLowest(u)
	}
	c.giveUnits(u, uint(cl.units))
}
