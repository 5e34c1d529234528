package vm

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/vastgo/vast/internal/sampling"
)

// Making and closing a small region takes longer than using it. Each part of the region costs a system call
// when it is committed, and a page fault and a page table when it is touched. Closing the region costs
// another call. A recycled region keeps its pages in memory when it closes. Closing makes the pages
// inaccessible, by one call, so that a stale pointer faults as in any closed region. The next region of the
// same size, purpose and policy commits the pages again, which clears them. Each kept range stays a mapping
// of its own, because splitting and joining mappings takes long.

const (
	keptRegions = 16 // largest number of closed regions with kept pages
	keptRanges  = 64 // largest number of kept ranges of pages of one region
)

var (
	keptOfOne = max(256<<10, 16*pageSize) // largest number of kept bytes of one region
	maxKept   = 4 * keptOfOne             // largest number of kept bytes of the process
)

// keeper is a backend that says whether inaccessible pages keep their memory and are charged to no limit.
type keeper interface{ keeps() bool }

// part is a part of a region that was carved.
type part struct {
	interval
	private bool // carved by CarvePrivate
}

// recycling holds the parts of a recycled region, and the state of the closed region whose pages it has.
type recycling struct {
	on    bool
	parts []part    // the parts carved so far, in this order
	known []part    // parts of the closed region; nil if this region carves other parts, or reuses no region
	pages intervals // pages of the closed region, with its contents, that this region has not committed
	// own are the ranges that are mappings of their own: see apart.
	own    intervals
	spoilt bool // whether protected pages, pages of files or a failure forbid keeping the pages
}

// kept is a closed region whose pages stay in memory.
type kept struct {
	be       backend
	base     unsafe.Pointer
	size     int
	purpose  string
	policy   Pages
	parts    []part
	pages    intervals
	own      intervals
	mappings int // its share of mappingsUsed
	// Slices that the next region reuses for its lists.
	spareParts     []part
	spareCommitted []interval
}

// keptPages holds the closed regions whose pages stay in memory, in the order in which they were closed.
var keptPages keptCache

type keptCache struct {
	mu    sync.Mutex
	of    []kept
	bytes int
}

// add keeps a closed region, and evicts older regions if there is no room for it.
func (c *keptCache) add(k kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	mappingsUsed.Add(int64(k.mappings))
	c.of = append(c.of, k)
	c.bytes += k.pages.bytes
	for i := 0; i < len(c.of) && (c.bytes > maxKept || len(c.of) > keptRegions); {
		if !c.evict(i) {
			i++
		}
	}
}

// take removes and returns a closed region whose pages a new region can use. If several closed regions fit,
// take returns the region that was closed last.
func (c *keptCache) take(be backend, size int, purpose string, policy Pages) (k kept, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.of) - 1; i >= 0; i-- {
		k = c.of[i]
		if k.be == be && k.size == size && k.policy == policy && k.purpose == purpose {
			c.remove(i)
			return k, true
		}
	}
	return kept{}, false
}

func (c *keptCache) remove(i int) {
	mappingsUsed.Add(-int64(c.of[i].mappings))
	c.bytes -= c.of[i].pages.bytes
	c.of = slices.Delete(c.of, i, i+1)
}

// evict gives the memory of a closed region back, and its addresses to all later regions. If the system
// refuses, the region stays.
func (c *keptCache) evict(i int) bool {
	k := &c.of[i]
	if k.be.reset(k.base, k.size) != nil {
		return false
	}
	if k.be.reuses() {
		closedRegions.put(k.base, k.size)
	}
	c.remove(i)
	return true
}

// madeRoom evicts all closed regions after a call of the backend has failed. It reports whether the caller
// should repeat the call.
func madeRoom(be backend) bool {
	_, ok := be.(keeper)
	return ok && keptPages.flush()
}

// flush evicts all closed regions and reports whether there was one.
func (c *keptCache) flush() (some bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := 0; i < len(c.of); {
		if c.evict(i) {
			some = true
		} else {
			i++
		}
	}
	return some
}

// total returns the number of bytes that are kept.
func (c *keptCache) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// recycles reports whether a region of a backend with the given options is recycled.
func recycles(be backend, o Options) bool {
	k, ok := be.(keeper)
	return o.Recycle && ok && o.Pages != PagesHuge && sampling.Every() == 0 && k.keeps()
}

// revive gives a new region the addresses and the pages of a closed region.
func (m *mapping) revive(k kept) {
	m.base = k.base
	m.recycling.known, m.recycling.parts, m.committed.of = k.parts, k.spareParts[:0], k.spareCommitted[:0]
	m.recycling.pages, m.recycling.own = k.pages, k.own
}

