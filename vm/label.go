package vm

import (
	"fmt"
	"strconv"
)

// Label describes the contents of a part of a region, for messages about its addresses.
type Label struct {
	// What names the contents, such as `column Position of world "demo"`. In a message it follows the
	// element: "slot 17 of column Position". Default: the word "region" and the region's purpose.
	What string
	// Element is the word for an element: slot, row, node. Default: "byte".
	Element string
	// Size is the number of bytes of an element. Default: 1.
	Size int
	// Advice is the remedy for an access outside committed pages. Default: a general remedy.
	Advice string
	// Explain explains a bad access instead of this package. If Explain is nil or returns nil, this package
	// explains the access. Explain is called without a lock, and must not read or write at the address.
	// Package guard sets Explain.
	Explain func(addr uintptr) error
}

type labelled struct {
	interval
	Label
}

// Label labels the contents of [off, off+n). Element 0 begins at off. If labels overlap, the newest label
// counts. Label makes no system call. Call Label only once for each part, because labels cannot be removed.
// After Close, the labels still serve for messages about stale pointers into the region. Label.Explain must
// not refer to the Region: otherwise a leak of the Region is never found.
func (r *Region) Label(off, n int, l Label) {
	m := r.m
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check("label", off, n)
	if l.Size < 0 {
		panic(fmt.Sprintf("vm: label(%d, %d): an element of %d bytes: leave Label.Size zero for bytes (%s)",
			off, n, l.Size, m.counted.purpose))
	}
	if l.What == "" {
		l.What = "region " + strconv.Quote(m.counted.purpose)
	}
	if l.Element == "" {
		l.Element = "byte"
	}
	l.Size = max(1, l.Size)
	if m.labels == nil {
		m.labels = make([]labelled, 0, 4)
	}
	m.labels = append(m.labels, labelled{interval{off, off + n}, l})
}

// Label labels the contents of the span: see [Region.Label].
func (s *Span) Label(l Label) { s.region.Label(s.off, s.size, l) }

// labelAt returns the newest label at an offset. If there is none, it returns a label for the bytes of the
// whole region.
func labelAt(labels []labelled, off, size int, purpose string) labelled {
	for i := len(labels) - 1; i >= 0; i-- {
		if l := labels[i]; l.lo <= off && off < l.hi {
			return l
		}
	}
	return labelled{interval{0, size}, Label{What: "region " + strconv.Quote(purpose), Element: "byte",
		Size: 1}}
}
