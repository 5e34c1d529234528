package arena

import (
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/sampling"
)

// Mark is a place in an arena to come back to. It is good for one release.
type Mark struct {
	offset uintptr
	serial uint64 // which of all marks of the arena
	tag    uint32 // of the arena
	depth  uint32 // how many marks were not released when it was set
}

// Mark returns the present place. Marks are released in the reverse order in which they were set; releasing one gives up all
// that were set after it too.
func (a *Arena) Mark() Mark {
	a.mustBeOpen()
	a.serials++
	a.marks = append(a.marks, a.serials)
	return Mark{a.next, a.serials, a.tag, uint32(len(a.marks) - 1)}
}

// Release gives up all that was allocated since the mark was set, and the mark. Below Options.HighWater what is given up is
// cleared; memory above goes back to the operating system. It panics for a mark of another arena, one that was released, by
// itself or with an older one or by [Arena.Reset], and the zero Mark.
func (a *Arena) Release(m Mark) {
	a.mustBeOpen()
	if m.tag != a.tag {
		panic("arena: Release on " + a.name + " of a mark that another arena set, or none: release it where it was set")
	}
	if int(m.depth) >= len(a.marks) || a.marks[m.depth] != m.serial {
		panic(fmt.Sprintf("arena: Release on %s of mark %d, which was released before, by itself or with an older mark: "+
			"release marks once, the last one first", a.name, m.serial))
	}
	a.marks = a.marks[:m.depth]
	a.popTo(m.offset)
}

// Reset gives up all that was allocated, and all marks, as [Arena.Release] does.
func (a *Arena) Reset() {
	a.mustBeOpen()
	a.marks = a.marks[:0]
	a.popTo(0)
}

// popTo makes everything from offset on zero again.
func (a *Arena) popTo(offset uintptr) {
	used := a.next
	a.next = offset
	keep := max(int(offset), a.highWater)
	if sampling.Pick() {
		keep = int(offset) // so that a use of what was released faults
	}
	if a.span.Committed() > keep {
		// What is decommitted comes back zero. A failure leaves memory committed, to be cleared like the rest.
		_ = a.span.DecommitTo(keep)
		a.end = min(uintptr(a.span.Committed()), a.capacity)
	}
	if dirty := min(used, a.end); dirty > offset {
		// Sound because these bytes are committed, and hold no Go pointers.
		clear(unsafe.Slice((*byte)(unsafe.Add(a.base, offset)), dirty-offset))
	}
	if invariants.Enabled {
		a.poison(offset, used)
	}
}
