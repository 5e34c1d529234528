package vastsql

import (
	"unsafe"

	"github.com/vastgo/vast"
)

// changedEdges is the state of the check of edges. The maps tell how the rows so far change the edges.
type changedEdges struct {
	column  any           // column of the sources, for internals
	old     int           // index of the old target in worldEdit.fields; -1 in an INSERT
	target  int           // index of the new target; -1 if the statement does not set the target
	present map[edge]bool // whether the edge exists after the rows so far
	ended   map[edge]bool // edges of the world that the rows so far have moved or replaced
	added   int           // number of edges that need room
}

// edge identifies an edge. The zero Entity stands for a new source.
type edge struct{ source, target vast.Entity }

// newChangedEdges returns the state for an edit of a table of edges. fields are as in newChange.
func newChangedEdges(e *worldEdit, fields []int) *changedEdges {
	s := &changedEdges{old: -1, target: -1, present: map[edge]bool{}, ended: map[edge]bool{}}
	for at, f := range fields {
		switch {
		case f != partTarget:
		case at == 0 && e.verb != verbInsert:
			s.old = at
		default:
			s.target = at
		}
	}
	return s
}

// entityAt returns the entity in a value of a row. It returns the zero Entity if i is negative.
func (c *change) entityAt(row, i int) (e vast.Entity, err error) {
	if i < 0 {
		return e, nil
	}
	if wrong := (&field{kind: kindEntity}).fit(unsafe.Pointer(&e), c.row(row)[i]); wrong != nil {
		return e, c.fail(row, wrong.code, "target %s", wrong.text)
	}
	return e, nil
}

// checkEdge checks that the edge of a row of an UPDATE or DELETE exists.
func (c *change) checkEdge(p *changedPart, row int, source vast.Entity) error {
	old, err := c.entityAt(row, p.edges.old)
	if err != nil {
		return err
	}
	if _, ok := internals.EdgeValue(p.edges.column, source, old); !ok {
		return c.fail(row, codeConflict, "the edge to %v in %s was removed meanwhile", old, p.info.Name)
	}
	return nil
}

// checkNewEdge checks the edge that a row of an INSERT or UPDATE makes. source may be new.
func (c *change) checkNewEdge(p *changedPart, row int, source vast.Entity) error {
	s := p.edges
	old, target, err := c.targets(p, row)
	if err != nil {
		return err
	}
	switch {
	case s.ended[edge{source, old}]: // by OR REPLACE, or by a row of UPDATE FROM with the same edge
		c.skip(row)
		return nil
	case target.IsZero():
		return c.fail(row, codeNull, "a row of %s needs a target", p.info.Name)
	case !c.world.Alive(target):
		return c.fail(row, codeNoEntity, "the target %v is not alive", target)
	case target == old:
		return nil
	case source.IsZero():
		s.added++
		return nil
	}
	one := edge{source, target}
	present, known := s.present[one]
	if !known {
		_, present = internals.EdgeValue(s.column, source, target)
	}
	switch {
	case !present:
		s.added++
	case c.onConflict == conflictAbort:
		remedy := "UPDATE this edge, or use INSERT OR REPLACE"
		if c.verb == verbUpdate {
			remedy = "use UPDATE OR REPLACE"
		}
		return c.fail(row, codeExists, "the entity has an edge to %v in %s already: %s", target, p.info.Name,
			remedy)
	case c.onConflict == conflictIgnore:
		c.skip(row)
		return nil
	default:
		s.ended[one] = true
	}
	s.present[one] = true
	if c.verb == verbUpdate {
		s.present[edge{source, old}], s.ended[edge{source, old}] = false, true
	}
	return nil
}

// targets returns the old and the new target of the edge of a row. old is zero in an INSERT.
func (c *change) targets(p *changedPart, row int) (old, target vast.Entity, err error) {
	if old, err = c.entityAt(row, p.edges.old); err != nil {
		return old, target, err
	}
	if p.edges.target < 0 {
		return old, old, nil
	}
	target, err = c.entityAt(row, p.edges.target)
	return old, target, err
}

// mustTargets calls targets for values that check accepted.
func (c *change) mustTargets(p *changedPart, row int) (old, target vast.Entity) {
	old, target, err := c.targets(p, row)
	if err != nil {
		panic(err)
	}
	return old, target
}

// room makes room for the edges. An UPDATE that moves edges adds one edge at a time, before it removes the
// old edge.
func (s *changedEdges) room(v verb) error {
	n := s.added
	if v == verbUpdate {
		n = min(n, 1)
	}
	return internals.GrowEdges(s.column, n)
}

// updateEdge sets the fields of the edge of a row. If the target changes, updateEdge makes the new edge
// before it removes the old one, so that the source keeps an edge.
func (c *change) updateEdge(p *changedPart, row int, source vast.Entity) {
	old, target := c.mustTargets(p, row)
	v, _ := internals.EdgeValue(p.edges.column, source, old)
	p.cell.Elem().Set(v)
	p.mustRead(c, row)
	internals.AddEdge(p.edges.column, source, target, p.cell.Elem())
	if target != old {
		internals.RemoveEdge(p.edges.column, source, old)
	}
}
