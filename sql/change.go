package vastsql

import (
	"fmt"
	"reflect"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/probe"
)

// internals holds the methods of package vast that changes need, in addition to those of package probe.
var internals = state.Vast.(interface {
	Columns(function string, w *vast.World, writes bool) ([]state.Column, error)
	Births(of []*vast.Archetype, counts []int, room func() error, born func(i int, r vast.Run),
		fill func()) error
	GrowAdditions(col vast.AnyColumn, end, n int) error
	GrowEdges(sources any, n int) error
	AddEdge(sources any, from, to vast.Entity, v reflect.Value) bool
	EdgeValue(sources any, from, to vast.Entity) (v reflect.Value, ok bool)
	RemoveEdge(sources any, from, to vast.Entity) bool
})

// change carries out an edit on the goroutine that owns the world. It first checks all rows, each row as if
// the earlier rows had changed the world. It then makes room for all that the rows add. After that, only a
// callback that panics can stop the changes.
type change struct {
	*worldEdit
	world     *vast.World
	parts     []changedPart
	births    []int        // indices of the rows of an INSERT that make a new entity
	additions int          // number of rows of an INSERT that add to a living entity
	slots     []uint64     // bitmap of the slots of these living entities
	skipped   map[int]bool // indices of the rows that OR IGNORE leaves out
}

// changedPart is a column that a change writes.
type changedPart struct {
	*part
	fields []*field         // the fields that get values
	at     []int            // index in worldEdit.fields of each element of fields
	cell   reflect.Value    // pointer to a value of the column's type; the method read fills the value
	link   *changedRelation // set if the column belongs to a relation
	name   *changedNames    // set if the column holds the names of the world
	edges  *changedEdges    // set if the part is the value of edges
}

// newChange returns the change for an edit of a table. fields are indices of the table's fields, in the order
// of worldEdit.fields.
func newChange(w *vast.World, e *worldEdit, t *table, fields []int) *change {
	c := &change{worldEdit: e, world: w}
	for i := range t.parts {
		p := changedPart{part: &t.parts[i]}
		if t.edges != nil {
			if i != partValue {
				continue
			}
			p.edges = newChangedEdges(e, fields)
		}
		for at, f := range fields {
			if t.fields[f].part == i {
				p.fields, p.at = append(p.fields, &t.fields[f]), append(p.at, at)
			}
		}
		if e.verb == verbUpdate && len(p.fields) == 0 && p.edges == nil {
			continue
		}
		p.cell = p.newCell()
		switch r, ok := probe.RelationOf(p.column); {
		case p.edges != nil:
		case ok:
			p.link = &changedRelation{Relation: r}
		case p.names != nil:
			p.name = &changedNames{Names: p.names}
		}
		c.parts = append(c.parts, p)
	}
	return c
}

// newCell returns a pointer to a zero value of the column's type, or to an empty struct for a tag.
func (p *part) newCell() reflect.Value {
	if p.info.Type == nil {
		return reflect.ValueOf(new(struct{}))
	}
	return reflect.New(p.info.Type)
}

// isElement reports whether the values of a row become an element of the column, not a link, a name or an
// edge.
func (p *changedPart) isElement() bool { return p.link == nil && p.name == nil && p.edges == nil }

// apply carries out the edit.
func (c *change) apply() (o outcome) {
	defer func() {
		if inner := recover(); inner != nil {
			err := refuse(codePanic, "the program panicked, and the statement's changes before the panic "+
				"remain: %.1000s", fmt.Sprint(inner))
			err.cause, _ = inner.(error)
			o = outcome{err: err}
		}
	}()
	if err := c.check(); err != nil {
		return outcome{err: err}
	}
	var err error
	switch c.verb {
	case verbInsert:
		err = c.insert()
	case verbUpdate:
		if err = c.room(); err == nil {
			c.update()
		}
	default:
		c.delete()
	}
	if err != nil {
		return outcome{err: &WriteError{Code: codeNoMemory, Detail: err.Error(), cause: err}}
	}
	if c.skipped == nil {
		return outcome{entities: c.entities}
	}
	for row, id := range c.entities {
		if !c.skipped[row] {
			o.entities = append(o.entities, id)
		}
	}
	return o
}

// fail returns a WriteError that concerns a row.
func (c *change) fail(row int, code, format string, args ...any) error {
	err := refuse(code, format, args...)
	err.Row, err.Entity = row+1, vast.EntityOf(c.entities[row])
	return err
}

