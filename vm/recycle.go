package vm

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/vastgo/vast/internal/sampling"
)

// This file recycles small regions, because making and closing a small region takes longer than using it:
// committing a part costs a system call, the first touch of a page costs a page fault, and closing costs a
// system call. The pages of a recycled region can stay in memory when the region is closed. One system call
// makes them inaccessible, so that a stale pointer faults. The next region of the same size, purpose and
// policy commits and clears the pages. Each kept range stays a separate mapping, because splitting and
// joining mappings takes long.

const (
	maxKeptRegions = 16 // closed regions with kept pages
	maxKeptRanges  = 64 // kept ranges of pages of a region
)

var (
	maxKeptOfOne = max(256<<10, 16*pageSize) // kept bytes of a region
	maxKept      = 4 * maxKeptOfOne          // kept bytes of the process
)

// keeper is a backend that can recycle regions. keeps() reports whether inaccessible pages can stay in memory
// without a charge to a limit.
type keeper interface{ keeps() bool }

// part is a carved part of a region.
type part struct {
	interval
	private bool // carved by CarvePrivate
}

// recycling is the state of a recycled region. The region may have got the addresses and pages of a closed
// region, its predecessor.
type recycling struct {
	on       bool      // whether the region is recycled
	parts    []part    // parts carved so far, in the order of the calls
	known    []part    // parts of the predecessor; nil if there is none, or if this region carves other parts
	pages    intervals // pages of the predecessor that this region has not committed, with their old contents
	separate intervals // ranges that makeSeparate has made separate mappings
	spoilt   bool      // whether protected pages, pages of files or a failure forbid keeping the pages
}

// kept is a closed region whose pages stay in memory.
type kept struct {
	backend  backend
	base     unsafe.Pointer
	size     int
	purpose  string
	policy   Pages
	parts    []part
	pages    intervals
	separate intervals
	mappings int // number of mappings that keptCache.add counts in mappingsUsed
	// The next region appends to these slices, to save allocations.
	spareParts     []part
	spareCommitted []interval
}

// keptPages holds the closed regions whose pages stay in memory, oldest first.
var keptPages keptCache

type keptCache struct {
	mu    sync.Mutex
	of    []kept
	bytes int
}

// add adds a closed region. If too many regions or bytes are kept, it evicts the oldest regions.
func (c *keptCache) add(k kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	mappingsUsed.Add(int64(k.mappings))
	c.of = append(c.of, k)
	c.bytes += k.pages.bytes
	for i := 0; i < len(c.of) && (c.bytes > maxKept || len(c.of) > maxKeptRegions); {
		if !c.evict(i) {
			i++
		}
	}
}

