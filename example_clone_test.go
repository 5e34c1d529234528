package vast_test

import (
	"fmt"

	"github.com/vastgo/vast"
)

type Engine struct {
	Power int
	Self  vast.Entity
}

// Clone copies the components and the links of an entity. If a component refers to its own entity, the
// component of the copy refers to the copy.
func ExampleWorld_Clone() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	engine, damaged := vast.NewColumn[Engine](w), vast.NewTag(w, "damaged")
	partOf := vast.NewRelation(w, "partOf", vast.RelationOptions{})
	ship := w.Archetype().New()
	left := w.Archetype(engine, damaged).New()
	*engine.Get(left) = Engine{Power: 300, Self: left}
	partOf.Set(left, ship)

	right := w.Clone(left)
	damaged.Remove(right)
	fmt.Println(engine.Get(right).Power, engine.Get(right).Self == right)
	fmt.Println(partOf.CountSources(ship), "parts,", damaged.Len(), "of them damaged")
	// Output:
	// 300 true
	// 2 parts, 1 of them damaged
}

// CloneN makes many copies, and passes runs of copies to a function that changes their values.
func ExampleWorld_CloneN() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	hull, engine := vast.NewColumn[Hull](w), vast.NewColumn[Engine](w)
	pattern := w.Archetype(hull, engine).New()
	hull.Set(pattern, Hull{Points: 80})

	number := 0
	w.CloneN(pattern, 1000, func(run vast.Run) {
		engines := engine.Slice(run)
		for i := range engines {
			number++
			engines[i].Power = number
		}
	})
	points, power := 0, 0
	for s := range w.Query(hull, engine).Slots() {
		points += hull.At(s).Points
		power += engine.At(s).Power
	}
	fmt.Println(points, power)
	// Output: 80080 500500
}
