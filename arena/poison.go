package arena

import (
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// Builds with the tag invariants poison released memory, and clear it when it is allocated again.

// poison overwrites the released bytes [offset, used) that are still committed.
func (a *Arena) poison(offset, used uintptr) {
	committed := min(uintptr(a.span.Committed()), a.capacity)
	a.poisoned = min(max(a.poisoned, used), committed)
	if used = min(used, committed); offset < used {
		invariants.Poison(a.bytes(offset, used))
	}
}

// reuse clears the bytes [a.next, end) before they are allocated. It panics if the program has written to
// these bytes after their release.
func (a *Arena) reuse(end uintptr) {
	if again := min(end, a.poisoned); a.next < again {
		b := a.bytes(a.next, again)
		invariants.MustBeFree(b, func() string {
			return fmt.Sprintf("arena: the memory of %s from byte %d on", a.name, a.next)
		})
		clear(b)
	}
}

// bytes returns the committed bytes [from, to) of the arena.
func (a *Arena) bytes(from, to uintptr) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(a.base, from)), to-from)
}
