package bulk

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/vm"
)

// cells hands out the memory of lists. It depends on the size of the elements, but not on their type.
//
// The memory is divided into units of 64 KiB, or of fewer bytes in a small container. A slab is one unit, or
// a few, cut into cells of one size class. A list that is larger than a unit gets its own stretch of whole
// units. Each allocation takes the lowest free place, so that lists gather at low addresses: the lowest range
// of free units that is long enough, the lowest slab of a class with a free cell, the lowest free cell of
// that slab. A table outside the elements has one bit for each cell, set while the cell can be taken, so that
// a search for free memory reads no memory of elements. A class takes all cells whose bits are set in one
// 64-bit word, clears the word, and hands these cells out before it searches for lower ones.
//
// A place is an offset in multiples of 8 bytes, or of a larger power of two if 32 bits would not reach all of
// the memory. Unit 0 has only the cell of the zero List, at place 0. This cell is all zeros and never
// written.
//
// # Generations
//
// The container counts its generations. When a class takes a word of cells, these cells get the next
// generation; each new stretch gets the next generation, too. A cell that is given back is not handed out
// before its word is taken again. Therefore no cell has the same generation twice. For each unit, the
// container records the first generation of its slab or stretch. The place of a List with an older generation
// may now lie inside an element; find refuses this List before it reads the place. A List with a generation
// that is not older has the place of a cell, whose first bytes are a header.
//
// The count begins at one of 255 numbers, 2²³ apart, so that different containers have different generations.
// The count is used up after at least 2³¹ steps. Then it restarts at 1, and from then on 1 is recorded as the
// first generation of every unit.
type cells struct {
	base       unsafe.Pointer // the address of place 0
	holdings   []holding      // one for each unit with memory
	shiftPlace uint8          // a place is 1<<shiftPlace bytes
	shiftBoth  uint8          // a unit is 1<<shiftBoth places
	shiftUnit  uint8          // a unit is 1<<shiftUnit bytes

	elements  denseSpan
	table     denseSpan // for each unit: a slab, and the bits of its cells
	slabs     unsafe.Pointer
	bytesSlab uint // bytes of one entry of the table

	classes []sizeClass
	byRoom  [maxByRoom + 1]uint8 // the class for a number of elements
	used    *bitset.Set          // units of slabs and stretches
	units   uint                 // units that the capacity allows
	usable  uint                 // units with memory
	lowest  uint                 // no unit below this one is free

	origin, newest uint32 // the generation before the first one, and the newest one
	wrapped        bool   // the count has begun again

	doubles uint32 // a list with room for at most this many elements doubles its room
	plan    plan
}

// cell is the header of a cell or a stretch in use. The elements follow.
type cell struct {
	generation uint32 // the generation of its List; 0 after the cell was given back
	len        uint32 // elements
}

// holding is the part of a unit's state that every look-up needs. It is not in the table, so that all
// holdings fit into the processor's caches.
type holding struct {
	since uint32 // the first generation of the slab or stretch; unheld if no List can refer to the unit
	room  uint32 // elements that each cell, or the stretch, has room for
}

const (
	bytesHeader = int(unsafe.Sizeof(cell{}))
	// unheld is a number that no generation has.
	unheld = math.MaxUint32
	// firstUnit is the first unit for slabs and stretches.
	firstUnit = 1
)

// nothing[0] is the cell of the zero List in a container without memory. It is never written. nothing[1]
// makes the address behind this header valid, where the elements would begin.
var nothing [2]cell

// sizeClass is one size of cells.
type sizeClass struct {
	room   uint32      // elements that a cell holds
	places uint32      // places of a cell
	magic  uint64      // 2³² ÷ places, rounded up
	cells  uint32      // cells of a slab
	units  uint32      // units of a slab
	lowest uint        // the lowest slab with a free cell, or noSlab
	open   *bitset.Set // the slabs with free cells, by their first units

	ready      uint64 // free cells that were taken out of their slab's word of bits, to be handed out next
	readyAt    uint32 // the place of the first cell of that word, free or not
	generation uint32 // the generation of those cells
	readySlab  uint32
	readyWord  uint32

	lists uint // lists for which Compact has not found cells yet
}

// slab describes a unit. The first unit of a slab or stretch has the state of the whole; the other units of a
// slab have only the distance to the first unit.
type slab struct {
	back    uint32 // distance to the first unit
	units   uint32 // units of the slab or stretch
	class   uint32 // stretchClass for a stretch of one list
	free    uint32 // free cells, not counting the ready cells of the class
	any     uint64 // bit i is set if word i of the cells' bits has free cells
	leaving bool   // Compact empties the slab or stretch, and takes no free cells of the slab
}

