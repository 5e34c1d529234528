package bulk

import "github.com/vastgo/vast/vm"

// Trim gives back the memory of elements that were removed, as far as they fill whole pages. Their slots stay usable, and
// handles to what was removed stay invalid. It must run alone, as a change does. It is worth its price after many
// elements were removed: one step for each gap between live elements, and a system call for each that fills a page. It
// returns an error as [vm.Region.Discard] does; the pool works as before.
func (p *Pool[T]) Trim() error {
	p.mustBeOpen()
	for lo, hi := range p.live.Gaps(min(p.room, uint(p.live.Len()))) {
		if n := int(hi-lo) * p.plan.sizeElement; n >= vm.PageSize() {
			if err := p.elements.Discard(int(lo)*p.plan.sizeElement, n); err != nil {
				return err
			}
		}
	}
	return p.live.Trim()
}

// Reserved returns the bytes of addresses that the pool takes; 0 after Close.
func (p *Pool[T]) Reserved() int {
	if p.ended != nil {
		return 0
	}
	return p.region.Size()
}

// Committed returns the bytes of memory that the pool may touch; 0 after Close.
func (p *Pool[T]) Committed() int { return p.region.Committed() }

// Resident returns how many bytes of the pool are in memory. It asks the operating system; see [vm.Region.Resident].
func (p *Pool[T]) Resident() (int, error) { return p.region.Resident() }
