package vm

import (
	"slices"
	"sync"

	"github.com/vastgo/vast/internal/sampling"
)

// Making and closing a small region takes longer than using it: each part costs a system call to be committed,
// a page fault and a page table when it is touched, and the region a call to be closed. A recycled region
// keeps its pages in memory when it closes. Closing makes them inaccessible, by one call, so that a stale
// pointer faults as in any closed region. The next region alike commits them again, which clears them. Each
// kept range stays a mapping of its own, because it is the splitting and joining of mappings that takes long.

const (
	keptMost    = 1 << 20   // bytes that the process keeps of closed regions
	keptOfOne   = 256 << 10 // bytes of one region
	keptRegions = 64        // number of closed regions with kept pages
	keptRanges  = 64        // ranges of pages of one region
)

// keeper is a backend whose pages can be made inaccessible without losing their memory or being charged to a
// limit.
type keeper interface{ keeps() bool }

// part is a part of a region that was carved.
type part struct {
	interval
	private bool // by CarvePrivate
}

// recycling is what a recycled region knows of its parts, and of the closed region whose pages it has.
type recycling struct {
	on    bool
	parts []part    // carved so far, in this order
	known []part    // those of the closed region; nil if it carved other parts, or there was none
	pages intervals // pages of the closed region that this region has not committed. Their contents are old
	// own are the ranges that are mappings of their own: see apart.
	own       intervals
	protected bool // whether the access of a page was changed
}

// kept is a closed region whose pages stay in memory.
type kept struct {
	be       backend
	base     int
	size     int
	purpose  string
	policy   Pages
	parts    []part
	pages    intervals
	own      intervals
	spare    []part // memory for the next region's list
	mappings int    // its share of mappingsUsed
}

// keptPages holds the closed regions whose pages stay in memory, the last one closed last.
var keptPages keptCache

type keptCache struct {
	mu    sync.Mutex
	of    []kept
	bytes int
}

// add keeps a closed region, and lets older ones go if there is no room for it.
func (c *keptCache) add(k kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	mappingsUsed.Add(int64(k.mappings))
	c.of = append(c.of, k)
	c.bytes += k.pages.bytes
	for i := 0; i < len(c.of) && (c.bytes > keptMost || len(c.of) > keptRegions); {
		if !c.evict(i) {
			i++
		}
	}
}

// take returns a closed region that a new one can replace, the last one closed.
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
	if k.be.reset(pointerAt(k.base), k.size) != nil {
		return false
	}
	closedRegions.put(pointerAt(k.base), k.size)
	c.remove(i)
	return true
}

// flush evicts all closed regions, for a region that gets no memory, addresses or mappings otherwise. It
// reports whether there was one.
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

// recycles reports whether a region of a backend with some options is recycled.
func recycles(be backend, o Options) bool {
	k, ok := be.(keeper)
	return o.Recycle && ok && o.Pages != PagesHuge && sampling.Every() == 0 && k.keeps()
}

// revive gives a new region the place and the pages of a closed one.
func (m *mapping) revive(k kept) {
	m.base = pointerAt(k.base)
	m.recycling.known, m.recycling.parts = k.parts, k.spare[:0]
	m.recycling.pages, m.recycling.own = k.pages, k.own
}

// keep makes the pages of a region that is being closed inaccessible, except for private ones. It returns what
// to keep of the region, and whether its pages can be kept.
func (m *mapping) keep() (kept, bool) {
	r := &m.recycling
	if !r.on || r.protected || len(m.dense.of) > 0 || len(m.moved) > 0 ||
		m.committed.bytes+r.pages.bytes > keptOfOne || len(m.committed.of)+len(r.pages.of) > keptRanges {
		return kept{}, false
	}
	for _, iv := range m.committed.of {
		r.pages.add(iv.lo, iv.hi)
	}
	if len(r.known) > len(r.parts) {
		r.parts = append(r.parts, r.known[len(r.parts):]...) // the next region may carve these again
	}
	top := m.size
	for _, p := range r.parts {
		if p.private {
			top = min(top, p.lo)
		}
	}
	lo, hi := top, 0
	for _, iv := range r.pages.covered(0, top) {
		m.apart(iv)
		lo, hi = min(lo, iv.lo), iv.hi
	}
	if lo < hi && m.be.protect(m.at(lo), hi-lo, NoAccess) != nil {
		return kept{}, false
	}
	return kept{be: m.be, base: address(m.base), size: m.size, purpose: m.counted.purpose,
		policy: m.pages, parts: r.parts, spare: r.known, pages: r.pages, own: r.own,
		mappings: 1 + 2*len(r.pages.of)}, true
}

// apart makes a range a mapping of its own, whose ends stay when its access changes: the range gets advice
// about huge pages that differs from its neighbours'. The advice has no other effect, because the range is
// smaller than a huge page.
func (m *mapping) apart(iv interval) {
	if !m.recycling.own.contains(iv.lo, iv.hi) {
		_ = m.be.advise(m.at(iv.lo), iv.hi-iv.lo, m.small())
		m.recycling.own.add(iv.lo, iv.hi)
	}
}

// carve records a part that is about to be carved. If the closed region carved another one at this point, its
// pages from there on are given back.
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

// cool gives back the kept pages of a range. If the system refuses, they stay kept.
func (m *mapping) cool(iv interval) {
	r := &m.recycling
	if len(r.pages.covered(iv.lo, iv.hi)) > 0 && m.be.reset(m.at(iv.lo), iv.hi-iv.lo) == nil {
		m.dress(iv)
		r.pages.remove(iv.lo, iv.hi)
		r.own.remove(iv.lo, iv.hi)
		m.recount()
	}
}

// supply asks the system for Reserved → Committed, except for kept pages that are accessible, and clears the
// kept pages.
func (m *mapping) supply(iv interval) error {
	kept := &m.recycling.pages
	if iv.lo < m.top || !kept.contains(iv.lo, iv.hi) {
		err := m.be.commit(m.at(iv.lo), iv.hi-iv.lo)
		if err != nil && keptPages.flush() {
			err = m.be.commit(m.at(iv.lo), iv.hi-iv.lo)
		}
		if err != nil {
			return err
		}
	}
	if kept.bytes > 0 {
		for _, old := range kept.covered(iv.lo, iv.hi) {
			clear(bytesOf(m.at(old.lo), old.hi-old.lo))
		}
		kept.remove(iv.lo, iv.hi)
	}
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

// keptMappings returns the number of mappings that recycling costs an open region.
func (m *mapping) keptMappings() int {
	n := 2 * len(m.recycling.pages.of)
	for _, iv := range m.recycling.own.of {
		for _, end := range [...]int{iv.lo, iv.hi} {
			if m.committed.contains(end-1, end+1) {
				n++
			}
		}
	}
	return n
}

// step returns how many bytes a span or a seam commits ahead. All pages that a recycled region has committed
// are cleared when they are used again, so it begins with the needed pages, and then has four times as many.
func (m *mapping) step(committed int) int {
	step := max(minStep, committed/8)
	if m.recycling.on {
		step = min(step, 3*committed)
	}
	return step
}