const (
	stretchClass = math.MaxUint32
	noSlab       = math.MaxUint
	maxRoom      = min(math.MaxUint32, math.MaxInt)
	maxByRoom    = 64

	largestUnit = 64 << 10
	// minUnits is how many units the memory must have before planCells doubles the unit. So a small
	// container has smaller units, and enough of them for its classes.
	minUnits      = 128
	minCell       = 32 // bytes
	doublingBytes = 64 // bytes; a list grows by doubling up to this room
	// maxSlabUnits is the largest number of units of a slab. For each cell size, some number of units up to
	// maxSlabUnits wastes at most an eighth of the slab.
	maxSlabUnits = 8
	// maxSlack is more than the number of units of all classes if each class has one slab. There are two
	// classes for each doubling of the cell size.
	maxSlack = 64 * maxSlabUnits
)

// planCells divides the memory of a container.
func planCells(p plan) cells {
	bytes := p.capacity * p.sizeElement
	unit := vm.PageSize()
	for unit < largestUnit && bytes/unit >= minUnits {
		unit *= 2
	}
	shiftUnit, shiftPlace := uint8(bits.TrailingZeros(uint(unit))), uint8(3)
	for (p.units(shiftUnit)+maxSlack)<<shiftUnit>>shiftPlace > math.MaxUint32 {
		shiftPlace++
	}
	return divideCells(p, shiftUnit, shiftPlace)
}

// units returns how many units the capacity fills, plus one for the zero List.
func (p *plan) units(shiftUnit uint8) uint64 {
	bytes := uint64(p.capacity * p.sizeElement)
	return firstUnit + max(1, (bytes+1<<shiftUnit-1)>>shiftUnit)
}

