package vast_test

import (
	"fmt"

	"github.com/vastgo/vast"
)

func ExampleTag() {
	type Position struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, docked := vast.NewColumn[Position](w), vast.NewTag(w, "Docked")
	ships := w.Archetype(pos)
	first, second := ships.New(), ships.New()
	docked.Add(first)
	fmt.Println(docked.Has(first), docked.Has(second), w.Query(pos).Without(docked).Count())
	// Output: true false 1
}

func ExampleHeapColumn() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	names := vast.NewHeapColumn[string](w)
	ship := w.Archetype().New()
	names.Add(ship, "Vasa")
	fmt.Println(*names.Get(ship))
	names.Remove(ship)
	fmt.Println(names.Get(ship))
	// Output:
	// Vasa
	// <nil>
}

func ExampleSparseColumn() {
	type Position struct{ X, Y float64 }
	type cargo struct{ Tonnes [100]float32 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, hold := vast.NewColumn[Position](w), vast.NewSparseColumn[cargo](w)
	ships := w.Archetype(pos)
	freighter := ships.New()
	ships.New()
	hold.Add(freighter, cargo{}).Tonnes[3] = 12
	for e := range w.Query(pos, hold).All() {
		fmt.Println(hold.Get(e).Tonnes[3])
	}
	// Output: 12
}

// All yields only the entities that have the component.
func ExampleSparseColumn_All() {
	type Sick struct{ Until int }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	sick := vast.NewSparseColumn[Sick](w)
	people := w.Archetype()
	people.NewN(1000, nil)
	patient := people.New()
	sick.Add(patient, Sick{Until: 30})
	sick.Add(people.New(), Sick{Until: 50})

	var recovered []vast.Entity
	for e, s := range sick.All() {
		if s.Until <= 40 {
			recovered = append(recovered, e)
		}
	}
	for _, e := range recovered { // after the loop over sick, because Remove changes the structure
		sick.Remove(e)
	}
	fmt.Println(sick.Len(), sick.Has(patient))
	// Output: 1 false
}

// Hooks keep a map from cells to entities up to date.
func ExampleColumn_OnAdd() {
	type Cell struct{ X, Y int32 }

	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	cells := vast.NewColumn[Cell](w)
	at := map[Cell]vast.Entity{}
	cells.OnAdd(func(e vast.Entity, c *Cell) { at[*c] = e })
	cells.OnRemove(func(e vast.Entity, c *Cell) { delete(at, *c) })

	house := w.Archetype().New()
	cells.Add(house, Cell{3, 4}) // the hook sees this value; a component from New would be zero
	fmt.Println(at[Cell{3, 4}] == house, len(at))
	w.Delete(house)
	fmt.Println(len(at))
	// Output:
	// true 1
	// 0
}

func ExampleColumn_OnRemove() {
	w := vast.NewWorld(vast.Options{})
	type connection struct{ Socket int32 }
	conns := vast.NewColumn[connection](w)
	conns.OnRemove(func(e vast.Entity, c *connection) { fmt.Println("closing", c.Socket) })
	client := w.Archetype(conns).New()
	conns.Set(client, connection{7})
	w.Delete(client)
	conns.Set(w.Archetype(conns).New(), connection{8})
	w.Close()
	// Output:
	// closing 7
	// closing 8
}

func ExampleResource() {
	type clock struct{ Tick int }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	vast.SetResource(w, clock{Tick: 1})
	vast.Resource[clock](w).Tick++
	fmt.Println(vast.Resource[clock](w).Tick)
	// Output: 2
}
