package vastsql

import (
	"iter"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/probe"
)

// changedRelation is the state of the check of a relation. The maps tell how the rows so far change the
// links.
type changedRelation struct {
	vast.Relation
	cyclic  bool                        // whether links may close circles
	targets map[vast.Entity]vast.Entity // new target of each source
	gained  map[vast.Entity]bool        // entities that are new targets
	levels  int                         // depth for which the links need room
}

// changedNames is the state of the check of names. The maps tell how the rows so far change the names.
type changedNames struct {
	*vast.Names
	names  map[vast.Entity]string // new name of each entity; empty if OR REPLACE removes the name
	owners map[string]vast.Entity // owner of each new name; the zero Entity for a new entity
	freed  map[string]bool        // old names that no entity has any more
}

// anyDepth stands for an unknown depth. Relation.GrowLevels then makes room for all depths.
const anyDepth = 1 << 30

// describeLinks prepares checkLink and the checks of edges. It finds out which relations may have circles.
func (c *change) describeLinks() error {
	for i := range c.parts {
		p := &c.parts[i]
		if p.edges == nil && (p.link == nil || c.verb == verbDelete) {
			continue
		}
		columns, err := internals.Columns("vastsql.Apply", c.world, false)
		if err != nil {
			return err
		}
		if p.edges != nil {
			p.edges.column = columns[p.info.ID].Of
			continue
		}
		p.link.cyclic = columns[p.info.ID].Cyclic
		p.link.targets, p.link.gained = map[vast.Entity]vast.Entity{}, map[vast.Entity]bool{}
	}
	return nil
}

// checkLink checks the link from an entity, which may be new, to the target in the cell of p.
func (c *change) checkLink(p *changedPart, row int, source vast.Entity) error {
	r, target := p.link, p.cell.Elem().Interface().(vast.Entity)
	switch {
	case target.IsZero():
		return c.fail(row, codeNull, "a row of %s needs a target", p.info.Name)
	case !c.world.Alive(target):
		return c.fail(row, codeNoEntity, "the target %v is not alive", target)
	case r.cyclic:
		return nil
	}
	depth := 1
	for at := target; ; depth++ {
		if at == source {
			return c.fail(row, codeCircle, "the link to %v would close a circle in %s", target, p.info.Name)
		}
		above, linked := r.targets[at]
		if !linked {
			above, linked = r.Target(at)
		}
		if !linked {
			break
		}
		at = above
	}
	if source.IsZero() {
		r.levels = max(r.levels, depth)
	} else {
		r.levels = max(r.levels, depth+r.height(source))
		r.targets[source] = target
	}
	r.gained[target] = true
	return nil
}

// height returns an upper bound for the number of levels below an entity.
func (r *changedRelation) height(e vast.Entity) (n int) {
	switch {
	case r.CountSources(e) == 0 && !r.gained[e]:
		return 0
	case len(r.gained) > 0:
		return anyDepth
	}
	for below := range r.Descendants(e) {
		n = max(n, r.Depth(below)-r.Depth(e))
	}
	return n
}

// checkName checks the name in the cell of p for an entity, which may be new.
func (c *change) checkName(p *changedPart, row int, e vast.Entity) error {
	n, name := p.name, p.cell.Elem().String()
	if name == "" {
		return c.fail(row, codeNull, "a name must not be empty: DELETE the row instead")
	}
	if n.owners == nil {
		n.names, n.owners, n.freed = map[vast.Entity]string{}, map[string]vast.Entity{}, map[string]bool{}
	}
	owner, taken := n.owners[name]
	if !taken && !n.freed[name] {
		owner, taken = n.Find(name)
	}
	if taken && (owner != e || e.IsZero()) {
		switch c.onConflict {
		case conflictAbort:
			return c.fail(row, codeExists, "the name %q belongs to another entity", name)
		case conflictIgnore:
			c.skip(row)
			return nil
		}
		n.names[owner] = ""
	}
	old, known := n.names[e]
	if !known {
		old, _ = n.Of(e)
	}
	if old != "" {
		delete(n.owners, old)
		n.freed[old] = true
	}
	delete(n.freed, name)
	n.owners[name] = e
	if !e.IsZero() {
		n.names[e] = name
	}
	return nil
}

// links describes a relation or edges for checkDeletion.
type links struct {
	name     string
	onDelete vast.OnDelete
	sources  func(target vast.Entity) iter.Seq[vast.Entity]
}

// checkDeletion checks that no relation and no edges refuse to delete the entities of the rows, together with
// the entities that vast.Cascade deletes.
func (c *change) checkDeletion() error {
	columns, err := internals.Columns("vastsql.Apply", c.world, false)
	if err != nil {
		return err
	}
	var cascading, refusing []links
	for i, col := range probe.Columns(c.world) {
		switch l := linksOf(columns[i], col); {
		case l.sources == nil:
		case l.onDelete == vast.Cascade:
			cascading = append(cascading, l)
		case l.onDelete == vast.Refuse:
			refusing = append(refusing, l)
		}
	}
	if len(refusing) == 0 {
		return nil
	}
	rowOf := map[vast.Entity]int{} // for each doomed entity, the row that deletes it
	var doomed []vast.Entity
	add := func(e vast.Entity, row int) {
		if _, known := rowOf[e]; !known {
			rowOf[e] = row
			doomed = append(doomed, e)
		}
	}
	for row, id := range c.entities {
		add(vast.EntityOf(id), row)
	}
	for i := 0; i < len(doomed); i++ {
		for _, l := range cascading {
			for source := range l.sources(doomed[i]) {
				add(source, rowOf[doomed[i]])
			}
		}
	}
	for _, target := range doomed {
		for _, l := range refusing {
			for source := range l.sources(target) {
				if _, ok := rowOf[source]; !ok {
					return c.fail(rowOf[target], codeRefused, "entity %v cannot be deleted while entity %v "+
						"links to it in %s", target, source, l.name)
				}
			}
		}
	}
	return nil
}

// linksOf returns the links whose sources a column holds. sources is nil if the column holds none.
func linksOf(s state.Column, col vast.AnyColumn) links {
	l := links{name: s.Linked, onDelete: vast.OnDelete(s.OnDelete)}
	if s.Linked == "" || s.Private {
		return l
	}
	if r, ok := probe.RelationOf(col); ok {
		l.sources = r.Sources
	} else if edges, ok := probe.EdgesOf(col); ok {
		l.sources = func(target vast.Entity) iter.Seq[vast.Entity] {
			return func(yield func(vast.Entity) bool) {
				for source := range edges.Sources(target) {
					if !yield(source) {
						return
					}
				}
			}
		}
	}
	return l
}