// check checks all rows, and counts the entities and components that the rows add.
func (c *change) check() error {
	if err := c.describeLinks(); err != nil {
		return err
	}
	for row := range c.entities {
		var err error
		if c.verb == verbInsert {
			err = c.checkInsert(row)
		} else {
			err = c.checkPresent(row)
		}
		if err == nil && c.verb == verbUpdate {
			err = c.checkValues(row)
		}
		if err != nil {
			return err
		}
	}
	if c.verb == verbDelete && len(c.parts) == 0 {
		return c.checkDeletion()
	}
	return nil
}

// checkPresent checks that the entity of a row lives and has the components that the statement updates or
// deletes.
func (c *change) checkPresent(row int) error {
	e := vast.EntityOf(c.entities[row])
	if !c.world.Alive(e) {
		return c.fail(row, codeConflict, "the entity was deleted meanwhile")
	}
	for i := range c.parts {
		p := &c.parts[i]
		if p.edges != nil {
			return c.checkEdge(p, row, e)
		}
		if !c.has(p, e) {
			return c.fail(row, codeConflict, "the entity has no %s any more", p.info.Name)
		}
	}
	return nil
}

// has reports whether a living entity has the component, link or name of a part.
func (c *change) has(p *changedPart, e vast.Entity) bool {
	return probe.Presence(c.world, p.column, int(e.Slot()/64))>>(e.Slot()%64)&1 != 0
}

func (c *change) checkInsert(row int) error {
	e := vast.EntityOf(c.entities[row])
	if !e.IsZero() {
		if !c.world.Alive(e) || len(c.parts) == 0 {
			return c.fail(row, codeNoEntity, "no such entity lives: leave the entity out for a new one")
		}
		present := c.added(e)
		for i := range c.parts {
			p := &c.parts[i]
			present = present || p.edges == nil && c.has(p, e) // checkNewEdge finds an edge that exists
		}
		switch {
		case present && c.onConflict == conflictAbort:
			return c.fail(row, codeExists, "the entity has %s already: UPDATE it, or use INSERT OR REPLACE",
				c.partNames())
		case present && c.onConflict == conflictIgnore:
			c.skip(row)
			return nil
		}
	}
	if err := c.checkValues(row); err != nil || c.skipped[row] {
		return err
	}
	if e.IsZero() {
		c.births = append(c.births, row)
		return nil
	}
	if c.parts[0].edges != nil {
		return nil // an entity may gain several edges
	}
	c.additions++
	word := int(e.Slot() / 64)
	if word >= len(c.slots) {
		c.slots = append(c.slots, make([]uint64, word+1-len(c.slots))...)
	}
	c.slots[word] |= 1 << (e.Slot() % 64)
	return nil
}

// added reports whether an earlier row of an INSERT adds to e, which lives.
func (c *change) added(e vast.Entity) bool {
	word := int(e.Slot() / 64)
	return word < len(c.slots) && c.slots[word]>>(e.Slot()%64)&1 != 0
}

func (c *change) partNames() (names string) {
	for i := range c.parts {
		if i > 0 {
			names += " or "
		}
		names += c.parts[i].info.Name
	}
	return names
}

func (c *change) skip(row int) {
	if c.skipped == nil {
		c.skipped = map[int]bool{}
	}
	c.skipped[row] = true
}

