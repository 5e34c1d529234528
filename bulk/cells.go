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

// cells allocates the memory of lists. It depends on the size of the elements, but not on their type.
//
// The memory is divided into units of 64 KiB; a small container has smaller units. A slab is one unit, or a
// few neighbouring units, cut into cells of one size class. A list that is larger than a unit gets a stretch:
// neighbouring units for this list alone.
//
// Lists gather at low addresses: a new slab or stretch takes the lowest gap that is long enough, and a class
// takes free cells from its lowest slab. A table outside the elements has a bitmap of free cells for each
// slab, so that a search reads no elements. A class takes all free cells of one 64-bit word of the bitmap:
// these cells are ready, and are handed out before the class searches again.
//
// The memory is counted in places. A place has 8 bytes, or a larger power of two if 32 bits could not count
// all places. The place of a cell is the number of the cell's first place. Unit 0 has only the cell of the
// zero List, at place 0. This cell is all zeros and never written.
//
// # Generations
//
// One counter numbers the generations of the whole container. When a class takes the free cells of a word of
// the bitmap, these cells get the next generation. A new stretch gets the next generation, too. A freed cell
// is handed out again only after its word is taken again. Therefore no cell has the same generation twice,
// until the counter restarts.
//
// For each unit, the container records the first generation of its slab or stretch. The method find refuses a
// List with an older generation, whose place may lie inside an element now. Every other List of the container
// has the place of a cell, and find compares its generation with the generation in the cell's header.
//
// The counter begins at one of 255 numbers, 2²³ apart, so that different containers rarely have the same
// generations. After at least 2³¹ steps, the counter restarts at 1. From then on, the recorded first
// generation of every slab and stretch is 1.
type cells struct {
	base       unsafe.Pointer // the address of place 0
	holdings   []holding      // one for each unit with memory
	shiftPlace uint8          // 1<<shiftPlace bytes are a place
	shiftBoth  uint8          // 1<<shiftBoth places are a unit
	shiftUnit  uint8          // 1<<shiftUnit bytes are a unit

	elements  denseSpan
	table     denseSpan      // for each unit: a slab, followed by the bitmap of its free cells
	slabs     unsafe.Pointer // the first entry of the table
	bytesSlab uint           // bytes of one entry of the table

	classes []sizeClass
	byRoom  [maxByRoom + 1]uint8 // for each small number of elements: the smallest class
	used    *bitset.Set          // the units of slabs and stretches
	units   uint                 // number of units that the capacity allows
	usable  uint                 // number of units with memory
	lowest  uint                 // all units below this unit are in use

	origin  uint32 // the generation before the first one
	newest  uint32 // the newest generation
	wrapped bool   // the counter of generations has restarted at 1

	doubles uint32 // the largest room, in elements, that a growing list doubles
	plan    plan
}

// cell is the header of a cell or a stretch in use. The elements follow.
type cell struct {
	generation uint32 // the generation of its List; 0 after the cell was given back
	len        uint32 // number of elements
}

// holding is the part of a unit's state that every look-up needs. It is not in the table, so that all
// holdings fit into the processor's caches.
type holding struct {
	since uint32 // the first generation of the slab or stretch; unheld if no List can refer to the unit
	room  uint32 // number of elements that fit into a cell of the slab, or into the stretch
}

const (
	bytesHeader = int(unsafe.Sizeof(cell{}))
	// unheld is not a generation.
	unheld = math.MaxUint32
	// firstUnit is the first unit for slabs and stretches.
	firstUnit = 1
)

// nothing[0] is the cell of the zero List in a container without memory. It is never written. nothing[1]
// makes the address behind nothing[0] valid, where elements would begin.
var nothing [2]cell

// sizeClass is one size of cells.
type sizeClass struct {
	room   uint32      // number of elements that fit into a cell
	places uint32      // size of a cell, in places
	magic  uint64      // 2³² ÷ places, rounded up
	cells  uint32      // number of cells of a slab
	units  uint32      // number of units of a slab
	lowest uint        // first unit of the lowest open slab, or noSlab
	open   *bitset.Set // first units of the open slabs: slabs with bits for free cells

	ready      uint64 // bit i is set if cell i of the bitmap word readyWord is ready
	readyAt    uint32 // place of cell 0 of readyWord
	generation uint32 // generation of the ready cells
	readySlab  uint32 // first unit of the slab of the ready cells
	readyWord  uint32

	lists uint // for Compact: number of lists that have no slab assigned yet
}

// slab is the entry of a unit in the table. The entry of a first unit describes the whole slab or stretch.
// The entries of a slab's other units have only the field back.
type slab struct {
	back    uint32 // distance to the first unit, in units
	units   uint32 // number of units of the slab or stretch
	class   uint32 // index of the size class, or stretchClass
	free    uint32 // number of free cells, without ready cells
	any     uint64 // bit i is set if word i of the bitmap has free cells
	leaving bool   // marked by Compact, which moves all lists away
}

