package arena

import (
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// This code runs in builds that check invariants. It poisons released memory, and clears the memory when it
// is allocated again, so that allocations are zero as in all builds.

// poison overwrites the released bytes [offset, used) that are still committed.
func (a *Arena) poison(offset, used uintptr) {
	committed := min(uintptr(a.span.Committed()), a.capacity)
	a.poisoned = min(max(a.poisoned, used), committed)
	if used = min(used, committed); offset < used {
		invariants.Poison(a.bytes(offset, used))
	}
}

// reuse clears the bytes from next to end before they are allocated. It panics if the program has written to
// them since their release.
func (a *Arena) reuse(end uintptr) {
	if again := min(end, a.poisoned); a.next < again {
		b := a.bytes(a.next, again)
		invariants.MustBeFree(b, func() string {
			return fmt.Sprintf("arena: the memory from byte %d of %s on",
				a.next, a.name)
		})
		clear(b)
	}
}

// bytes returns the bytes [from, to) of the arena, which must be committed.
func (a *Arena) bytes(from, to uintptr) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(a.base, from)), to-from)
}
