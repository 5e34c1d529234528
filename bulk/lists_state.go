package bulk

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"unsafe"

	"github.com/vastgo/vast/internal/state"
)

// A file has the slabs, the stretches, the ready cells, the count of generations, and the place, generation
// and length of each list (lists.go and cells.go define these words). It has the elements of all lists, one
// list after the other. Loading derives the other fields of cells.
//
// A list keeps its place, so that its List stays valid. The meaning of a place depends on the sizes of units
// and places, so the container takes these sizes from the file.

// slabState describes a slab or a stretch.
type slabState struct {
	Unit, Units uint32
	Cell        uint32 // number of elements that fit into a cell; 0 for a stretch
	Since       uint32 // holding.since
}

// readyState describes the ready cells of a class.
type readyState struct {
	Unit, Word, Generation uint32
	Low, High              uint32 // the halves of a word with a bit for each ready cell
}

type listState struct{ Place, Generation, Len uint32 }

// listsState implements state.Container.
type listsState[T any] struct {
	ls    *Lists[T]
	slabs []slabState
	ready []readyState
	lists []listState
	// starts[i] is the number of elements in all lists before list i. Describe sets it.
	starts  []int
	built   bool
	written int // number of elements that loading has written
	filling int // index of the list that loading writes next
	filled  int // number of elements that loading has written to lists[filling]
}

func (ls *Lists[T]) keep() (any, error) {
	ls.mustBeOpen()
	return &listsState[T]{ls: ls}, nil
}

func (s *listsState[T]) Of() []any { return []any{s.ls} }

func (s *listsState[T]) Describe() state.Contents {
	c := &s.ls.cells
	for u, slab := range c.held() {
		one := slabState{Unit: uint32(u), Units: slab.units, Since: c.holdings[u].since}
		if slab.class != stretchClass {
			one.Cell = c.classes[slab.class].room
		}
		s.slabs = append(s.slabs, one)
	}
	for i := range c.classes {
		if k := &c.classes[i]; k.ready != 0 {
			s.ready = append(s.ready, readyState{k.readySlab, k.readyWord, k.generation, uint32(k.ready),
				uint32(k.ready >> 32)})
		}
	}
	total := 0
	s.lists = make([]listState, 0, s.ls.count)
	for place := range c.lists() {
		h := c.at(place)
		s.lists = append(s.lists, listState{place, h.generation, h.len})
		s.starts = append(s.starts, total)
		total += int(h.len)
	}
	wrapped := uint64(0)
	if c.wrapped {
		wrapped = 1
	}
	return state.Contents{Kind: kindLists, Len: s.ls.count, Numbers: map[string]uint64{
		"unit": uint64(c.shiftUnit), "place": uint64(c.shiftPlace), "size": uint64(c.plan.sizeElement),
		"origin": uint64(c.origin), "newest": uint64(c.newest), "wrapped": wrapped,
		"slabs": uint64(len(s.slabs)), "ready": uint64(len(s.ready)), "elements": uint64(total)}}
}

func (s *listsState[T]) Arrays(c state.Contents, column int) []state.Array {
	return []state.Array{
		ordered(state.Slabs, column, int(c.Numbers["slabs"]), &s.slabs),
		ordered(state.ReadyCells, column, int(c.Numbers["ready"]), &s.ready),
		ordered(state.Lists, column, c.Len, &s.lists),
		{Kind: state.Elements, Column: column, Type: reflect.TypeFor[T](), Len: int(c.Numbers["elements"]),
			Read: s.read,
			Write: func(src []byte, lo int) error {
				if err := s.build(c); err != nil {
					return err
				}
				return s.write(src, lo)
			}},
	}
}

// ordered describes a slice in Go memory. Loading appends the elements as it reads them, so a wrong length in
// a file cannot make the slice larger than the file's data.
func ordered[T any](kind string, column, n int, s *[]T) state.Array {
	return state.Array{Kind: kind, Column: column, Type: reflect.TypeFor[T](), Len: n,
		Read: func(dst []byte, lo int) {
			copy(dst, bytesOfAll((*s)[lo:]))
		},
		Write: func(src []byte, lo int) error {
			if lo != len(*s) {
				return fmt.Errorf("%s: the next element in the file should be number %d, but is number %d",
					kind, len(*s), lo)
			}
			*s = append(*s, make([]T, len(src)/size[T]())...)
			copy(bytesOfAll((*s)[lo:]), src)
			return nil
		}}
}

// bytesOfAll returns the memory of elements, which must not hold Go pointers.
func bytesOfAll[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*size[T]())
}

// elements returns the memory of a list's elements, from index first on.
func (s *listsState[T]) elements(list, first int) []byte {
	l := s.lists[list]
	h := s.ls.cells.at(l.Place)
	return bytesOfAll(unsafe.Slice(s.ls.element(h, uint(first)), int(l.Len)-first))
}

