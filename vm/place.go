package vm

import "fmt"

// Place is what is known of an address in a region.
type Place struct {
	Address uintptr
	Purpose string // of the region
	// What lies there, and what its elements are called, as a [Label] says.
	What, Element string
	Index         int       // of the element
	Usable        int       // how many elements, from the first on, lie in Committed pages
	State         PageState // PageCommitted; PageDecommitted, where memory was given back; or none of them: Reserved
	Closed        bool      // the region is closed, and its addresses belong to no other one yet
	Made          string    // file:line of the calls that led to Reserve, innermost first
	ClosedAt      string    // the same of Close
	ReturnedAt    string    // the same of the Decommit that took the memory; only while VAST_GUARD is set
	advice        string
	between       bool // something behind it is committed
}

// Describe tells what an address is: one from a log, from a debugger, or of a pointer under suspicion. It returns false where
// the address lies in no region of this process, nor in one of the 256 that were closed last. Nothing is read there.
//
// It may be called from many goroutines. Complexity: linear in the number of regions and in the labels of one.
func Describe(addr uintptr) (Place, bool) {
	if m := registry.find(addr); m != nil {
		return m.describe(addr), true
	}
	return closings.describe(addr)
}

// find returns the open region in which an address lies, or nil.
func (r *regions) find(addr uintptr) *mapping {
	r.mu.Lock()
	defer r.mu.Unlock()
	for m := range r.open {
		if addr-uintptr(m.base) < uintptr(m.size) {
			return m
		}
	}
	return nil
}

// describe is Describe for an address of this region.
func (m *mapping) describe(addr uintptr) Place {
	m.mu.Lock()
	defer m.mu.Unlock()
	off := int(addr - uintptr(m.base))
	l := labelAt(m.labels, off, m.size, m.counted.purpose)
	p := Place{Address: addr, Purpose: m.counted.purpose, What: l.What, Element: l.Element, Index: (off - l.lo) / l.Size,
		Made: m.made.String(), advice: l.Advice, between: len(m.committed.covered(off, l.hi)) > 0}
	switch page := roundDown(off, pageSize); {
	case m.committed.contains(page, page+pageSize):
		p.State = PageCommitted
	case m.ever.contains(page, page+pageSize):
		p.State, p.ReturnedAt = PageDecommitted, m.returns.find(off)
	}
	if i := m.committed.first(l.lo); i < len(m.committed.of) && m.committed.of[i].lo <= l.lo {
		p.Usable = (min(m.committed.of[i].hi, l.hi) - l.lo) / l.Size
	}
	return p
}

// String tells of it in a sentence: "slot 5000 of column Position of world "demo" is beyond its 4096 usable slots".
func (p Place) String() string {
	s := fmt.Sprintf("%s %d of %s ", p.Element, p.Index, p.What)
	switch {
	case p.Closed:
		return s + "is gone: it was closed"
	case p.State&PageCommitted != 0:
		return s + "is usable"
	case p.State&PageDecommitted != 0:
		return s + "lies in memory that was given back"
	case p.between:
		return s + "lies in memory that is not committed"
	case p.Usable == 0:
		return s + "is beyond its end: none is usable yet"
	}
	return s + fmt.Sprintf("is beyond its %d usable %ss", p.Usable, p.Element)
}