// keep makes the pages of a region that is being closed inaccessible, except for private pages. It returns
// the entry for keptPages, and whether the pages can be kept.
func (m *mapping) keep() (kept, bool) {
	r := &m.recycling
	if !r.on || r.spoilt || len(m.dense.of) > 0 || len(m.moved) > 0 ||
		m.committed.bytes+r.pages.bytes > keptOfOne || len(m.committed.of)+len(r.pages.of) > keptRanges {
		return kept{}, false
	}
	parts := r.parts
	if len(r.known) > len(parts) {
		parts = append(parts, r.known[len(parts):]...) // the next region may carve these again
	}
	top := m.size
	for _, p := range parts {
		if p.private {
			top = min(top, p.lo)
		}
	}
	for _, iv := range m.committed.of {
		r.pages.add(iv.lo, iv.hi)
	}
	lo, hi := top, 0
	for i := 0; i < len(r.pages.of) && r.pages.of[i].lo < top; i++ {
		iv := interval{r.pages.of[i].lo, min(r.pages.of[i].hi, top)}
		m.apart(iv)
		lo, hi = min(lo, iv.lo), iv.hi
	}
	if lo < hi && m.be.protect(m.at(lo), hi-lo, NoAccess) != nil {
		for _, iv := range m.committed.of {
			r.pages.remove(iv.lo, iv.hi)
		}
		return kept{}, false
	}
	return kept{be: m.be, base: m.base, size: m.size, purpose: m.counted.purpose, policy: m.pages,
		parts: parts, pages: r.pages, own: r.own, mappings: 1 + 2*len(r.pages.of),
		spareParts: r.known, spareCommitted: m.committed.of}, true
}

// apart makes a range a mapping of its own, which the kernel does not join with neighbours when the access
// changes: the range gets advice about huge pages that differs from the advice for its neighbours. The advice
// has no other effect, because the range is smaller than a huge page.
func (m *mapping) apart(iv interval) {
	if !m.recycling.own.contains(iv.lo, iv.hi) {
		_ = m.be.advise(m.at(iv.lo), iv.hi-iv.lo, m.small())
		m.recycling.own.add(iv.lo, iv.hi)
	}
}

// carve records a part that is about to be carved. If the closed region carved another part here, carve gives
// back all kept pages outside the parts carved so far.
func (r *recycling) carve(m *mapping, p part) {
	if !r.on {
		return
	}
	if i := len(r.parts); r.known != nil && (i >= len(r.known) || r.known[i] != p) {
		r.known = nil
		m.cool(interval{m.carved, m.top})
	}
	r.parts = append(r.parts, p)
}

// cool gives back the kept pages of a range. If the system refuses, the pages stay kept.
func (m *mapping) cool(iv interval) {
	r := &m.recycling
	if !r.pages.overlaps(iv.lo, iv.hi) {
		return
	}
	if m.be.reset(m.at(iv.lo), iv.hi-iv.lo) != nil {
		r.spoilt = true
		return
	}
	m.dress(iv)
	r.pages.remove(iv.lo, iv.hi)
	r.own.remove(iv.lo, iv.hi)
	m.recount()
}

// supply: Reserved → Committed, without a change of the counts. It makes no system call for kept pages that
// are accessible, and clears all kept pages.
func (m *mapping) supply(iv interval) error {
	kept := &m.recycling.pages
	if iv.lo < m.top || m.recycling.spoilt || !kept.contains(iv.lo, iv.hi) {
		err := m.be.commit(m.at(iv.lo), iv.hi-iv.lo)
		if err != nil && madeRoom(m.be) {
			err = m.be.commit(m.at(iv.lo), iv.hi-iv.lo)
		}
		if err != nil {
			return err
		}
	}
	for i := kept.first(iv.lo); i < len(kept.of) && kept.of[i].lo < iv.hi; i++ {
		lo, hi := max(iv.lo, kept.of[i].lo), min(iv.hi, kept.of[i].hi)
		clear(bytesOf(m.at(lo), hi-lo))
	}
	kept.remove(iv.lo, iv.hi)
	return nil
}

// keptTo returns the end of the kept pages around an offset, or 0.
func (m *mapping) keptTo(off int) int {
	if !m.recycling.on {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := &m.recycling.pages
	if i := kept.first(off); i < len(kept.of) && kept.of[i].lo <= off {
		return kept.of[i].hi
	}
	return 0
}

// step returns the number of bytes that a span or a seam commits ahead. The next region must clear all pages
// that a recycled region has committed. Therefore the spans and seams of a recycled region begin with the
// needed pages, and then grow fourfold at a time.
func (m *mapping) step(committed int) int {
	step := max(minStep, committed/8)
	if m.recycling.on {
		step = min(step, 3*committed)
	}
	return step
}
