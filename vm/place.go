package vm

import "fmt"

// Place describes an address in a region.
type Place struct {
	Address uintptr
	Purpose string // purpose of the region
	// What names the contents, and Element names the kind of element. Both come from a [Label].
	What, Element string
	Index         int       // index of the element
	Usable        int       // number of elements from index 0 on that are in committed pages
	State         PageState // PageCommitted or PageDecommitted; 0 if never committed, or if Closed
	Closed        bool      // whether the region is closed
	Made          string    // file:line of the calls that led to Reserve or ReserveMirror, innermost first
	ClosedAt      string    // file:line of the calls that led to Close, innermost first
	// ReturnedAt is file:line of the calls that led to Decommit, innermost first. It is empty if VAST_GUARD
	// is not set, or if the region was decommitted at least 64 times since then.
	ReturnedAt string
	advice     string
	ofFile     bool // whether the page's contents come from a file
	between    bool // whether a page after the address, under the same label, is committed
}

// Describe describes an address, for example from a log or a debugger. It finds the open regions of this
// process and the 256 regions closed last; for any other address it returns false. It does not read the
// memory at the address.
//
// Describe may be called from many goroutines. Complexity: linear in the number of regions and in the labels
// of one region.
func Describe(addr uintptr) (Place, bool) {
	if m := registry.find(addr); m != nil {
		return m.describe(addr), true
	}
	return closings.describe(addr)
}

// find returns the open region that contains an address, or nil.
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

func (m *mapping) describe(addr uintptr) Place {
	m.mu.Lock()
	defer m.mu.Unlock()
	off := int(addr - uintptr(m.base))
	l := labelAt(m.labels, off, m.size, m.counted.purpose)
	p := Place{Address: addr, Purpose: m.counted.purpose, What: l.What, Element: l.Element,
		Index: (off - l.lo) / l.Size,
		Made:  m.made.String(), advice: l.Advice, between: len(m.committed.covered(off, l.hi)) > 0}
	switch page := roundDown(off, pageSize); {
	case m.committed.contains(page, page+pageSize):
		p.State, p.ofFile = PageCommitted, m.files.contains(page, page+pageSize)
	case m.gone.contains(page, page+pageSize):
		p.State, p.ReturnedAt = PageDecommitted, m.decommits.find(off)
	}
	if i := m.committed.first(l.lo); i < len(m.committed.of) && m.committed.of[i].lo <= l.lo {
		p.Usable = (min(m.committed.of[i].hi, l.hi) - l.lo) / l.Size
	}
	return p
}

// String returns a sentence such as "slot 5000 of column Position is beyond its 4096 usable slots".
func (p Place) String() string {
	s := fmt.Sprintf("%s %d of %s ", p.Element, p.Index, p.What)
	switch {
	case p.Closed:
		return s + "is gone: its region was closed"
	case p.State&PageCommitted != 0:
		return s + "is usable"
	case p.State&PageDecommitted != 0:
		return s + "lies in memory that was given back"
	case p.between:
		return s + "lies in memory that is not committed"
	case p.Usable == 0:
		return s + fmt.Sprintf("is beyond its end: no %s is usable yet", p.Element)
	}
	return s + fmt.Sprintf("is beyond its %d usable %ss", p.Usable, p.Element)
}
