package bulk

import (
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/invariants"
)

// poison overwrites the n unused places from index i on, so that uses of old pointers show.
func (d *Dense[T]) poison(i uint, n int) {
	invariants.Poison(unsafe.Slice((*byte)(unsafe.Pointer(d.element(i))),
		n*int(unsafe.Sizeof(*d.element(i)))))
}

// mustBeFree panics if the unused place i was written after it was poisoned.
func (d *Dense[T]) mustBeFree(i uint) {
	e := d.element(i)
	invariants.MustBeFree(unsafe.Slice((*byte)(unsafe.Pointer(e)), unsafe.Sizeof(*e)), func() string {
		return fmt.Sprintf("bulk: place %d of %s", i, d.plan.name)
	})
}

// checkInvariants panics when the bookkeeping contradicts itself. Complexity: one step for each slot that has
// memory.
func (d *Dense[T]) checkInvariants() {
	d.slots.checkInvariants()
	// d.slots has as many live slots as elements. If each live slot is also the owner of its element,
	// locators and owners are inverse to each other.
	for slot := range d.room {
		l := *d.locator(slot)
		live := d.live.Test(slot)
		if live != (l.number != 0) {
			d.broken("slot %d has element %d (-1 is none), but its presence bit is %t", slot,
				int64(l.number)-1, live)
		}
		if live && (int(l.number) > d.len || uint(*d.owner(uint(l.number) - 1)) != slot) {
			d.broken("slot %d has element %d, but is not the owner of that element; there are %d elements",
				slot, int64(l.number)-1, d.len)
		}
		if live && (generation.Count(l.generation) == 0 ||
			l.generation != uint32(d.tag)|generation.Count(l.generation)) {
			d.broken("live slot %d has generation %#x", slot, l.generation)
		}
		got := d.retired[slot/wordBits]>>(slot%wordBits)&1 != 0
		if got != generation.Exhausted(l.generation) {
			d.broken("slot %d has generation %#x, but its bit for retired slots is %t", slot, l.generation,
				got)
		}
	}
}