// read fills dst with elements. lo is the number of the first one, counted through all lists.
func (s *listsState[T]) read(dst []byte, lo int) {
	i, found := slices.BinarySearch(s.starts, lo)
	if !found {
		i--
	}
	for first := lo - s.starts[i]; len(dst) > 0; first = 0 {
		dst = dst[copy(dst, s.elements(i, first)):]
		i++
	}
}

// write stores the elements in src. lo is the number of the first one, counted through all lists.
func (s *listsState[T]) write(src []byte, lo int) error {
	if lo != s.written {
		return fmt.Errorf("%s: the next element in the file should be number %d, but is number %d",
			s.ls.cells.plan.name, s.written, lo)
	}
	for len(src) > 0 {
		if s.filling == len(s.lists) {
			return fmt.Errorf("%s: the file has more elements than the lengths of its lists allow",
				s.ls.cells.plan.name)
		}
		n := copy(s.elements(s.filling, s.filled), src)
		src = src[n:]
		s.written += n / size[T]()
		if s.filled += n / size[T](); s.filled == int(s.lists[s.filling].Len) {
			s.filling, s.filled = s.filling+1, 0
		}
	}
	return nil
}

func (s *listsState[T]) Reserve(c state.Contents) error {
	old := &s.ls.cells
	if old.newest != old.origin || old.wrapped {
		return old.plan.wasUsed()
	}
	n := c.Numbers
	if bytes := n["size"]; bytes != uint64(old.plan.sizeElement) {
		return fmt.Errorf("%s: an element of a list has %d bytes in the file and %d in the program, but "+
			"places depend on the size: load into Lists of the old type and copy", old.plan.name, bytes,
			old.plan.sizeElement)
	}
	unit, place := n["unit"], n["place"]
	if c.Len < 0 || unit < 9 || unit > 24 || place < 3 || place > min(unit, 15) {
		return fmt.Errorf("%s: the file says %d lists, units of 2^%d bytes and places of 2^%d bytes, which "+
			"is impossible",
			old.plan.name, c.Len, unit, place)
	}
	for _, name := range []string{"slabs", "ready", "elements"} {
		if n[name] > uint64(old.bytesElements()) {
			return old.full(opGrow, int(min(n["elements"], maxRoom)))
		}
	}
	if n["origin"] >= unheld || n["newest"] >= unheld || n["wrapped"] > 1 ||
		n["wrapped"] == 0 && n["newest"] < n["origin"] {
		return fmt.Errorf("%s: the file says that the generations begin after %d, end with %d and have "+
			"wrapped around %d times, which is impossible", old.plan.name, n["origin"], n["newest"],
			n["wrapped"])
	}
	if unit != uint64(old.shiftUnit) || place != uint64(old.shiftPlace) {
		region := s.ls.region
		if err := s.ls.reserve(divideCells(old.plan, uint8(unit), uint8(place))); err != nil {
			return err
		}
		if err := region.Close(); err != nil {
			return err
		}
	}
	s.ls.cells.origin, s.ls.cells.newest = uint32(n["origin"]), uint32(n["newest"])
	s.ls.cells.wrapped = n["wrapped"] == 1
	return nil
}

// build makes the slabs, lists and ready cells that the file describes. write stores the elements later.
func (s *listsState[T]) build(c state.Contents) error {
	if s.built {
		return nil
	}
	if len(s.slabs) != int(c.Numbers["slabs"]) || len(s.ready) != int(c.Numbers["ready"]) ||
		len(s.lists) != c.Len {
		return fmt.Errorf("%s: %d slabs, %d lists and %d words of ready cells are missing",
			s.ls.cells.plan.name, int(c.Numbers["slabs"])-len(s.slabs), c.Len-len(s.lists),
			int(c.Numbers["ready"])-len(s.ready))
	}
	s.built = true
	cells := &s.ls.cells
	if err := cells.restoreSlabs(s.slabs); err != nil {
		return err
	}
	for _, l := range s.lists {
		if !cells.restoreList(l) {
			return fmt.Errorf("%s: there is no cell for a list of %d elements at place %d", cells.plan.name,
				l.Len, l.Place)
		}
		s.ls.count++
	}
	for _, r := range s.ready {
		if !cells.restoreReady(r) {
			return fmt.Errorf("%s: the file has ready cells in unit %d that are not free", cells.plan.name,
				r.Unit)
		}
	}
	for u, slab := range cells.held() {
		if slab.class == stretchClass {
			if slab.free > 0 {
				return fmt.Errorf("%s: the stretch at unit %d has no list", cells.plan.name, u)
			}
			continue
		}
		k := &cells.classes[slab.class]
		for i := range (k.cells + wordBits - 1) / wordBits {
			if *slab.word(i) == 0 {
				slab.any &^= 1 << i
			}
		}
		if slab.any != 0 {
			k.addOpen(u)
		}
	}
	return nil
}

