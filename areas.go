package vast

import (
	"unsafe"

	"github.com/vastgo/vast/internal/probing"
)

// Parts lists the parts of the world's memory: it calls the function add for each part, with the part's
// column, or with nil if the part belongs to the world itself. A closed world has no parts. A world
// that has not carved its memory yet has none either.
func (probes) Parts(w *World, add func(AnyColumn, probing.Part)) {
	if w.closed || w.live == nil {
		return
	}
	add(nil, probing.Part{Kind: probing.KindOwners, Seam: &w.control, Below: true, Stride: bytesOwner,
		Share: 64})
	add(nil, probing.Part{Kind: probing.KindGenerations, Seam: &w.control, Stride: 4})
	add(nil, probing.Part{Kind: probing.KindLive, Set: w.live})
	for _, c := range w.columns {
		c.parts(add)
	}
	for _, one := range w.relations {
		if k, ok := one.(*relation); ok {
			col := columnOfAnyType{k.sources}
			stride := int(unsafe.Sizeof(link{}))
			add(col, probing.Part{Kind: probing.KindLinks, Span: &k.links, Stride: stride})
			for i, level := range k.levels {
				add(col, probing.Part{Kind: probing.KindLevels, Number: i, Set: level})
			}
		}
	}
	for i, m := range w.unusedMarks {
		m.parts(i, nil, add)
	}
	for i, k := range w.kept {
		add(nil, probing.Part{Kind: probing.KindGroups, Number: i, Set: k.set})
	}
	for i, s := range w.unusedKept {
		add(nil, probing.Part{Kind: probing.KindGroups, Number: len(w.kept) + i, Set: s})
	}
	w.commands.mu.Lock()
	defer w.commands.mu.Unlock()
	for i, c := range w.commands.all {
		if c.span.Region() != nil && !c.closed {
			reserved, committed := c.span.Size(), c.span.Committed()
			add(nil, probing.Part{Kind: probing.KindCommands, Number: i, Reserved: reserved,
				Committed: committed})
		}
	}
}

func (c *column) parts(add func(AnyColumn, probing.Part)) {
	col := columnOfAnyType{c}
	if c.base != nil {
		add(col, probing.Part{Kind: probing.KindElements, Span: &c.span, Skew: c.skew, Stride: c.bytes})
	}
	add(col, probing.Part{Kind: probing.KindPresence, Set: c.set})
	if c.dirty != nil {
		add(col, probing.Part{Kind: probing.KindWritten, Span: &c.dirtySpan, Stride: 8, Share: 64})
	}
	for i, m := range c.marks {
		m.parts(i, col, add)
	}
	if c.store == nil {
		return
	}
	reserved, committed, heap := c.store.memory()
	if c.store.storage() == probing.StorageHeap {
		add(col, probing.Part{Kind: probing.KindHeap, Reserved: heap, Committed: heap})
	} else if reserved > 0 {
		add(col, probing.Part{Kind: probing.KindStore, Reserved: reserved, Committed: committed})
	}
}

// parts calls the function add for the three sets and the generations of m. i is the index of m in
// column.marks or in World.unusedMarks.
func (m *marks) parts(i int, col AnyColumn, add func(AnyColumn, probing.Part)) {
	add(col, probing.Part{Kind: probing.KindMarks, Number: 3 * i, Set: m.changed})
	add(col, probing.Part{Kind: probing.KindMarks, Number: 3*i + 1, Set: m.touched})
	add(col, probing.Part{Kind: probing.KindMarks, Number: 3*i + 2, Set: m.had})
	add(col, probing.Part{Kind: probing.KindMarkGenerations, Number: i, Span: &m.span, Stride: 4})
}
