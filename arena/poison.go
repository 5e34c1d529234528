package arena

import (
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// What follows runs in builds that check invariants only: there what was released is poison until it is allocated again,
// and zero then as in all builds.

// poison overwrites what was released from offset on, of what used to be given out, as far as it is still committed.
func (a *Arena) poison(offset, used uintptr) {
	committed := min(uintptr(a.span.Committed()), a.capacity)
	a.poisoned = min(max(a.poisoned, used), committed)
	if used = min(used, committed); offset < used {
		invariants.Poison(a.bytes(offset, used))
	}
}

// reuse makes what lies between next and end zero, which is about to be given out. It panics where that was written since it
// was released.
func (a *Arena) reuse(end uintptr) {
	if again := min(end, a.poisoned); a.next < again {
		b := a.bytes(a.next, again)
		invariants.MustBeFree(b, func() string { return fmt.Sprintf("arena: what lies from byte %d of %s on", a.next, a.name) })
		clear(b)
	}
}

// bytes views [from, to). It is sound for committed bytes; they hold no Go pointers.
func (a *Arena) bytes(from, to uintptr) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(a.base, from)), to-from)
}
