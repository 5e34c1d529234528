package vm

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// closedRegions holds the addresses of closed regions for later regions. The addresses stay reserved, so that
// stale pointers into closed regions fault, and Go's heap never gets these addresses.
var closedRegions addressCache

// addressCache is a best-fit allocator of address ranges. It does not join ranges of different reservations
// of the operating system, because some systems cannot act on two reservations in one call.
type addressCache struct {
	mu    sync.Mutex
	owned []interval // the operating system's reservations, sorted
	free  []interval // the ranges that no open region uses, sorted
}

func byLow(iv interval, lo int) int { return iv.lo - lo }

func (c *addressCache) own(p unsafe.Pointer, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lo := address(p)
	i, _ := slices.BinarySearchFunc(c.owned, lo, byLow)
	c.owned = slices.Insert(c.owned, i, interval{lo, lo + n})
}

// take returns n bytes of free addresses aligned to align, or nil. It chooses the smallest range that fits.
// Complexity: linear in the number of free ranges.
func (c *addressCache) take(n, align int) unsafe.Pointer {
	c.mu.Lock()
	defer c.mu.Unlock()
	best := -1
	for i, iv := range c.free {
		if roundUp(iv.lo, align)+n <= iv.hi && (best < 0 || iv.hi-iv.lo < c.free[best].hi-c.free[best].lo) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	iv := c.free[best]
	lo := roundUp(iv.lo, align)
	var rest []interval
	if iv.lo < lo {
		rest = append(rest, interval{iv.lo, lo})
	}
	if lo+n < iv.hi {
		rest = append(rest, interval{lo + n, iv.hi})
	}
	c.free = slices.Replace(c.free, best, best+1, rest...)
	c.checkInvariants()
	return pointerAt(lo)
}

func (c *addressCache) put(p unsafe.Pointer, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lo := address(p)
	hi := lo + n
	i, _ := slices.BinarySearchFunc(c.free, lo, byLow)
	j := i
	if i > 0 && c.free[i-1].hi == lo && c.together(c.free[i-1].lo, lo) {
		i--
		lo = c.free[i].lo
	}
	if j < len(c.free) && c.free[j].lo == hi && c.together(lo, c.free[j].lo) {
		hi = c.free[j].hi
		j++
	}
	c.free = slices.Replace(c.free, i, j, interval{lo, hi})
	c.checkInvariants()
}

// together reports whether two addresses belong to one reservation of the operating system.
func (c *addressCache) together(a, b int) bool {
	i, found := slices.BinarySearchFunc(c.owned, a, byLow)
	if !found {
		i--
	}
	return i >= 0 && c.owned[i].lo <= a && b < c.owned[i].hi
}

// checkInvariants panics if a free range is empty, out of order, overlaps the range before it, or lies in no
// reservation or in two.
func (c *addressCache) checkInvariants() {
	if !invariants.Enabled {
		return
	}
	for i, iv := range c.free {
		if iv.lo >= iv.hi || i > 0 && c.free[i-1].hi > iv.lo || !c.together(iv.lo, iv.hi-1) {
			panic(fmt.Sprintf("vm: the free range with index %d breaks an invariant: %x", i, c.free))
		}
	}
}
