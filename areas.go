package vast

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/vm"
)

// AreaKind is what lies in an [Area].
type AreaKind uint8

const (
	AreaElements        AreaKind = iota // elements of a column; handles of a [SparseColumn], lists of [Edges]
	AreaPresence                        // which slots have a component, a bit each
	AreaSummaries                       // which words of such bits are empty, and which full
	AreaGenerations                     // how often each slot was used
	AreaOwners                          // which archetype each word belongs to, and what else is known of it
	AreaLive                            // which slots hold an entity, a bit each
	AreaLinks                           // the neighbours of a relation's sources
	AreaLevels                          // which sources of a relation lie how deep, a bit each, and summaries of them
	AreaWritten                         // which elements were written since trackers were told, a bit each
	AreaMarks                           // what a tracker has noted of a column, a bit each, and summaries of them
	AreaMarkGenerations                 // the generations that a tracker has noted
	AreaStore                           // packed elements of a [SparseColumn] or [Edges]: memory of their own
	AreaCommands                        // recorded [Commands]: memory of their own
	AreaHeap                            // blocks of a [HeapColumn], on the Go heap
)

var areaKinds = [...]string{"elements", "presence", "summaries", "generations", "owners", "live", "links", "levels", "written",
	"marks", "mark generations", "store", "commands", "heap"}

// String returns the kind in a word or two, such as elements.
func (k AreaKind) String() string {
	if int(k) < len(areaKinds) {
		return areaKinds[k]
	}
	return fmt.Sprintf("AreaKind(%d)", k)
}

// Area is a part of a world's memory in which one array lies: for tools that show memory. It says how slots and addresses
// belong together; [Area.Place] and [Area.Slots] compute it.
type Area struct {
	Kind   AreaKind
	Column AnyColumn // that it belongs to, as [World.Columns] has it; nil for what the world keeps for itself
	Number int       // of several that are alike, from 0 on: levels, marks, commands

	// Where it is: in which of [World.Reservations], and how many bytes from its base. For memory of its own the index is -1
	// and the offset 0: of that only the sizes are known.
	Reservation int
	Offset      int
	Bytes       int // addresses

	// What of it is committed, in bytes: one range, which begins at its own offset where the area grows downwards.
	CommittedAt int
	Committed   int

	// How slots lie in it. The bytes of the first Share slots begin at offset First, those of the next Share slots Stride
	// bytes further, or closer where the area grows downwards and Stride is negative. Stride is 0 where slots have no place.
	First  int
	Stride int
	Share  int
}

// Place returns where the bytes lie that belong to a slot, and how many there are. It may be asked for slots that the area
// has no memory for yet, and for none below 0.
func (a *Area) Place(slot int) (off, n int) {
	if a.Stride == 0 {
		return a.First, 0
	}
	return a.First + slot/a.Share*a.Stride, max(a.Stride, -a.Stride)
}

// Slots returns the slots [lo, hi) of which some bytes lie in [off, off+n), whether they are in use or not.
func (a *Area) Slots(off, n int) (lo, hi int) {
	if a.Stride == 0 || n <= 0 {
		return 0, 0
	}
	from, to := off-a.First, off+n-a.First
	unit := a.Stride
	if a.Stride < 0 {
		// Counted downwards from the end of what belongs to the first slots.
		unit = -a.Stride
		from, to = unit-to, unit-from
	}
	from, to = max(from, 0)/unit, (max(to, 0)+unit-1)/unit
	return from * a.Share, max(from, to) * a.Share
}

