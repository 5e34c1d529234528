package probe

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/vm"
)

// AreaKind is the kind of array that lies in an [Area].
type AreaKind uint8

const (
	// AreaElements holds the elements of a column: handles for a [vast.SparseColumn], numbers of values for a
	// shared.Column, lists for [vast.Edges].
	AreaElements AreaKind = probing.KindElements
	// AreaPresence holds one bit for each slot, which is set if the slot's entity has the component.
	AreaPresence AreaKind = probing.KindPresence
	// AreaSummaries holds bits that mark the empty and the full words of presence bits or live bits.
	AreaSummaries AreaKind = probing.KindSummaries
	// AreaGenerations holds the number of uses of each slot.
	AreaGenerations AreaKind = probing.KindGenerations
	// AreaOwners holds the archetype that owns each word of 64 slots, and other facts about the word.
	AreaOwners AreaKind = probing.KindOwners
	// AreaLive holds one bit for each slot, which is set if the slot holds an entity.
	AreaLive AreaKind = probing.KindLive
	// AreaLinks holds the neighbours of a relation's sources.
	AreaLinks AreaKind = probing.KindLinks
	// AreaLevels holds one bit for each slot, or summaries of these bits. A relation has two such areas for
	// each level of its hierarchy. The bit is set if the slot's entity is a source at this level.
	AreaLevels AreaKind = probing.KindLevels
	// AreaWritten holds one dirty bit for each slot, which is set if the element was written and the trackers
	// have not noted the write yet.
	AreaWritten AreaKind = probing.KindWritten
	// AreaMarks holds a tracker's notes about a column, one bit for each slot, or summaries of these bits.
	AreaMarks AreaKind = probing.KindMarks
	// AreaMarkGenerations holds the generations that a tracker has noted.
	AreaMarkGenerations AreaKind = probing.KindMarkGenerations
	// AreaGroups holds the matches of a group, one bit for each slot, or summaries of these bits.
	AreaGroups AreaKind = probing.KindGroups
	// AreaStore holds the packed elements of a [vast.SparseColumn] or of [vast.Edges], or the values of a
	// shared.Column, outside of the reservations.
	AreaStore AreaKind = probing.KindStore
	// AreaCommands holds recorded [vast.Commands], outside of the reservations.
	AreaCommands AreaKind = probing.KindCommands
	// AreaHeap holds the blocks of a [vast.HeapColumn], on the Go heap.
	AreaHeap AreaKind = probing.KindHeap
)

var areaKinds = [...]string{"elements", "presence", "summaries", "generations", "owners", "live", "links",
	"levels", "written", "marks", "mark generations", "groups", "store", "commands", "heap"}

// String returns the kind in one or two words, such as elements.
func (k AreaKind) String() string {
	if int(k) < len(areaKinds) {
		return areaKinds[k]
	}
	return fmt.Sprintf("AreaKind(%d)", k)
}

// Area is the part of a world's memory that holds one array. [Area.Place] and [Area.Slots] convert between
// slots and offsets. All offsets are in bytes from the base of the reservation.
type Area struct {
	Kind   AreaKind
	Column vast.AnyColumn // the array's owner, as [Columns] returns it; nil for an array of the world
	Number int            // number among the areas of this kind and column; bits and summaries share a number

	// Reservation is an index into [Reservations]. It is -1 for an array outside of all reservations. Of the
	// following fields, only Bytes and Committed are known for such an array.
	Reservation int
	Offset      int
	Bytes       int // size of the area in the address space

	// The committed range of the area. It begins above Offset if the area grows downwards.
	CommittedAt int // offset of the first committed byte
	Committed   int // number of committed bytes

	// An area with slots is an array of elements. First is the offset of the element of slot 0. Stride is the
	// number of bytes from one element to the next. It is negative if the area grows downwards, and 0 if the
	// area has no elements of slots. Share is the number of consecutive slots that share one element.
	First  int
	Stride int
	Share  int
}

