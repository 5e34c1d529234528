package vast_test

import (
	"fmt"

	"github.com/vastgo/vast"
)

// NewN makes many entities at once. The function writes their components as slices.
func ExampleArchetype_NewN() {
	type Position struct{ X, Y float64 }
	type Velocity struct{ X, Y float64 }

	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, vel := vast.NewColumn[Position](w), vast.NewColumn[Velocity](w)
	ships := w.Archetype(pos, vel)
	ships.NewN(10_000, func(run vast.Run) {
		p, v := pos.Slice(run), vel.Slice(run) // zero so far
		for i := range p {
			p[i] = Position{X: float64(run.Start() + i)}
			v[i] = Velocity{Y: 1}
		}
	})
	fmt.Println(w.Len(), ships.Len())
	// Output: 10000 10000
}

// New makes a single entity. Its components are zero until they are set.
func ExampleArchetype_New() {
	type Position struct{ X, Y float64 }

	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos := vast.NewColumn[Position](w)
	docked := vast.NewTag(w, "Docked")
	ships := w.Archetype(pos)

	ship := ships.New()
	pos.Set(ship, Position{3, 4})
	docked.Add(ship) // a component that the archetype lacks; nothing moves in memory
	fmt.Println(*pos.Get(ship), docked.Has(ship), w.Alive(ship))

	w.Delete(ship)
	fmt.Println(pos.Get(ship) == nil, docked.Has(ship), w.Alive(ship)) // a stale entity is not an error
	// Output:
	// {3 4} true true
	// true false false
}

// DeleteAll deletes all entities that a query matches.
func ExampleWorld_DeleteAll() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	health := vast.NewColumn[int32](w)
	dead := vast.NewTag(w, "Dead")
	w.Archetype(health).NewN(1000, func(run vast.Run) {
		for i := range run.Len() {
			health.Slice(run)[i] = int32(i % 10)
		}
	})
	var fallen []vast.Entity
	for e := range w.Query(health).All() {
		if *health.Get(e) == 0 {
			fallen = append(fallen, e)
		}
	}
	dead.AddAll(w.Query().Among(fallen)) // Among limits a query to a list
	fmt.Println(w.DeleteAll(w.Query(dead)), "deleted,", w.Len(), "left")
	// Output: 100 deleted, 900 left
}

// Has, Get, Set and Remove report whether the entity has the component. Add gives the component to an entity
// without it.
func ExampleColumn() {
	type Position struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos := vast.NewColumn[Position](w)
	hull := vast.NewColumn[int32](w).Named("hull")
	e := w.Archetype(pos).New()

	fmt.Println(hull.Has(e), hull.Get(e), hull.Set(e, 5))
	p := hull.Add(e, 100)
	*p -= 30
	fmt.Println(hull.Has(e), *hull.Get(e), hull.Len())
	fmt.Println(hull.Remove(e), hull.Remove(e), hull.Has(e))
	// Output:
	// false <nil> false
	// true 70 1
	// true false false
}
