package vm

import "sync"

// closings remembers the most recently closed regions, so that a fault by a stale pointer can be explained.
// The addresses of a closed region fault until a later region takes them.
var closings closed

// closed is a ring of closed regions.
type closed struct {
	mu   sync.Mutex
	of   [256]closing
	next int
}

// closing describes a closed region.
type closing struct {
	base    uintptr
	size    int
	purpose string
	labels  []labelled
	made    origin
	closed  origin
}

// add remembers a region that is being closed, and the call stack of its Close.
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

// describe describes an address of a closed region.
func (c *closed) describe(addr uintptr) (Place, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range min(c.next, len(c.of)) {
		// The search begins at the region that was closed last, because an older region may have had this
		// address, too.
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