// checkValues checks that the values of a row fit, and that the row's names, links and edges are possible.
func (c *change) checkValues(row int) error {
	for i := range c.parts {
		if err := c.parts[i].read(c, row); err != nil {
			return err
		}
	}
	e := vast.EntityOf(c.entities[row])
	for i := range c.parts { // names before links, because OR IGNORE leaves out a row whose name is taken
		if p := &c.parts[i]; p.name != nil {
			if err := c.checkName(p, row, e); err != nil || c.skipped[row] {
				return err
			}
		}
	}
	for i := range c.parts {
		var err error
		switch p := &c.parts[i]; {
		case p.link != nil:
			err = c.checkLink(p, row, e)
		case p.edges != nil:
			err = c.checkNewEdge(p, row, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read writes the values of a row to the cell. Other fields of the cell become zero in an INSERT, and keep
// their values in an UPDATE. In an INSERT, NULL stands for a value that is left out.
func (p *changedPart) read(c *change, row int) error {
	if c.verb == verbInsert {
		p.cell.Elem().SetZero()
	}
	values := c.row(row)
	for i, f := range p.fields {
		v := values[p.at[i]]
		if c.verb == verbInsert && v.isNull() {
			continue
		}
		if wrong := f.fit(p.cell.UnsafePointer(), v); wrong != nil {
			return c.fail(row, wrong.code, "%s %s", f.name, wrong.text)
		}
	}
	return nil
}

// mustRead calls read for values that check accepted.
func (p *changedPart) mustRead(c *change, row int) {
	if err := p.read(c, row); err != nil {
		panic(err)
	}
}

// room makes room for links, names and edges, and for components that an INSERT adds to living entities.
func (c *change) room() error {
	for i := range c.parts {
		var err error
		switch p := &c.parts[i]; {
		case p.link != nil:
			err = p.link.GrowLevels(p.link.levels)
		case p.name != nil:
			err = internals.GrowAdditions(p.column, c.world.Slots(), len(c.births)+c.additions)
		case p.edges != nil:
			err = p.edges.room(c.verb)
		case c.additions > 0:
			err = internals.GrowAdditions(p.column, 64*len(c.slots), c.additions)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// insert makes the new entities. Then it adds links, names, edges and components row by row.
func (c *change) insert() error {
	var archetypes []*vast.Archetype
	var counts []int
	if len(c.births) > 0 {
		var columns []vast.AnyColumn
		for i := range c.parts {
			if c.parts[i].isElement() {
				columns = append(columns, c.parts[i].column)
			}
		}
		archetypes, counts = []*vast.Archetype{c.world.Archetype(columns...)}, []int{len(c.births)}
	}
	isNew := make([]bool, len(c.entities))
	unborn := c.births
	born := func(_ int, r vast.Run) {
		for i := range r.Len() {
			c.entities[unborn[i]], isNew[unborn[i]] = r.Entity(i).ID(), true
		}
		unborn = unborn[r.Len():]
	}
	fill := func() {
		for _, row := range c.births {
			for i := range c.parts {
				if p := &c.parts[i]; p.isElement() && len(p.fields) > 0 {
					p.mustRead(c, row)
					probe.SetValue(p.column, vast.EntityOf(c.entities[row]), p.cell.Elem())
				}
			}
		}
	}
	if err := internals.Births(archetypes, counts, c.room, born, fill); err != nil {
		return err
	}
	for row, id := range c.entities {
		if c.skipped[row] {
			continue
		}
		for i := range c.parts {
			switch p := &c.parts[i]; {
			case !p.isElement():
				p.mustRead(c, row)
				c.connect(p, row, vast.EntityOf(id))
			case !isNew[row]:
				p.mustRead(c, row)
				probe.AddValue(p.column, vast.EntityOf(id), p.cell.Elem())
			}
		}
	}
	return nil
}

// update sets the fields that the statement names. Other fields keep their present values, which may be newer
// than those that the statement read.
func (c *change) update() {
	for row, id := range c.entities {
		e := vast.EntityOf(id)
		for i := range c.parts {
			p := &c.parts[i]
			switch {
			case c.skipped[row]:
			case p.edges != nil:
				c.updateEdge(p, row, e)
			case p.isElement():
				v, _ := probe.Value(p.column, e)
				p.cell.Elem().Set(v)
				p.mustRead(c, row)
				probe.SetValue(p.column, e, p.cell.Elem())
			case c.has(p, e): // with OR REPLACE, an earlier row may have taken the name of e
				p.mustRead(c, row)
				c.connect(p, row, e)
			}
		}
	}
}

func (c *change) delete() {
	if len(c.parts) == 0 {
		list := make([]vast.Entity, len(c.entities))
		for i, id := range c.entities {
			list[i] = vast.EntityOf(id)
		}
		c.world.DeleteAll(probe.All(c.world.Query()).Among(list))
		return
	}
	for row, id := range c.entities {
		e, p := vast.EntityOf(id), &c.parts[0]
		if p.edges == nil {
			probe.RemoveValue(p.column, e)
			continue
		}
		old, _ := c.mustTargets(p, row)
		internals.RemoveEdge(p.edges.column, e, old)
	}
}

// connect gives an entity the link or the name in a part's cell, or the edge of a row with the value in the
// cell.
func (c *change) connect(p *changedPart, row int, e vast.Entity) {
	switch {
	case p.link != nil:
		p.link.Set(e, p.cell.Elem().Interface().(vast.Entity))
		return
	case p.edges != nil:
		_, target := c.mustTargets(p, row)
		internals.AddEdge(p.edges.column, e, target, p.cell.Elem())
		return
	}
	name := p.cell.Elem().String()
	if owner, taken := p.names.Find(name); taken && owner != e {
		p.names.Remove(owner) // only OR REPLACE comes here
	}
	if _, err := p.names.Set(e, name); err != nil {
		panic(err)
	}
}
