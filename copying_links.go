package vast

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/vastgo/vast/internal/rooms"
	"github.com/vastgo/vast/internal/state"
)

// linkPair is a relation or edges of the originals, and its counterpart for the copies.
type linkPair struct{ from, to linked }

// Copying returns a *copying. For each column of the world from, the slice columns has the counterpart in the
// other world, or nil. The two columns have elements of the same type. If one column holds the sources of a
// relation or of edges, the other column holds the sources of links of the same kind.
func (states) Copying(from, to *World, columns []any) any {
	k := &copying{from: from, to: to, known: make(map[string]*copyGroup),
		columns: make([]*column, len(from.columns))}
	for i, c := range columns {
		if c != nil {
			k.columns[i] = c.(*column)
		}
	}
	for _, l := range from.relations {
		sources, _ := l.columns()
		if c := k.columns[sources.id]; c != nil {
			k.links = append(k.links, linkPair{l, c.links()})
		}
	}
	return k
}

// linkCount says how much room the links of copies need.
type linkCount struct {
	sourcesEnd, targetsEnd uint32 // all sources and all targets have slots below these; 0 if there are none
	level                  uint32 // deepest level of a source in a relation
	edges                  int    // number of edges
}

// count counts the links that the copies get in a relation or in edges.
func (k *copying) count(p linkPair) (n linkCount) {
	sources, targets := p.from.columns()
	for _, g := range k.groups {
		for _, e := range k.originals[g.first:][:g.count] {
			if targets.hasAt(e.slot) {
				n.targetsEnd = max(n.targetsEnd, g.end)
			}
			if !sources.hasAt(e.slot) {
				continue
			}
			n.sourcesEnd = max(n.sourcesEnd, g.end)
			switch l := p.from.(type) {
			case *relation:
				n.level = max(n.level, l.link(e.slot).level)
			case anyEdges:
				n.edges += k.n * l.countOf(sources, e)
			}
		}
	}
	return n
}

// roomForLinks makes room for the links of the copies. After a failure, the caller gives back the room.
func (k *copying) roomForLinks() error {
	for _, p := range k.links {
		n := k.count(p)
		if n.sourcesEnd == 0 {
			continue
		}
		var err error
		switch l := p.to.(type) {
		case *relation:
			if err = l.reach(n.sourcesEnd, n.level); err == nil {
				err = l.targets.grow(n.targetsEnd)
			}
		case anyEdges:
			err = l.growFor(n)
		}
		if err != nil {
			return err
		}
	}
	if k.origins != nil {
		return k.roomForOrigins()
	}
	return nil
}

// copyLinks makes the links of the copies, and at last the links to their originals: see copying.origins.
// When it has made the links in one relation or in one container of edges, it calls the OnAdd hooks of the
// sources.
func (k *copying) copyLinks(op operation) {
	for _, p := range k.links {
		if k.n > len(k.originals) && k.count(p).sourcesEnd == 0 {
			continue // no links: skip the loop over all copies
		}
		k.gained, k.gains = k.gained[:0], k.gains[:0]
		switch l := p.from.(type) {
		case *relation:
			k.copyRelation(l, p.to.(*relation))
		case anyEdges:
			k.copyEdges(l, p.to.(anyEdges))
		}
		sources, _ := p.to.columns()
		for _, g := range k.sorted() {
			sources.giveIn(g.word, g.mask)
		}
		k.to.changedAll(op, len(k.gained))
		sources.tellGains(k.gains)
	}
	if k.origins != nil {
		k.linkOrigins(op)
	}
}

// sorted returns the slots in k.gained by words.
func (k *copying) sorted() []wordMask {
	if len(k.gains) == 0 {
		k.gains = appendGains(k.gains, k.gained)
	}
	return k.gains
}