const (
	stretchClass = math.MaxUint32
	noSlab       = math.MaxUint
	maxRoom      = min(math.MaxUint32, math.MaxInt)
	maxByRoom    = 64

	largestUnit = 64 << 10
	// planCells doubles the unit while the memory has at least minUnits units.
	minUnits      = 128
	minCell       = 32 // bytes
	doublingBytes = 64 // a growing list doubles its room up to this number of bytes
	// maxSlabUnits is the largest number of units of a slab. A slab of maxSlabUnits units wastes at most an
	// eighth of its bytes, whatever the size of its cells.
	maxSlabUnits = 8
	// maxSlack is at least the total number of units of all slabs if each class has one slab. There are fewer
	// than 64 classes.
	maxSlack = 64 * maxSlabUnits
)

// planCells chooses the size of units and places.
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

// units returns the number of units that the capacity fills, plus one for the zero List.
func (p *plan) units(shiftUnit uint8) uint64 {
	bytes := uint64(p.capacity * p.sizeElement)
	return firstUnit + max(1, (bytes+1<<shiftUnit-1)>>shiftUnit)
}

// divideCells plans the memory of a container for the given sizes of units and places.
func divideCells(p plan, shiftUnit, shiftPlace uint8) cells {
	c := cells{plan: p, doubles: uint32(doublingBytes / 2 / p.sizeElement), lowest: firstUnit,
		shiftUnit: shiftUnit, shiftPlace: shiftPlace, shiftBoth: shiftUnit - shiftPlace}
	c.origin = uint32(generation.NewMark()) >> 1
	c.newest = c.origin
	// 32-bit places must reach all units, even if shiftPlace comes from a file.
	c.units = uint(min(p.units(shiftUnit), math.MaxUint32<<shiftPlace>>shiftUnit-maxSlack))
	c.planClasses()
	if !p.byBudget {
		// Each class may have a partly filled slab.
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

// planClasses makes the size classes: cells of 32, 48, 64, 96 bytes and so on, up to a unit. Whole places
// behind the last element of a cell are cut off.
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

// slabUnits returns the number of units of a slab with cells of the given size: the smallest number that
// wastes at most an eighth of the slab.
func (c *cells) slabUnits(bytes int) uint32 {
	units := 1
	for units < maxSlabUnits && units<<c.shiftUnit%bytes > units<<c.shiftUnit/8 {
		units++
	}
	return uint32(units)
}

func (c *cells) bytesElements() int { return int(c.units) << c.shiftUnit }

func (c *cells) bytesSlabs() int { return int(c.units * c.bytesSlab) }

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

// find returns the cell of a List. It returns nil for a stale List, and for the zero List if there is no
// memory. find is not generic, so that the compiler can inline it.
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

// mine reports whether this container may have drawn the given generation.
func (c *cells) mine(generation uint32) bool {
	return c.wrapped || generation > c.origin && generation <= c.newest
}

// slab returns the entry of unit u in the table. It is sound for usable units: their entries are committed,
// and the table never moves before Close.
func (c *cells) slab(u uint) *slab { return (*slab)(unsafe.Add(c.slabs, u*c.bytesSlab)) }

// word returns word i of the bitmap of a slab's free cells, which lies behind s in the table. It is sound for
// words with bits of cells: the table's entry is committed and never moves before Close.
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

// take hands out an empty cell or stretch for at least n elements; n must be at most maxRoom. After an error
// nothing has changed.
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

// prepare makes the free cells of one bitmap word ready: the lowest word with free cells of class k, or the
// first word of a new slab. After an error nothing has changed.
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

// findLowest sets cl.lowest to the lowest open slab. No slab below unit u may be open.
func (cl *sizeClass) findLowest(u uint) {
	if cl.lowest = cl.open.Next(u); cl.lowest >= uint(cl.open.Len()) {
		cl.lowest = noSlab
	}
}

// first returns the first unit of the slab or stretch at a place, and the unit's entry in the table.
func (c *cells) first(place uint32) (uint, *slab) {
	u := uint(place >> (c.shiftBoth & 31))
	s := c.slab(u)
	if s.back > 0 {
		u -= uint(s.back)
		s = c.slab(u)
	}
	return u, s
}

// give frees the cell or stretch at a place. Its List becomes stale.
func (c *cells) give(place uint32) {
	c.at(place).generation = 0
	u, s := c.first(place)
	if uint(s.class) >= uint(len(c.classes)) {
		c.giveUnits(u, uint(s.units))
		return
	}
	cl := &c.classes[s.class]
	// The multiplication and the shift divide by cl.places. The quotient is exact, because the distance from
	// the slab's first cell is a multiple of cl.places and less than 2³².
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

// giveSlab frees a slab without lists, unless it is the only open slab of its class: a program may free and
// make the same list again and again.
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