// Areas returns what lies where in the world's reservations, in the order of addresses, and behind that the memory of its own
// that parts of the world have. Areas do not overlap, and what is committed lies in areas. It is for tools: like
// [World.Stats] it asks nobody else. It is empty once the world is closed. Complexity: the number of areas.
func (w *World) Areas() []Area {
	if w.closed || w.live == nil {
		return nil
	}
	l := areaList{world: w}
	own := func(a Area, down bool, share, bytes int) { l.seamSide(&w.control, a, down, share, bytes) }
	own(Area{Kind: AreaOwners}, true, 64, bytesOwner)
	own(Area{Kind: AreaGenerations}, false, 1, 4)
	l.set(w.live, Area{Kind: AreaLive})
	for _, c := range w.columns {
		col := columnOfAnyType{c}
		if c.base != nil {
			l.span(&c.span, c.skew, c.bytes, Area{Kind: AreaElements, Column: col})
		}
		l.set(c.set, Area{Kind: AreaPresence, Column: col})
		if c.fresh != nil {
			l.span(&c.freshSpan, 0, 8, Area{Kind: AreaWritten, Column: col, Share: 64})
		}
		for i, m := range c.marks {
			l.marks(m, 3*i, i, col)
		}
		switch s := c.store.(type) {
		case packedStore:
			reserved, committed := s.memory()
			l.apart(Area{Kind: AreaStore, Column: col}, reserved, committed)
		case interface{ bytesOnHeap() int }:
			l.apart(Area{Kind: AreaHeap, Column: col}, s.bytesOnHeap(), s.bytesOnHeap())
		}
	}
	for _, one := range w.relations {
		if k, ok := one.(*relation); ok {
			col := columnOfAnyType{k.sources}
			l.span(&k.links, 0, int(unsafe.Sizeof(link{})), Area{Kind: AreaLinks, Column: col})
			for i, level := range k.levels {
				l.set(level, Area{Kind: AreaLevels, Column: col, Number: i})
			}
		}
	}
	for i, m := range w.unusedMarks {
		l.marks(m, 3*i, i, nil)
	}
	w.commands.mu.Lock()
	for i, c := range w.commands.all {
		if c.span.Region() != nil && !c.closed {
			l.apart(Area{Kind: AreaCommands, Number: i}, c.span.Size(), c.span.Committed())
		}
	}
	w.commands.mu.Unlock()
	slices.SortStableFunc(l.areas, func(a, b Area) int {
		return cmp.Or(cmp.Compare(uint(a.Reservation), uint(b.Reservation)), cmp.Compare(a.Offset, b.Offset))
	})
	return l.areas
}

// areaList collects areas.
type areaList struct {
	world *World
	areas []Area
}

// in returns the index of a reservation.
func (l *areaList) in(r *vm.Region) int { return slices.Index(l.world.memory.regions, r) }

// span adds a span whose elements, each of stride bytes and for a.Share slots or one, begin skew bytes into it.
func (l *areaList) span(s *vm.Span, skew, stride int, a Area) {
	a.Reservation, a.Offset, a.Bytes = l.in(s.Region()), s.Offset(), s.Size()
	a.CommittedAt, a.Committed = a.Offset, s.Committed()
	a.First, a.Stride, a.Share = a.Offset+skew, stride, max(a.Share, 1)
	l.areas = append(l.areas, a)
}

// seamSide adds one of a seam's arrays, of so many bytes for share slots.
func (l *areaList) seamSide(s *vm.Seam, a Area, down bool, share, bytes int) {
	below, above := s.Size()
	a.Reservation, a.Share = l.in(s.Region()), share
	if down {
		a.Offset, a.Bytes = s.Offset()-below, below
		a.CommittedAt, a.Committed = s.Offset()-s.Below(), s.Below()
		a.First, a.Stride = s.Offset()-bytes, -bytes
	} else {
		a.Offset, a.Bytes = s.Offset(), above
		a.CommittedAt, a.Committed = s.Offset(), s.Above()
		a.First, a.Stride = s.Offset(), bytes
	}
	l.areas = append(l.areas, a)
}

// set adds bits and, under the same number, their summaries.
func (l *areaList) set(s *bitset.Set, a Area) {
	seam := s.Memory()
	l.seamSide(seam, a, false, 64, 8)
	if a.Kind != AreaMarks && a.Kind != AreaLevels {
		a.Kind = AreaSummaries
	}
	l.seamSide(seam, a, true, bitset.BlockBits, bitset.BlockBytes)
}

// marks adds what a tracker has noted: three sets, numbered from first on, and generations.
func (l *areaList) marks(m *marks, first, number int, col AnyColumn) {
	for i, s := range [3]*bitset.Set{m.changed, m.touched, m.had} {
		l.set(s, Area{Kind: AreaMarks, Column: col, Number: first + i})
	}
	l.span(&m.span, 0, 4, Area{Kind: AreaMarkGenerations, Column: col, Number: number})
}

// apart adds memory of its own.
func (l *areaList) apart(a Area, reserved, committed int) {
	a.Reservation, a.Bytes, a.Committed = -1, reserved, committed
	l.areas = append(l.areas, a)
}