// copyRelation makes the links of the copies in a relation, and adds the slots of the sources to k.gained. If
// the target of an original is not copied, the copies get the same target. So a copy has the level of its
// original.
func (k *copying) copyRelation(from, to *relation) {
	if len(k.originals) == 1 && from.sources.hasAt(k.originals[0].slot) {
		if target := *from.target(k.originals[0].slot); target != k.originals[0] {
			k.enterAll(to, target)
			return
		}
	}
	inside := k.countInside(from)
	for i := range k.n {
		copies := k.copies[i*len(k.originals):][:len(k.originals)]
		for row, e := range k.originals {
			if from.sources.hasAt(e.slot) {
				k.gained = append(k.gained, copies[row].slot)
				target := *from.target(e.slot)
				if r := k.row(target.slot); r < 0 {
					to.enterAt(copies[row].slot, target, from.link(e.slot).level)
				} else if inside[r] == 1 {
					to.enterAt(copies[row].slot, copies[r], from.link(e.slot).level)
				}
			}
			if left := inside[row]; left > 1 { // keep the order of the sources
				for s := from.first(e.slot); left > 0; s = from.link(s).next {
					if r := k.row(s); r >= 0 {
						to.enterAt(copies[r].slot, copies[row], from.link(s).level)
						left--
					}
				}
			}
		}
	}
}

// countInside returns, for each original, how many of its sources are originals.
func (k *copying) countInside(l *relation) []uint32 {
	k.inside = slices.Grow(k.inside[:0], len(k.originals))[:len(k.originals)]
	clear(k.inside)
	for _, e := range k.originals {
		if l.sources.hasAt(e.slot) {
			if r := k.row(l.target(e.slot).slot); r >= 0 {
				k.inside[r]++
			}
		}
	}
	return k.inside
}

// enterAll links all copies to a target.
func (k *copying) enterAll(l *relation, target Entity) {
	for _, e := range k.copies {
		k.gained = append(k.gained, e.slot)
	}
	for _, g := range k.sorted() {
		l.enterAll(g.word, g.mask, target)
	}
}

// enter links a copy to a target, and adds the copy to k.gained.
func (k *copying) enter(l *relation, source uint32, target Entity, level uint32) {
	l.enterAt(source, target, level)
	k.gained = append(k.gained, source)
}

// enterAt does the work of relation.enter. The caller knows the level of the source, and calls enterAt for
// all descendants of the source, too.
func (l *relation) enterAt(source uint32, target Entity, level uint32) {
	l.join(source, target)
	l.setLevel(source, level)
}

// copiedEdge is an edge of an original.
type copiedEdge struct {
	row   int    // index of the source in copying.originals
	to    uint32 // slot of the target
	toRow int    // index of the target in copying.originals, or -1
	value unsafe.Pointer
}

// copyEdges makes the edges of the copies, and adds the slots of the sources to k.gained. The targets of each
// source keep their order, and so do the sources of each target that is an original.
func (k *copying) copyEdges(from, to anyEdges) {
	edges := k.edgesOf(from)
	r := referencesIn(to.valueType())
	for i := range k.n {
		copies := k.copies[i*len(k.originals):][:len(k.originals)]
		for _, one := range edges {
			source, target := copies[one.row].slot, one.to
			if one.toRow >= 0 {
				target = copies[one.toRow].slot
			}
			p, first := to.enterCopy(source, target, one.value)
			if r != nil {
				k.translate(p, r, i)
			}
			if first {
				k.gained = append(k.gained, source)
			}
		}
	}
}

// edgesOf returns the edges of the originals, in an order that keeps the order of targets and of sources.
func (k *copying) edgesOf(from anyEdges) []copiedEdge {
	var edges []copiedEdge
	var sources []int
	index := make(map[uint32]int) // by the number of an edge, its index in edges
	inside := make(map[int]int)   // for each row, the number of edges from originals
	for row, e := range k.originals {
		from.eachOut(e.slot, func(number, to uint32, value unsafe.Pointer) {
			index[number] = len(edges)
			edges = append(edges, copiedEdge{row, to, k.row(to), value})
			sources = append(sources, row)
			inside[k.row(to)]++
		})
	}
	into := make(map[int][]int)
	for row, e := range k.originals {
		if inside[row] > 1 {
			from.eachIn(e.slot, func(number uint32) {
				if i, ok := index[number]; ok {
					into[row] = append(into[row], i)
				}
			})
		}
	}
	ordered := make([]copiedEdge, 0, len(edges))
	for _, i := range state.InBothOrders(sources, into) {
		ordered = append(ordered, edges[i])
	}
	return ordered
}