// restoreSlabs makes slabs and stretches without lists. A stretch counts one free cell until restoreList adds
// its list.
func (c *cells) restoreSlabs(slabs []slabState) error {
	end := uint(firstUnit)
	for _, s := range slabs {
		if uint(s.Unit) < end || s.Units == 0 || s.Since == unheld || c.wrapped && s.Since != 1 ||
			!c.mine(s.Since) {
			return fmt.Errorf("%s: the slab at unit %d overlaps another slab, has no units, or has the "+
				"wrong generation %#x", c.plan.name, s.Unit, s.Since)
		}
		end = uint(s.Unit) + uint(s.Units)
	}
	if end > c.units {
		return c.full(opGrow, c.plan.capacity)
	}
	if end == firstUnit {
		return nil
	}
	if err := c.makeUsable(opGrow, end); err != nil {
		return err
	}
	for _, s := range slabs {
		u, units := uint(s.Unit), uint(s.Units)
		if s.Cell == 0 {
			c.use(u, u+units)
			c.describe(u, slab{units: s.Units, class: stretchClass, free: 1},
				holding{s.Since, c.roomOf(units)})
			continue
		}
		k := c.classFor(int(s.Cell))
		if k == len(c.classes) || c.classes[k].room != s.Cell || c.classes[k].units != s.Units {
			return fmt.Errorf("%s: no cell has room for %d elements in slabs of %d units", c.plan.name,
				s.Cell, s.Units)
		}
		c.use(u, u+units)
		c.makeSlab(u, k, s.Since)
	}
	return nil
}

// restoreList writes the header of a list. It returns false if the list's cell does not exist, is not free,
// or cannot hold a list of this length and generation.
func (c *cells) restoreList(l listState) bool {
	u := uint(l.Place >> c.shiftBoth)
	if u < firstUnit || u >= uint(len(c.holdings)) {
		return false
	}
	held := c.holdings[u]
	if held.since == unheld || l.Generation < max(1, held.since) || !c.mine(l.Generation) ||
		l.Generation == unheld || l.Len > held.room {
		return false
	}
	first, s := c.first(l.Place)
	distance := l.Place - uint32(first)<<c.shiftBoth
	if s.class == stretchClass {
		if distance != 0 || s.free == 0 {
			return false
		}
	} else {
		k := &c.classes[s.class]
		i := distance / k.places
		if distance%k.places != 0 || i >= k.cells || *s.word(i / wordBits)>>(i%wordBits)&1 == 0 {
			return false
		}
		*s.word(i / wordBits) &^= 1 << (i % wordBits)
	}
	s.free--
	*c.at(l.Place) = cell{l.Generation, l.Len}
	return true
}

// restoreReady makes free cells of a slab ready. It returns false if r contradicts the slab or its class.
func (c *cells) restoreReady(r readyState) bool {
	u := uint(r.Unit)
	if u < firstUnit || u >= uint(len(c.holdings)) || !c.begins(u) || c.slab(u).class == stretchClass {
		return false
	}
	s, ready := c.slab(u), uint64(r.High)<<32|uint64(r.Low)
	k := &c.classes[s.class]
	if r.Word >= (k.cells+wordBits-1)/wordBits || ready == 0 || ready&^*s.word(r.Word) != 0 || k.ready != 0 ||
		r.Generation < max(1, c.holdings[u].since) || !c.mine(r.Generation) || r.Generation == unheld {
		return false
	}
	k.ready, k.readySlab, k.readyWord, k.generation = ready, r.Unit, r.Word, r.Generation
	k.readyAt = r.Unit<<c.shiftBoth + r.Word*wordBits*k.places
	*s.word(r.Word) &^= ready
	s.free -= uint32(bits.OnesCount64(ready))
	return true
}

func (s *listsState[T]) Settle(c state.Contents, _ []state.Array) error {
	if err := s.build(c); err != nil {
		return err
	}
	total := int(c.Numbers["elements"])
	if s.written != total || s.filling != len(s.lists) && !s.restEmpty() {
		return fmt.Errorf("%s: the file has %d of %d elements", s.ls.cells.plan.name, s.written, total)
	}
	return sound(s.ls.checkInvariants)
}

// restEmpty reports whether lists[filling] and all later lists are empty.
func (s *listsState[T]) restEmpty() bool {
	for _, l := range s.lists[s.filling:] {
		if l.Len > 0 {
			return false
		}
	}
	return true
}

func (s *listsState[T]) Abandon(state.Contents) {
	s.ls.Clear()
	// Reserve refuses a container that was used. These values pass its test, so that the program can call
	// Load again.
	s.ls.cells.origin, s.ls.cells.wrapped = s.ls.cells.newest, false
}
