package inspect

import (
	"fmt"

	"github.com/vastgo/vast"
)

// Plane returns the [View] of the entities that have a component which says where they are in a plane, such as that of a
// game:
//
//	type Position struct{ X, Y float32 }
//
//	view := inspect.Plane("field", inspect.Bounds{X1: 1000, Y1: 1000}, position,
//		func(p *Position) (x, y float64) { return float64(p.X), float64(p.Y) }, burning, frozen)
//	in, err := inspect.Serve(ctx, world, inspect.Options{Views: []inspect.View{view}})
//
// The first layer counts all of them; each of the further columns is a layer of those that have that component, too. Fields
// of what is returned may be changed, such as Title, Unit, Down or the layers' names and colours.
//
// It looks at all slots of the world, some thousand at a time. Of more than a million it looks at every second, fourth, … 64,
// which stand for as many. It panics when one of the columns was not made by a world, is an edge's, or there are more than
// seven.
func Plane[T any](id string, bounds Bounds, col vast.Column[T], at func(*T) (x, y float64), parts ...vast.AnyColumn) View {
	w := vast.Describe(col).World
	v := View{ID: id, Bounds: bounds, Layers: []Layer{{Name: col.Name()}}}
	var has []func(vast.Entity) bool
	for i, part := range parts {
		c, ok := part.(interface{ Has(vast.Entity) bool })
		if !ok {
			panic(fmt.Sprintf("inspect: Plane: column %s does not say who has it: use a Column, Tag, SparseColumn or HeapColumn",
				part.Name()))
		}
		has = append(has, c.Has)
		v.Layers = append(v.Layers, Layer{Name: part.Name(), Colour: partColours[i%len(partColours)], Part: true})
	}
	v.Paint = func(p *Picture) bool {
		slots := w.Slots()
		every := 1
		for slots/every > 1<<20 {
			every *= 2
		}
		p.Next = overSlots(w, p.Next, every, func(e vast.Entity) {
			c := col.Get(e)
			if c == nil {
				return
			}
			cell := p.Cell(at(c))
			if cell < 0 {
				return
			}
			p.Add(0, cell, uint32(every))
			for i, has := range has {
				if has(e) {
					p.Add(i+1, cell, uint32(every))
				}
			}
		})
		return p.Next >= slots
	}
	v.Pick = func(p *Picking) bool {
		p.Next = overSlots(w, p.Next, 1, func(e vast.Entity) {
			if c := col.Get(e); c != nil {
				if x, y := at(c); p.Takes(x, y, 0) {
					p.Add(Picked{Entity: e, X: x, Y: y})
				}
			}
		})
		return p.Next >= w.Slots()
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

// partColours are those of the layers of a plane after the first.
var partColours = []string{"red", "amber", "green", "violet"}

// overSlots calls f for the entities in every so many words of 64 slots, from a slot on, as many as are looked at in one
// call of a visitor, and returns the slot to go on with.
func overSlots(w *vast.World, from, every int, f func(vast.Entity)) (next int) {
	const words = 64 // 4,096 slots
	end := w.Slots()
	for range words {
		if from >= end {
			break
		}
		for slot := from; slot < from+64; slot++ {
			if e, ok := w.At(slot); ok {
				f(e)
			}
		}
		from += 64 * every
	}
	return from
}