// mustBeClosed returns an error if a link or a reference leads from an original to a living entity that is no
// original.
func (k *copying) mustBeClosed() error {
	for _, p := range k.links {
		sources, _ := p.from.columns()
		for _, e := range k.originals {
			for _, target := range p.from.appendTargets(nil, e.slot) {
				if k.row(target) < 0 {
					return fmt.Errorf("entity %v: the link in %s leads to entity %v, which is not copied: "+
						"copy it, too, or remove the link first", e, sources.name, k.from.entityIn(target))
				}
			}
		}
		if l, ok := p.from.(anyEdges); ok {
			if r := referencesIn(l.valueType()); r != nil {
				for _, one := range k.edgesOf(l) {
					if err := k.leadsOut(one.value, r, k.originals[one.row], sources); err != nil {
						return err
					}
				}
			}
		}
	}
	for _, g := range k.groups {
		for _, p := range g.pairs {
			if r := referencesIn(p.from.typ); r != nil {
				for _, e := range k.originals[g.first:][:g.count] {
					if err := k.leadsOut(p.from.at(e.slot), r, e, p.from); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// hasRoom reports whether there is room for the edges of copies.
func (s *edges[T]) hasRoom(n linkCount) bool {
	return n.sourcesEnd <= s.sources.slots && n.targetsEnd <= s.targets.slots &&
		rooms.Of(s.pool).Free() >= n.edges
}

// growFor makes room for the edges of copies.
func (s *edges[T]) growFor(n linkCount) error { return s.reach(n.sourcesEnd, n.targetsEnd, n.edges) }

// eachOut calls f for each edge out of the entity in a slot, with the number of the edge in the pool, the
// slot of the target, and the address of the value.
func (s *edges[T]) eachOut(slot uint32, f func(number, to uint32, value unsafe.Pointer)) {
	if !s.sources.hasAt(slot) {
		return
	}
	for h := s.ends(s.sources, slot).first; !h.IsZero(); {
		one := s.pool.Get(h)
		f(h.Slot(), one.to, unsafe.Pointer(&one.value))
		h = one.nextOut
	}
}

// eachIn calls f for each edge into the entity in a slot, with the number of the edge in the pool.
func (s *edges[T]) eachIn(slot uint32, f func(number uint32)) {
	if !s.targets.hasAt(slot) {
		return
	}
	for h := s.ends(s.targets, slot).first; !h.IsZero(); h = s.pool.Get(h).nextIn {
		f(h.Slot())
	}
}

// enterCopy makes an edge with the value at v. It returns the address of the new value, and whether the
// source had no edges before. There must be room.
func (s *edges[T]) enterCopy(from, to uint32, v unsafe.Pointer) (p unsafe.Pointer, first bool) {
	value := &s.enter(edge[T]{from: from, to: to, value: *(*T)(v)}).value
	// The next call of enter keeps the list of the source only if the source has its presence bit.
	return unsafe.Pointer(value), s.sources.giveIn(from/64, 1<<(from%64)) > 0
}

func (s *runtimeEdges) hasRoom(linkCount) bool { return false } // growFor also makes room for values

func (s *runtimeEdges) growFor(n linkCount) error {
	if err := s.edges.growFor(n); err != nil {
		return err
	}
	return s.reachValues()
}

func (s *runtimeEdges) eachOut(slot uint32, f func(number, to uint32, value unsafe.Pointer)) {
	s.edges.eachOut(slot, func(number, to uint32, _ unsafe.Pointer) { f(number, to, s.at(int(number))) })
}

func (s *runtimeEdges) enterCopy(from, to uint32, v unsafe.Pointer) (p unsafe.Pointer, first bool) {
	edge, first := s.edges.enterCopy(from, to, unsafe.Pointer(&struct{}{}))
	p = s.at(s.slotOf((*struct{})(edge)))
	copyBytes(p, v, s.typ.Size())
	return p, first
}
