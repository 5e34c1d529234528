package guard

import (
	"fmt"
	"slices"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// changed counts a change. In builds with invariants it runs checkInvariants when there is one change for
// every 16 blocks, so that tests with many blocks stay fast.
func (a *Allocator) changed() {
	if !invariants.Enabled {
		return
	}
	if a.unchecked++; a.unchecked*16 >= len(a.blocks) {
		a.checkInvariants()
	}
}

// checkInvariants panics if the bookkeeping is inconsistent. Every page from 1 to addresses.next belongs to
// one block or to a free range.
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
			fail("the block of page %d does not fit: %d bytes from offset %d on, in %d pages from "+
				"page %d on", page, b.size, b.start, b.pages, b.page)
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
			fail("pages %d to %d leave a gap after page %d, or overlap", r.lo, r.hi, next)
		}
		next = r.hi
	}
	if next != a.addresses.next || next > a.addresses.total {
		fail("the last block ends at page %d, the first unused one is %d of %d", next, a.addresses.next,
			a.addresses.total)
	}
	if a.live != count[live] || a.used != count[live]+count[spare] || a.used > a.o.Capacity {
		fail("%d blocks are live and %d in use of %d, but there are %d live and %d spare ones", a.live,
			a.used, a.o.Capacity, count[live], count[spare])
	}
	if got := a.region.Committed(); got != committed {
		fail("%d bytes are committed, and the blocks need %d", got, committed)
	}
	quarantined, last := 0, (*block)(nil)
	for b := a.oldest; b != nil; b = b.after {
		if b.state != freed || a.blocks[b.page] != b {
			fail("the block of page %d is in quarantine, but it is not freed or not in blocks", b.page)
		}
		quarantined, last = quarantined+1, b
	}
	if quarantined != count[freed] || last != a.newest {
		fail("%d blocks are in quarantine, but %d are freed", quarantined, count[freed])
	}
}