// take removes and returns a closed region whose pages a new region can use. If several closed regions fit,
// take returns the region that was closed last.
func (c *keptCache) take(b backend, size int, purpose string, policy Pages) (k kept, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.of) - 1; i >= 0; i-- {
		k = c.of[i]
		if k.backend == b && k.size == size && k.policy == policy && k.purpose == purpose {
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

// evict gives back the memory of a closed region, and makes its addresses available to all regions. If the
// system refuses, the region stays and evict returns false.
func (c *keptCache) evict(i int) bool {
	k := &c.of[i]
	if k.backend.reset(k.base, k.size) != nil {
		return false
	}
	if k.backend.reuses() {
		closedRegions.put(k.base, k.size)
	}
	c.remove(i)
	return true
}

// makeRoom gives back all kept pages after a call of the backend has failed. It reports whether the caller
// should repeat the call.
func makeRoom(b backend) bool {
	_, ok := b.(keeper)
	return ok && keptPages.flush()
}

// flush evicts all closed regions, and reports whether it has evicted any.
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

func (c *keptCache) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// recycles reports whether a region of a backend with the given options is recycled.
func recycles(b backend, o Options) bool {
	k, ok := b.(keeper)
	return o.Recycle && ok && o.Pages != PagesHuge && sampling.Every() == 0 && k.keeps()
}

// revive gives a new region the addresses and the pages of a closed region.
func (m *mapping) revive(k kept) {
	m.base = k.base
	m.recycling.known, m.recycling.parts, m.committed.of = k.parts, k.spareParts[:0], k.spareCommitted[:0]
	m.recycling.pages, m.recycling.separate = k.pages, k.separate
}

// keep prepares a region for keptPages while the region is being closed: it makes all pages inaccessible,
// except for private pages. It returns false if the pages cannot be kept.
func (m *mapping) keep() (kept, bool) {
	r := &m.recycling
	if !r.on || r.spoilt || len(m.dense.of) > 0 || len(m.moved) > 0 ||
		m.committed.bytes+r.pages.bytes > maxKeptOfOne ||
		len(m.committed.of)+len(r.pages.of) > maxKeptRanges {
		return kept{}, false
	}
	parts := r.parts
	if len(r.known) > len(parts) {
		parts = append(parts, r.known[len(parts):]...) // the next region may carve these parts
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
		m.makeSeparate(iv)
		lo, hi = min(lo, iv.lo), iv.hi
	}
	if lo < hi && m.be.protect(m.at(lo), hi-lo, NoAccess) != nil {
		for _, iv := range m.committed.of {
			r.pages.remove(iv.lo, iv.hi)
		}
		return kept{}, false
	}
	return kept{backend: m.be, base: m.base, size: m.size, purpose: m.counted.purpose, policy: m.pages,
		parts: parts, pages: r.pages, separate: r.separate, mappings: 1 + 2*len(r.pages.of),
		spareParts: r.known, spareCommitted: m.committed.of}, true
}

// makeSeparate makes a range a separate mapping, which the kernel does not join with its neighbours when its
// access changes. To this end the range gets other advice about huge pages than its neighbours. The advice
// has no further effect, because the range is smaller than a huge page.
func (m *mapping) makeSeparate(iv interval) {
	if !m.recycling.separate.contains(iv.lo, iv.hi) {
		_ = m.be.advise(m.at(iv.lo), iv.hi-iv.lo, m.advisesSmall())
		m.recycling.separate.add(iv.lo, iv.hi)
	}
}

// carve records the next part of a region. If the predecessor carved another part or no part at this point,
// carve gives back the kept pages outside the parts carved before.
func (r *recycling) carve(m *mapping, p part) {
	if !r.on {
		return
	}
	if i := len(r.parts); r.known != nil && (i >= len(r.known) || r.known[i] != p) {
		r.known = nil
		m.dropKept(interval{m.carved, m.top})
	}
	r.parts = append(r.parts, p)
}

// dropKept gives back the kept pages of a range. If the system refuses, the pages stay, and dropKept sets
// spoilt.
func (m *mapping) dropKept(iv interval) {
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
	r.separate.remove(iv.lo, iv.hi)
	m.recount()
}

// commitPages commits reserved pages, without a change of the counts. If all pages of the range are kept
// private pages, which are accessible, and spoilt is not set, commitPages makes no system call. It clears the
// kept pages of the range.
func (m *mapping) commitPages(iv interval) error {
	kept := &m.recycling.pages
	if iv.lo < m.top || m.recycling.spoilt || !kept.contains(iv.lo, iv.hi) {
		err := m.be.commit(m.at(iv.lo), iv.hi-iv.lo)
		if err != nil && makeRoom(m.be) {
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

// keptTo returns the end of the range of kept pages that contains an offset, or 0 if there is no such range.
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

// step returns the number of bytes that a span or a seam commits ahead. In a recycled region this number is
// at first limited to three times the committed bytes, because the next region must clear all committed
// pages.
func (m *mapping) step(committed int) int {
	step := max(minStep, committed/8)
	if m.recycling.on {
		step = min(step, 3*committed)
	}
	return step
}