// divideCells divides the memory of a container into units and places of given sizes.
func divideCells(p plan, shiftUnit, shiftPlace uint8) cells {
	c := cells{plan: p, doubles: uint32(doublingBytes / 2 / p.sizeElement), lowest: firstUnit,
		shiftUnit: shiftUnit, shiftPlace: shiftPlace, shiftBoth: shiftUnit - shiftPlace}
	c.origin = uint32(generation.NewMark()) >> 1
	c.newest = c.origin
	// The size of a place may come from a file and be small: the units must not go beyond what 32-bit places
	// reach.
	c.units = uint(min(p.units(shiftUnit), math.MaxUint32<<shiftPlace>>shiftUnit-maxSlack))
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

// planClasses makes the size classes: cells of 32, 48, 64, 96 bytes and so on, up to a unit. Bytes behind the
// last whole element of a cell are cut off, if they fill a place.
func (c *cells) planClasses() {
	place := 1 << c.shiftPlace
	for bytes := minCell; bytes <= 1<<c.shiftUnit; {
		if room := (bytes - bytesHeader) / c.plan.sizeElement; room > 0 {
			tight := (bytesHeader + room*c.plan.sizeElement + place - 1) &^ (place - 1)
			room = (tight - bytesHeader) / c.plan.sizeElement
			k := sizeClass{room: uint32(room), places: uint32(tight >> c.shiftPlace), lowest: noSlab,
				open: bitset.NewOnHeap()}
			k.magic = (1<<32 + uint64(k.places) - 1) / uint64(k.places)
			k.units = c.slabUnits(tight)
			k.cells = min(k.units<<c.shiftUnit/uint32(tight), wordBits*wordBits)
			if last := len(c.classes) - 1; tight <= 1<<c.shiftUnit &&
				(last < 0 || c.classes[last].room != k.room) {
				c.classes = append(c.classes, k)
			}
		}
		if bytes&(bytes-1) == 0 {
			bytes += bytes / 2
		} else {
			bytes += bytes / 3
		}
	}
	for n := range c.byRoom {
		c.byRoom[n] = uint8(c.search(n))
	}
	c.used = bitset.NewOnHeap()
}

// slabUnits returns how many units a slab of cells of this many bytes takes: the smallest number that wastes
// at most an eighth of the slab.
func (c *cells) slabUnits(bytes int) uint32 {
	units := 1
	for units < maxSlabUnits && units<<c.shiftUnit%bytes > units<<c.shiftUnit/8 {
		units++
	}
	return uint32(units)
}

func (c *cells) bytesElements() int { return int(c.units) << c.shiftUnit }

func (c *cells) bytesSlabs() int { return int(c.units * c.bytesSlab) }

// carve takes the memory from r.
func (c *cells) carve(r *vm.Region) (err error) {
	if c.elements, err = carve(r, c.bytesElements()); err != nil {
		return err
	}
	c.table, err = carve(r, c.bytesSlabs())
	c.base, c.slabs = c.elements.Base(), c.table.Base()
	return err
}

// at returns the cell at a place. It is sound for places in unit 0, a slab or a stretch: these units have
// memory, which never moves before Close and holds no Go pointers.
func (c *cells) at(place uint32) *cell {
	return (*cell)(unsafe.Add(c.base, uintptr(place)<<(c.shiftPlace&31)))
}

// find returns the cell of a List, or nil if the List is stale or was never valid. It does not depend on T,
// so that the compiler inlines it.
func (c *cells) find(place, generation uint32) *cell {
	if u := uint(place >> (c.shiftBoth & 31)); u < uint(len(c.holdings)) &&
		generation >= c.holdings[u].since {
		if h := c.at(place); h.generation == generation {
			return h
		}
	}
	return nil
}

// room returns the number of elements that fit into a cell. The place must come from a List that is valid or
// zero.
func (c *cells) room(place uint32) uint32 {
	if u := uint(place >> (c.shiftBoth & 31)); u < uint(len(c.holdings)) {
		return c.holdings[u].room
	}
	return 0
}

// draw returns the next generation.
func (c *cells) draw() uint32 {
	if c.newest++; c.newest == unheld {
		c.newest, c.wrapped = 1, true
		for u := firstUnit; u < len(c.holdings); u++ {
			if r := &c.holdings[u]; r.since != unheld {
				r.since = 1
			}
		}
	}
	return c.newest
}

// since returns holding.since for a new slab or stretch with the given generation.
func (c *cells) since(generation uint32) uint32 {
	if c.wrapped {
		return 1
	}
	return generation
}

// mine reports whether this container can have drawn the given generation.
func (c *cells) mine(generation uint32) bool {
	return c.wrapped || generation > c.origin && generation <= c.newest
}

// slab returns the entry of unit u in the table. It is sound for usable units: their entries are committed,
// and the table never moves before Close.
func (c *cells) slab(u uint) *slab { return (*slab)(unsafe.Add(c.slabs, u*c.bytesSlab)) }

// word returns word i of the bits that say which cells of a slab can be taken. The bits lie behind the slab
// in its entry of the table. word is sound for the words of the slab's cells, for the same reason as slab.
func (s *slab) word(i uint32) *uint64 {
	return (*uint64)(unsafe.Add(unsafe.Pointer(s), unsafe.Sizeof(slab{})+uintptr(i)*bytesWord))
}

// classFor returns the smallest class for n elements, or the number of classes if none is large enough.
func (c *cells) classFor(n int) int {
	if uint(n) <= maxByRoom {
		return int(c.byRoom[n])
	}
	return c.search(n)
}

func (c *cells) search(n int) int {
	i, _ := slices.BinarySearchFunc(c.classes, n, func(k sizeClass, n int) int { return int(k.room) - n })
	return i
}

// take hands out an empty cell or stretch for at least n elements; n is at most maxRoom. On an error nothing
// has changed.
func (c *cells) take(op operation, n int) (place, generation uint32, err error) {
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
	return c.pop(cl), cl.generation, nil
}

// pop hands out the lowest ready cell of a class, which must have one.
func (c *cells) pop(cl *sizeClass) (place uint32) {
	m := cl.ready
	cl.ready = m & (m - 1)
	place = cl.readyAt + uint32(bits.TrailingZeros64(m))*cl.places
	*c.at(place) = cell{generation: cl.generation}
	return place
}

// prepare finds the lowest word with free cells of class k and makes these cells ready. It makes a slab if
// there is no such word. On an error nothing has changed.
//
//go:noinline
func (c *cells) prepare(op operation, k int) error {
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
	cl.generation = c.draw()
	*w = 0
	s.any &= s.any - 1
	s.free -= uint32(bits.OnesCount64(cl.ready))
	if s.any == 0 {
		cl.open.Clear(cl.lowest)
		cl.findLowest(cl.lowest)
	}
	return nil
}

// putBack returns the ready cells of a class to their slab.
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

// findLowest sets cl.lowest. No slab below u may have a free cell.
func (cl *sizeClass) findLowest(u uint) {
	if cl.lowest = cl.open.Next(u); cl.lowest >= uint(cl.open.Len()) {
		cl.lowest = noSlab
	}
}

// first returns the first unit of the slab or stretch of a place in use, and its entry in the table.
func (c *cells) first(place uint32) (uint, *slab) {
	u := uint(place >> (c.shiftBoth & 31))
	s := c.slab(u)
	if s.back > 0 {
		u -= uint(s.back)
		s = c.slab(u)
	}
	return u, s
}

// give makes the cell or stretch at a place free, and its List stale.
func (c *cells) give(place uint32) {
	c.at(place).generation = 0
	u, s := c.first(place)
	if uint(s.class) >= uint(len(c.classes)) {
		c.giveUnits(u, uint(s.units))
		return
	}
	cl := &c.classes[s.class]
	// The distance from the slab's first cell is i × places. magic × places exceeds 2³² by less than places,
	// so the product exceeds i × 2³² by less than the distance, which is less than 2³². The shift leaves i.
	i := uint32(uint64(place-uint32(u)<<(c.shiftBoth&31)) * cl.magic >> 32)
	*s.word(i / wordBits) |= 1 << (i % wordBits)
	if s.any == 0 && !s.leaving {
		cl.addOpen(u)
	}
	s.any |= 1 << (i / wordBits)
	if s.free++; s.free == cl.cells {
		c.giveSlab(cl, u)
	}
}

// giveSlab gives back a slab without lists. It keeps the slab if this is the only open slab of its class,
// because the slab may be emptied and filled by turns.
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
