package guard

import (
	"fmt"
	"slices"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// changed does something only in builds with the tag invariants: it counts a change, and runs checkInvariants
// once in len(a.blocks)/16 changes. A check after each change would make tests with many blocks slow.
func (a *Allocator) changed() {
	if !invariants.Enabled {
		return
	}
	if a.unchecked++; a.unchecked*16 >= len(a.blocks) {
		a.checkInvariants()
	}
}

// checkInvariants panics if the allocator's fields are inconsistent. One invariant: every page below
// addresses.next, except page 0, belongs to one block, is the guard page behind one block, or belongs to one
// free range.
func (a *Allocator) checkInvariants() {
	a.unchecked = 0
	fail := func(format string, args ...any) {
		panic("guard: " + a.o.Name + ": broken invariant: " + fmt.Sprintf(format, args...))
	}
	ranges := slices.Clone(a.addresses.again)
	var count [3]int
	committed := 0
	for page, b := range a.blocks {
		if page != b.page || b.start < page*vm.PageSize() || b.start+b.size > (page+b.pages)*vm.PageSize() {
			fail("the block of page %d does not fit into its pages: it has %d bytes from offset %d on, and "+
				"%d pages from page %d on", page, b.size, b.start, b.pages, b.page)
		}
		count[b.state]++
		if b.state != freed {
			committed += b.pages * vm.PageSize()
		}
		ranges = append(ranges, pageRange{page, page + b.pages + 1})
	}
	slices.SortFunc(ranges, func(x, y pageRange) int { return x.lo - y.lo })
	next := 1
	for _, r := range ranges {
		if r.lo != next || r.hi <= r.lo {
			fail("the range of pages [%d, %d) is empty, or does not begin at page %d, where the range "+
				"before it ends", r.lo, r.hi, next)
		}
		next = r.hi
	}
	if next != a.addresses.next || next > a.addresses.total {
		fail("the last range ends before page %d, but the first unused page is page %d of %d pages", next,
			a.addresses.next, a.addresses.total)
	}
	if a.live != count[live] || a.used != count[live]+count[spare] || a.used > a.o.Capacity {
		fail("live is %d, used is %d and the capacity is %d, but there are %d live and %d spare blocks",
			a.live, a.used, a.o.Capacity, count[live], count[spare])
	}
	if got := a.region.Committed(); got != committed {
		fail("%d bytes are committed, but the live and spare blocks have %d bytes", got, committed)
	}
	quarantined, last := 0, (*block)(nil)
	for b := a.oldest; b != nil; b = b.after {
		if b.state != freed || a.blocks[b.page] != b {
			fail("the block of page %d is in quarantine, but it is not freed or not in blocks", b.page)
		}
		quarantined, last = quarantined+1, b
	}
	if quarantined != count[freed] || last != a.newest {
		fail("%d blocks are in quarantine and %d are freed, or newest is not the last block in quarantine",
			quarantined, count[freed])
	}
}
