package bulk

import (
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// Trim gives back the memory of removed elements in whole pages. It is worthwhile after many elements were
// removed. No other goroutine may use the pool meanwhile.
//
// The memory behind the last element is decommitted, including room that [Pool.Grow] made: budgets no longer
// count this memory. Slots between elements stay usable. Trim keeps the generations of all slots, up to 4.3
// bytes for each slot, so that handles to removed elements stay invalid.
//
// Trim returns an error as [vm.Region.Discard] or [vm.Region.Decommit] does; then the pool works as before.
// Complexity: one step for each gap between live elements, and at most a few system calls for each gap of at
// least a page.
func (p *Pool[T]) Trim() error { return p.trim(0) }

// trim is Trim, except that it keeps room for the next n insertions.
func (p *Pool[T]) trim(n int) error {
	p.mustBeOpen()
	room := p.room
	end := uint(0) // the next n insertions take slots below end
	if n > 0 {
		end = min(uint(p.len+p.retiredHoles()+n), room)
	}
	for lo, hi := range p.live.Gaps(room) {
		last := hi == room
		if last {
			end = max(end, lo)
			hi = end
		}
		from, to := int(lo)*p.plan.sizeElement, int(hi)*p.plan.sizeElement
		if to-from >= vm.PageSize() {
			if err := p.elements.Discard(from, to-from); err != nil {
				return err
			}
		}
		if last {
			err := p.elements.DecommitTo(to)
			p.measure()
			if err != nil {
				return err
			}
		}
	}
	if invariants.Enabled {
		p.checkInvariants()
	}
	return p.live.Trim()
}

// Reserved returns the bytes of addresses that the pool takes; 0 after Close.
func (p *Pool[T]) Reserved() int { return p.slots.reserved() }

// Committed returns the bytes of memory that the pool may touch; 0 after Close.
func (p *Pool[T]) Committed() int { return p.region.Committed() }

// Resident returns how many bytes of the pool are in memory. The operating system supplies the count; see
// [vm.Region.Resident].
func (p *Pool[T]) Resident() (int, error) { return p.region.Resident() }
