package probe_test

import (
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// A tool lists the columns of a world, and the fields of their elements, without knowing a type.
func Example() {
	type Position struct{ X, Y float32 }
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 10})
	defer w.Close()
	pos, docked := vast.NewColumn[Position](w), vast.NewTag(w, "Docked")
	w.Archetype(pos).NewN(3, nil)
	w.Archetype(pos, docked).New()

	for _, col := range probe.Columns(w) {
		info := probe.Describe(col)
		fmt.Println(info.Name, info.Storage, probe.StatsOf(col).Entities)
		for _, field := range info.Layout.Parts {
			fmt.Println("  byte", field.Offset, field.Name, field.Type)
		}
	}
	for x := range probe.Extents(w, 0) {
		fmt.Printf("archetype %d: %d in slots from %d on\n", probe.NumberOf(x.Archetype), x.Entities, x.First)
	}
	// Output:
	// Position dense 4
	//   byte 0 X float32
	//   byte 4 Y float32
	// Docked tag 1
	// archetype 0: 3 in slots from 0 on
	// archetype 1: 1 in slots from 64 on
}

// A tool finds the bytes of a slot, and the slots of given bytes.
func ExampleAreas() {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 10})
	defer w.Close()
	mass := vast.NewColumn[float64](w).Named("Mass")
	w.Archetype(mass).NewN(100, nil)

	for _, a := range probe.Areas(w) {
		if a.Kind == probe.AreaElements {
			off, n := a.Place(7)
			first, end := a.Slots(off, 2*n)
			fmt.Println(a.Column.Name(), "of slot 7 takes", n, "bytes")
			fmt.Println("the next", n, "bytes belong to slots", first+1, "to", end-1)
		}
	}
	// Output:
	// Mass of slot 7 takes 8 bytes
	// the next 8 bytes belong to slots 8 to 8
}

// A tool doubles the floating-point numbers of an entity without knowing a type.
func ExampleSetValue() {
	type Position struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	pos, docked := vast.NewColumn[Position](w), vast.NewTag(w, "Docked")
	e := w.Archetype(pos, docked).New()
	*pos.Get(e) = Position{1, 2.5}

	for _, col := range probe.ComponentsOf(w, e) {
		v, _ := probe.Value(col, e)
		for i := range v.NumField() {
			if f := v.Field(i); f.CanFloat() {
				f.SetFloat(2 * f.Float())
			}
		}
		probe.SetValue(col, e, v)
	}
	fmt.Println(w.Sprint(e))
	// Output: 0.1 {Position{X:2 Y:5} Docked}
}

// A tool reads edges without knowing the type of their values.
func ExampleEdgesOf() {
	type Road struct{ Kilometres int }
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	roads := vast.NewEdges[Road](w, "Road", vast.EdgesOptions{})
	paris, lyon := w.Archetype().New(), w.Archetype().New()
	roads.Add(paris, lyon, Road{465})

	for _, col := range probe.Columns(w) {
		if edges, ok := probe.EdgesOf(col); ok {
			for to, v := range edges.Targets(paris) {
				fmt.Println(edges.Name(), "to", to, v)
			}
		}
	}
	// Output: Road to 1.1 {465}
}

// A tool also finds the entities that a vast.Disabled switches off.
func ExampleAll() {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 10})
	defer w.Close()
	asleep := vast.NewDisabled(w, "Asleep")
	w.Archetype().NewN(3, nil)
	asleep.Disable(w.Archetype().New())

	fmt.Println(w.Query().Count(), probe.All(w.Query()).Count(), probe.Describe(asleep).Disabled)
	// Output:
	// 3 4 true
}
