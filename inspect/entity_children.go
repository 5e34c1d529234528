package inspect

import (
	"net/http"
	"slices"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

const (
	maxChildren  = 500  // limit of the children in one answer
	walkedAtOnce = 4000 // limit of the children that a walk passes in one look (see Inspector.look)
	maxRestarts  = 3    // limit of the restarts of one walk
)

// childrenAnswer lists some children of an entity: sources whose target in a relation is this entity.
type childrenAnswer struct {
	Relation string     `json:"relation"`
	ID       int        `json:"id"` // number of the relation's column
	Total    int        `json:"total"`
	Offset   int        `json:"offset"` // index of the first row among all children; -1 with parameter after
	Rows     []childRow `json:"rows"`
}

type childRow struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Children int      `json:"children"` // number of children of this child
	Has      []string `json:"has"`      // names of the components, without relations and edges
}

// listChildren answers with some children of an entity in a relation. With the parameter offset, it walks
// over all earlier children, in several looks if there are many. With the parameter after=17.3, it needs no
// walk: the list begins with the child after entity 17.3.
func (in *Inspector) listChildren(r *http.Request) (any, error) {
	k := childrenReader{in: in, id: r.PathValue("id"), relation: r.URL.Query().Get("relation"),
		by:    r.URL.Query().Get("by"),
		after: r.URL.Query().Get("after"), atOnce: walkedAtOnce}
	var err error
	if k.limit, err = wholeNumber(r, "limit", 50, 1, maxChildren); err != nil {
		return nil, err
	}
	if k.answer.Offset, err = wholeNumber(r, "offset", 0, 0, 1<<31-1); err != nil {
		return nil, err
	}
	if k.after != "" {
		if k.answer.Offset != 0 {
			return nil, badRequest("give offset or after, not both")
		}
		k.answer.Offset = -1
	}
	k.answer.Rows = []childRow{}
	if err := in.look(r.Context(), k.look); err != nil {
		return nil, err
	}
	return &k.answer, k.err
}

// childrenReader walks over the children of an entity, in one or several looks.
type childrenReader struct {
	in       *Inspector
	id       string
	relation string // name or number of the column
	by       string // the parameter by: see columnNamed
	after    string // ID of the child before the first row; may be empty
	limit    int    // limit of the rows
	atOnce   int    // limit of the children that the walk passes in one look
	answer   childrenAnswer
	err      error

	passed int // number of children that the walk has passed
	// last is the last child that the walk has passed. At first, last is the child that the parameter after
	// names; without this parameter, last is zero, and the walk begins with the first child.
	last     vast.Entity
	restarts int // number of restarts of the walk
}

// look continues the walk and reports whether it is done.
func (k *childrenReader) look() (done bool) {
	in := k.in
	target, ok := in.entity(k.id)
	if !ok {
		k.err = stale(k.id)
		return true
	}
	c, rel, err := in.relationNamed(k.relation, k.by, target)
	if err != nil {
		k.err = err
		return true
	}
	k.answer.Relation, k.answer.ID, k.answer.Total = c.Name, c.ID, rel.CountSources(target)
	if k.after != "" && k.last.IsZero() {
		if k.last, ok = in.entity(k.after); !ok {
			k.err = stale(k.after)
			return true
		}
		if now, _ := rel.Target(k.last); now != target {
			k.err = notFound("entity %s is not a child of %s in the relation %s", k.after, k.id, c.Name)
			return true
		}
	}
	sources := rel.Sources(target)
	if !k.last.IsZero() {
		if now, ok := rel.Target(k.last); !ok || now != target { // moved or deleted between two looks
			k.passed, k.last, k.answer.Rows = 0, vast.Entity{}, k.answer.Rows[:0]
			if k.restarts++; k.restarts > maxRestarts || k.after != "" {
				k.err = tooBusy("the children of %s changed while they were listed: try again",
					k.id)
				return true
			}
		} else {
			sources = rel.SourcesAfter(k.last)
		}
	}
	start, steps := time.Now(), 0
	for e := range sources {
		if len(k.answer.Rows) == k.limit {
			return true
		}
		if steps++; steps > k.atOnce || steps > 1 && (steps%16 == 0 || len(k.answer.Rows) > 0) &&
			time.Since(start) > lookTime {
			return false
		}
		if k.passed >= k.answer.Offset {
			k.answer.Rows = append(k.answer.Rows, in.childRow(e, rel))
		}
		k.passed++
		k.last = e
	}
	return true
}

func (in *Inspector) childRow(e vast.Entity, rel vast.Relation) childRow {
	row := childRow{ID: e.String(), Name: in.nameOf(e), Children: rel.CountSources(e), Has: []string{}}
	for _, col := range probe.ComponentsOf(in.world, e) {
		_, isRelation := probe.RelationOf(col)
		_, isEdges := probe.EdgesOf(col)
		if !isRelation && !isEdges {
			row.Has = append(row.Has, col.Name())
		}
	}
	return row
}

// relationNamed returns the relation with a name or number (see columnNamed). If the text is empty,
// relationNamed returns the first relation in which the target has sources. If the target has no sources,
// relationNamed returns the first relation of the world. Call relationNamed in a look.
func (in *Inspector) relationNamed(text, by string, target vast.Entity) (*column, vast.Relation, error) {
	columns := in.model.look()
	if text != "" {
		c, err := columnNamed(columns, text, by)
		if err != nil {
			return nil, vast.Relation{}, err
		}
		rel, ok := probe.RelationOf(c.col)
		if !ok {
			return nil, rel, badRequest("%s is not a relation", c.Name)
		}
		return c, rel, nil
	}
	isRelation := func(c column) bool { return c.Relation && !c.info.Private }
	i := slices.IndexFunc(columns, func(c column) bool {
		if !isRelation(c) {
			return false
		}
		rel, ok := probe.RelationOf(c.col)
		return ok && rel.CountSources(target) > 0
	})
	if i < 0 {
		i = slices.IndexFunc(columns, isRelation)
	}
	if i < 0 {
		return nil, vast.Relation{}, notFound("the world has no relations")
	}
	rel, _ := probe.RelationOf(columns[i].col)
	return &columns[i], rel, nil
}
