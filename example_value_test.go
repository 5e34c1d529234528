package vast_test

import (
	"fmt"

	"github.com/vastgo/vast"
)

// A tool that knows no types doubles every number of an entity.
func ExampleSetValue() {
	type Position struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	pos, docked := vast.NewColumn[Position](w), vast.NewTag(w, "Docked")
	e := w.Archetype(pos, docked).New()
	*pos.Get(e) = Position{1, 2.5}

	for _, col := range w.ComponentsOf(e) {
		v, _ := vast.Value(col, e)
		for i := range v.NumField() {
			if f := v.Field(i); f.CanFloat() {
				f.SetFloat(2 * f.Float())
			}
		}
		vast.SetValue(col, e, v)
	}
	fmt.Println(w.Sprint(e))
	// Output: 0.1 {Position{X:2 Y:5} Docked}
}

// Edges are read without their type.
func ExampleEdgesOf() {
	type Road struct{ Kilometres int }
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	roads := vast.NewEdges[Road](w, "Road", vast.EdgesOptions{})
	paris, lyon := w.Archetype().New(), w.Archetype().New()
	roads.Add(paris, lyon, Road{465})

	for _, col := range w.Columns() {
		if edges, ok := vast.EdgesOf(col); ok {
			for to, v := range edges.Out(paris) {
				fmt.Println(edges.Name(), "to", to, v)
			}
		}
	}
	// Output: Road to 1.1 {465}
}
