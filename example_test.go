package vast_test

import (
	"fmt"

	"github.com/vastgo/vast"
)

// NewN makes many entities in one call. Its callback gets runs of new entities and sets their components.
func ExampleArchetype_NewN() {
	type Position struct{ X, Y float64 }
	type Velocity struct{ X, Y float64 }

	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, vel := vast.NewColumn[Position](w), vast.NewColumn[Velocity](w)
	ships := w.Archetype(pos, vel)
	ships.NewN(10_000, func(run vast.Run) {
		p, v := pos.Slice(run), vel.Slice(run) // all elements are zero
		for i := range p {
			p[i] = Position{X: float64(run.Start() + i)}
			v[i] = Velocity{Y: 1}
		}
	})
	fmt.Println(w.Len(), ships.Len())
	// Output: 10000 10000
}

// New makes an entity whose components are zero.
func ExampleArchetype_New() {
	type Position struct{ X, Y float64 }

	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos := vast.NewColumn[Position](w)
	docked := vast.NewTag(w, "Docked")
	ships := w.Archetype(pos)

	ship := ships.New()
	pos.Set(ship, Position{3, 4})
	docked.Add(ship) // adds a component that the archetype lacks; no component moves in memory
	fmt.Println(*pos.Get(ship), docked.Has(ship), w.Alive(ship))

	w.Delete(ship)
	fmt.Println(pos.Get(ship) == nil, docked.Has(ship), w.Alive(ship)) // methods accept a stale entity
	// Output:
	// {3 4} true true
	// true false false
}

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
	dead.AddAll(w.Query().Among(fallen)) // Among limits a query to a list of entities
	fmt.Println(w.DeleteAll(w.Query(dead)), "deleted,", w.Len(), "left")
	// Output: 100 deleted, 900 left
}

// Set changes the component of an entity that has the component. Add also adds a missing component.
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