// Place returns the offset and the number of the bytes that belong to a slot. The slot must be at least 0. It
// may lie beyond the committed memory.
func (a *Area) Place(slot int) (off, n int) {
	if a.Stride == 0 {
		return a.First, 0
	}
	return a.First + slot/a.Share*a.Stride, max(a.Stride, -a.Stride)
}

// Slots returns the slots [lo, hi) that have bytes in [off, off+n). The slots need not be in use.
func (a *Area) Slots(off, n int) (lo, hi int) {
	if a.Stride == 0 || n <= 0 {
		return 0, 0
	}
	from, to := off-a.First, off+n-a.First
	unit := a.Stride
	if a.Stride < 0 {
		// Count downwards from the end of the first element.
		unit = -a.Stride
		from, to = unit-to, unit-from
	}
	from, to = max(from, 0)/unit, (max(to, 0)+unit-1)/unit
	return from * a.Share, max(from, to) * a.Share
}

// Areas returns the areas of the world, in the order of Reservation and Offset. The areas outside of the
// reservations come last. Areas do not overlap, and all committed memory of the reservations lies in areas.
// Areas makes no system call. It returns nil if the world is closed. Complexity: that of sorting the areas.
func Areas(w *vast.World) []Area {
	l := areaList{regions: engine.Regions(w)}
	engine.Parts(w, l.add)
	slices.SortStableFunc(l.areas, func(a, b Area) int {
		return cmp.Or(cmp.Compare(uint(a.Reservation), uint(b.Reservation)), cmp.Compare(a.Offset, b.Offset))
	})
	return l.areas
}

type areaList struct {
	regions []*vm.Region
	areas   []Area
}

// add adds the areas of a part: two for a set, otherwise one.
func (l *areaList) add(col vast.AnyColumn, p probing.Part) {
	a := Area{Kind: AreaKind(p.Kind), Column: col, Number: p.Number, Stride: p.Stride, Share: max(p.Share, 1)}
	switch {
	case p.Span != nil:
		l.addSpan(p.Span, p.Skew, a)
	case p.Seam != nil:
		l.addSide(p.Seam, p.Below, a)
	case p.Set != nil:
		l.addSet(p.Set, a)
	default:
		a.Reservation, a.Bytes, a.Committed, a.Share = -1, p.Reserved, p.Committed, 0
		l.areas = append(l.areas, a)
	}
}

// addSpan adds a span. Its first element begins skew bytes after the base of the span.
func (l *areaList) addSpan(s *vm.Span, skew int, a Area) {
	a.Reservation, a.Offset, a.Bytes = slices.Index(l.regions, s.Region()), s.Offset(), s.Size()
	a.CommittedAt, a.Committed = a.Offset, s.Committed()
	a.First = a.Offset + skew
	l.areas = append(l.areas, a)
}

func (l *areaList) addSide(s *vm.Seam, below bool, a Area) {
	a.Reservation = slices.Index(l.regions, s.Region())
	bytesBelow, bytesAbove := s.Size()
	if below {
		a.Offset, a.Bytes = s.Offset()-bytesBelow, bytesBelow
		a.CommittedAt, a.Committed = s.Offset()-s.Below(), s.Below()
		a.First, a.Stride = s.Offset()-a.Stride, -a.Stride
	} else {
		a.Offset, a.Bytes = s.Offset(), bytesAbove
		a.CommittedAt, a.Committed = s.Offset(), s.Above()
		a.First = s.Offset()
	}
	l.areas = append(l.areas, a)
}

// addSet adds bits and their summaries. Only the summaries of presence bits and live bits have a kind of
// their own, AreaSummaries; all other summaries have the kind of their bits.
func (l *areaList) addSet(s *bitset.Set, a Area) {
	a.Stride, a.Share = 8, 64
	l.addSide(s.Memory(), false, a)
	if a.Kind == AreaPresence || a.Kind == AreaLive {
		a.Kind = AreaSummaries
	}
	a.Stride, a.Share = bitset.BlockBytes, bitset.BlockBits
	l.addSide(s.Memory(), true, a)
}
