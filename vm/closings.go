package vm

import "sync"

// closings holds the regions that were closed last, to explain faults of stale pointers.
var closings closed

// closed is a ring of closed regions.
type closed struct {
	mu   sync.Mutex
	of   [256]closing
	next int
}

type closing struct {
	base    uintptr
	size    int
	purpose string
	labels  []labelled
	made    origin
	closed  origin
}

// add adds a region that is being closed, and the call stack of Close.
func (c *closed) add(m *mapping) {
	e := closing{base: uintptr(m.base), size: m.size, purpose: m.counted.purpose, labels: m.labels,
		made: m.made}
	e.closed.recordAbove(1)
	for i := range e.labels {
		e.labels[i].Explain = nil // the label's owner is gone, and Explain would keep the owner in memory
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[c.next%len(c.of)] = e
	c.next++
}

func (c *closed) describe(addr uintptr) (Place, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range min(c.next, len(c.of)) {
		// Regions closed earlier may have had the address, too, so search from the last closed region.
		e := &c.of[(c.next-1-i)%len(c.of)]
		if addr-e.base >= uintptr(e.size) {
			continue
		}
		off := int(addr - e.base)
		l := labelAt(e.labels, off, e.size, e.purpose)
		return Place{Address: addr, Purpose: e.purpose, What: l.What, Element: l.Element,
			Index: (off - l.lo) / l.Size, Closed: true,
			Made: e.made.String(), ClosedAt: e.closed.String()}, true
	}
	return Place{}, false
}
