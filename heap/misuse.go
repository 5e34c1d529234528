package heap

import (
	"fmt"
	"unsafe"
)

// The misuse texts say why no live allocation of the heap begins at a pointer.
const (
	misuseForeign = "it lies outside the heap's addresses: free it with the allocator that allocated it"
	misuseFreed   = "it was freed already: free an allocation once, and then drop every copy of its pointer"
	misuseOutside = "no allocation begins there: pass a pointer that an allocation returned and that was " +
		"not freed since"
	misuseInside = "it points %d bytes into an allocation of %d bytes: pass the pointer that the " +
		"allocation returned"
)

// misused panics about a pointer passed to op. The caller does not hold the lock.
func (h *Heap) misused(op string, p unsafe.Pointer, wrong string) {
	panic(fmt.Sprintf("heap: %s(%p) on %s: %s", op, p, h.name, wrong))
}

// mustBeOpen panics after Close. The caller holds the lock; mustBeOpen unlocks before it panics.
func (h *Heap) mustBeOpen(op string) {
	if h.closed {
		h.unlock()
		panic(fmt.Sprintf("heap: %s on %s after Close: keep it open as long as its allocations are in use",
			op, h.name))
	}
}
