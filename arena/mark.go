package arena

import (
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/sampling"
)

// Mark is a position in an arena to return to. It can be released once.
type Mark struct {
	offset uintptr
	serial uint64 // number of the mark in its arena
	tag    uint32 // tag of the arena
	depth  uint32 // index in Arena.marks
}

// Mark returns the current position. The release of a mark also releases all later marks.
func (a *Arena) Mark() Mark {
	a.mustBeOpen()
	a.lastSerial++
	a.marks = append(a.marks, a.lastSerial)
	return Mark{a.next, a.lastSerial, a.tag, uint32(len(a.marks) - 1)}
}

// Release gives up the mark and all allocations since the mark was set. Released memory below
// Options.HighWater is cleared; released memory above HighWater goes back to the operating system. With
// VAST_GUARD=1/1000 in the environment, one release in a thousand gives all released memory back. Release
// panics for the zero Mark, for a mark of another arena, and for a mark that was released before: by itself,
// with an older mark, or by [Arena.Reset].
func (a *Arena) Release(m Mark) {
	a.mustBeOpen()
	if m.tag != a.tag {
		panic("arena: Release on " + a.name + " of a zero mark or a mark of another arena: release a mark " +
			"in the arena that set it")
	}
	if int(m.depth) >= len(a.marks) || a.marks[m.depth] != m.serial {
		panic(fmt.Sprintf("arena: Release on %s of mark %d, which was released before, by itself, with "+
			"an older mark or by Reset: release marks once, the last one first", a.name, m.serial))
	}
	a.marks = a.marks[:m.depth]
	a.popTo(m.offset)
}

// Reset gives up all allocations and all marks. It treats the memory as [Arena.Release] does.
func (a *Arena) Reset() {
	a.mustBeOpen()
	a.marks = a.marks[:0]
	a.popTo(0)
}

// popTo moves the position back to offset. It decommits or clears the bytes from offset on.
func (a *Arena) popTo(offset uintptr) {
	used := a.next
	a.next = offset
	keep := max(int(offset), a.highWater)
	if sampling.Pick() {
		keep = int(offset) // decommit all released pages, so that a stale pointer faults
	}
	if a.span.Committed() > keep {
		// If DecommitTo fails, the memory stays committed and is cleared below.
		_ = a.span.DecommitTo(keep)
		a.end = min(uintptr(a.span.Committed()), a.capacity)
	}
	if dirty := min(used, a.end); dirty > offset {
		// These bytes are committed and hold no Go pointers.
		clear(unsafe.Slice((*byte)(unsafe.Add(a.base, offset)), dirty-offset))
	}
	if invariants.Enabled {
		a.poison(offset, used)
	}
}
