package bulk

import (
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// Grow commits memory for the next n insertions, so that they cannot fail. It panics when n is negative.
//
// It returns an [*vm.Error] wrapping [vm.ErrCapacity] (Options.Capacity), [vm.ErrLimit] (Options.MaxBytes or
// Options.Limit) or another error of [vm.Region.Commit]; then the dense is unchanged.
func (d *Dense[T]) Grow(n int) error { return d.slots.grow(d, n) }

// commit implements container.
func (d *Dense[T]) commit(n int) error {
	elements, locators, owners := d.elements.Committed(), d.tables[0].Committed(), d.tables[1].Committed()
	sizes := sizesTables(n)
	err := d.elements.grow(n * d.plan.sizeElement)
	if err == nil {
		err = d.tables[0].grow(sizes[0])
	}
	if err == nil {
		err = d.tables[1].grow(sizes[1])
	}
	if err == nil {
		err = d.live.Grow(n)
	}
	if err != nil {
		d.elements.shrinkTo(elements)
		d.tables[0].shrinkTo(locators)
		d.tables[1].shrinkTo(owners)
		return err
	}
	d.measure()
	return nil
}

// committed implements container.
func (d *Dense[T]) committed() int { return d.elements.Committed() }

// measure sets d.room: the number of slots and elements that have memory.
func (d *Dense[T]) measure() {
	d.room = uint(min(d.elements.Committed()/d.plan.sizeElement, d.tables[0].Committed()/bytesLocator,
		d.tables[1].Committed()/bytesOwner, d.live.Len(), d.plan.capacity))
	d.findWords()
}

// Trim gives back whole pages of memory behind the last element, including room that [Dense.Grow] made. No
// other goroutine may use the dense meanwhile. Trim returns an error as [vm.Region.Discard] or
// [vm.Region.Decommit] does; then the dense works as before. Complexity: one step for each gap between live
// slots, at most a few system calls, and at most a few more for each gap of at least 32,768 slots.
//
// Memory for an element stays committed for each slot up to the last live slot, and counts for budgets; pages
// without elements are not resident. Each slot also keeps 8 bytes, so that handles to removed elements stay
// invalid.
func (d *Dense[T]) Trim() error {
	d.mustBeOpen()
	slots := d.behindLast()
	for _, s := range []struct {
		span *denseSpan
		size int
	}{{&d.elements, d.plan.sizeElement}, {&d.tables[1], bytesOwner}} {
		err := s.span.DecommitTo(slots * s.size)
		d.measure()
		if err != nil {
			return err
		}
		used := d.len * s.size
		if unused := s.span.Committed() - used; unused >= vm.PageSize() {
			if err := s.span.Discard(used, unused); err != nil {
				return err
			}
		}
	}
	if invariants.Enabled {
		d.checkInvariants()
	}
	return d.live.Trim()
}

// Reserved returns the bytes of addresses that the dense takes; 0 after Close.
func (d *Dense[T]) Reserved() int { return d.slots.reserved() }

// Committed returns the bytes of memory that the dense may touch; 0 after Close.
func (d *Dense[T]) Committed() int { return d.region.Committed() }

// Resident returns how many bytes of the dense are in memory. The operating system supplies the count; see
// [vm.Region.Resident].
func (d *Dense[T]) Resident() (int, error) { return d.region.Resident() }
