package inspect

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// Plane returns a [View] of the entities that have a component with a position in a plane, such as in a game:
//
//	type Position struct{ X, Y float32 }
//
//	view := inspect.Plane("field", inspect.Bounds{X1: 1000, Y1: 1000}, position,
//		func(p *Position) (x, y float64) { return float64(p.X), float64(p.Y) }, burning, frozen)
//	in, err := inspect.Serve(ctx, world, inspect.Options{Views: []inspect.View{view}})
//
// The first layer counts all entities with a position. Each column of parts adds a layer. This layer counts
// the entities that have a position and the column's component. The caller may change the fields of the
// result, such as Title, Unit, Down, or the names and colours of the layers.
//
// A picture takes about 10 nanoseconds for each entity and layer. Plane panics if col belongs to no world. It
// also panics if a column of parts is col or does not belong to the world of col. [Serve] panics if parts has
// more than seven columns.
func Plane[T any](id string, bounds Bounds, col vast.Column[T], at func(*T) (x, y float64),
	parts ...vast.AnyColumn) View {
	w := probe.Describe(col).World
	v := View{ID: id, Bounds: bounds, Layers: []Layer{{Name: col.Name()}}}
	queries := []vast.Query{probe.All(w.Query(col))}
	for i, part := range parts {
		queries = append(queries, probe.All(w.Query(col, part)))
		v.Layers = append(v.Layers, Layer{Name: part.Name(), Colour: partColours[i%len(partColours)],
			Part: true})
	}
	v.Paint = func(p *Picture) bool {
		next := p.Next + slotsPerCall/len(queries)
		for layer, q := range queries {
			for run := range q.Between(p.Next, next).Runs() {
				positions := col.Slice(run)
				for i := range positions {
					p.Add(layer, p.Cell(at(&positions[i])), 1)
				}
			}
		}
		p.Next = next
		return next >= w.Slots()
	}
	v.Pick = func(p *Picking) bool {
		next := p.Next + slotsPerCall
		for run := range queries[0].Between(p.Next, next).Runs() {
			positions := col.Slice(run)
			for i := range positions {
				if x, y := at(&positions[i]); p.Takes(x, y, 0) {
					p.Add(Picked{Entity: run.Entity(i), X: x, Y: y})
				}
			}
		}
		p.Next = next
		return next >= w.Slots()
	}
	v.Where = func(e vast.Entity) (x, y float64, ok bool) {
		if c := col.Get(e); c != nil {
			x, y = at(c)
			return x, y, true
		}
		return 0, 0, false
	}
	return v
}

const slotsPerCall = 1 << 14 // limit of the slots that one call of Paint or Pick reads

// partColours are the colours of the layers after the first.
var partColours = []string{"red", "amber", "green", "violet"}
