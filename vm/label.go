package vm

import (
	"fmt"
	"strconv"
)

// Label says what lies in a part of a region, so that messages about an address can name it as its user knows it.
type Label struct {
	// What is its name as it stands in "slot 17 of …": `column Position of world "demo"`. Default: the region and its purpose.
	What string
	// Element is what one of its elements is called: slot, row, node. Default: "byte".
	Element string
	// Size is the bytes of an element. Default: 1.
	Size int
	// Advice says what to do about an access where nothing is committed. Default: what is true of all regions.
	Advice string
	// Explain, unless nil, tells of a bad access in the place of what this package would: guarded memory knows more of what
	// lies in it. Nil as its answer stands for that again. It is called with no lock held, and must not touch the address.
	Explain func(addr uintptr) error
}

// labelled is a label and the part of the region that it belongs to.
type labelled struct {
	interval
	Label
}

// Label says what lies in [off, off+n). Elements are counted from off on. Where labels overlap the last one holds. It takes
// no system call and is meant to be called once for each part, when it is carved: labels stay until the region is closed,
// and for messages about stale pointers a while longer. So Label.Explain must not refer to the Region, which would never be
// found to be leaked then.
func (r *Region) Label(off, n int, l Label) {
	m := r.m
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check("label", off, n)
	if l.Size < 0 {
		panic(fmt.Sprintf("vm: label(%d, %d): an element of %d bytes: leave Label.Size zero for bytes (%s)", off, n, l.Size,
			m.counted.purpose))
	}
	if l.What == "" {
		l.What = "region " + strconv.Quote(m.counted.purpose)
	}
	if l.Element == "" {
		l.Element = "byte"
	}
	l.Size = max(1, l.Size)
	m.labels = append(m.labels, labelled{interval{off, off + n}, l})
}

// Label says what lies in the span: see [Region.Label].
func (s *Span) Label(l Label) { s.region.Label(s.off, s.size, l) }

// labelAt returns the label of an offset. A region without one counts as bytes of its purpose.
func labelAt(labels []labelled, off, size int, purpose string) labelled {
	for i := len(labels) - 1; i >= 0; i-- {
		if l := labels[i]; l.lo <= off && off < l.hi {
			return l
		}
	}
	return labelled{interval{0, size}, Label{What: "region " + strconv.Quote(purpose), Element: "byte", Size: 1}}
}
