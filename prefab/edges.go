package prefab

import (
	"reflect"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/probe"
)

// edges describes a vast.Edges whose edges templates can have.
type edges struct {
	column // of the sources; its fields typ and parts describe the values of edges
	ends   probe.AnyEdges
}

// edge is an edge out of an entity.
type edge struct {
	to    vast.Entity
	value reflect.Value // addressable
}

func edgesOf(ends probe.AnyEdges, c state.Column) edges {
	c.Type = ends.Type()
	return edges{columnOf(ends.SourceColumn(), c), ends}
}

// list returns the edges out of an entity.
func (x *edges) list(e vast.Entity) (list []edge) {
	for to, v := range x.ends.Targets(e) {
		list = append(list, edge{to, copyOf(v)})
	}
	return list
}

// differs reports whether the edge between two entities differs from one with the value want. The zero Value
// stands for no edge.
func (x *edges) differs(from, to vast.Entity, want reflect.Value) bool {
	v, ok := engine.EdgeValue(x.of, from, to)
	if !ok || !want.IsValid() {
		return ok != want.IsValid()
	}
	return !x.same(copyOf(v), want)
}

// plan calls add for each difference between the edges out of node number i and those out of its base.
func (x *edges) plan(f *family, i int, add func(change)) {
	before, after := x.list(f.bases[i]), x.list(f.nodes[i])
	if len(before)+len(after) == 0 {
		return
	}
	now := make(map[vast.Entity]bool, len(after))
	one := change{kind: changedEdge, edges: x, column: &x.column, refers: true}
	for _, a := range after {
		if at, ok := f.numbers[a.to]; ok {
			a.to = f.bases[at]
		}
		now[a.to] = true
		a.value = f.translated(&x.column, a.value, f.nodes, f.bases)
		if x.differs(f.bases[i], a.to, a.value) {
			old, _ := engine.EdgeValue(x.of, f.bases[i], a.to)
			one.ends[1], one.before, one.after = a.to, addressable(old), a.value
			add(one)
		}
	}
	for _, b := range before {
		if !now[b.to] {
			one.ends[1], one.before, one.after = b.to, b.value, reflect.Value{}
			add(one)
		}
	}
}

// addressable returns an addressable copy of a value, or the zero Value for the zero Value.
func addressable(v reflect.Value) reflect.Value {
	if !v.IsValid() {
		return v
	}
	return copyOf(v)
}

// writeEdge sets the edge between two entities to v.after, if the edge still has the value v.before. The zero
// Value stands for no edge. writeEdge reports whether it has changed the edge.
func (c *change) writeEdge(from, to vast.Entity, v change) bool {
	switch {
	case to.IsZero() || c.edges.differs(from, to, v.before):
		return false
	case !v.after.IsValid():
		return engine.RemoveEdge(c.edges.of, from, to)
	}
	return engine.AddEdge(c.edges.of, from, to, v.after)
}

// wanted returns the edges that an entity of an instance has if the entity equals base number i.
func (x *edges) wanted(f *family, i int, members []vast.Entity) (list []edge) {
	for _, b := range x.list(f.bases[i]) {
		if to := f.counterpart(b.to, members); !to.IsZero() { // else the instance lacks the target
			list = append(list, edge{to, f.translated(&x.column, b.value, f.bases, members)})
		}
	}
	return list
}

// equal reports whether the edges out of an entity are exactly those in want.
func (x *edges) equal(e vast.Entity, want []edge) bool {
	if x.ends.CountTargets(e) != len(want) {
		return false
	}
	for _, one := range want {
		if x.differs(e, one.to, one.value) {
			return false
		}
	}
	return true
}

// revert gives an entity exactly the edges in want, and reports whether its edges differed.
func (x *edges) revert(e vast.Entity, want []edge) bool {
	if x.equal(e, want) {
		return false
	}
	if err := engine.GrowEdges(x.of, len(want)); err != nil {
		panic(err)
	}
	stays := make(map[vast.Entity]bool, len(want))
	for _, one := range want {
		stays[one.to] = true
	}
	for _, old := range x.list(e) {
		if !stays[old.to] {
			engine.RemoveEdge(x.of, e, old.to)
		}
	}
	for _, one := range want {
		if x.differs(e, one.to, one.value) {
			engine.AddEdge(x.of, e, one.to, one.value)
		}
	}
	return true
}
