package vast_test

import (
	"fmt"

	"github.com/vastgo/vast"
)

// A Disabled switches entities off for all queries that do not name the Disabled. Loops may disable and
// enable entities.
func ExampleNewDisabled() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	fuel := vast.NewColumn[int](w)
	docked := vast.NewDisabled(w, "Docked")
	w.Archetype(fuel).NewN(5, func(run vast.Run) {
		for i := range run.Len() {
			fuel.Slice(run)[i] = i
		}
	})

	flying := w.Query(fuel)
	for ship := range flying.Slots() {
		if *fuel.At(ship) < 2 {
			docked.DisableAt(ship)
		}
	}
	fmt.Println(flying.Count(), "fly,", w.Query(docked).Count(), "are docked")
	fmt.Println(flying.Optional(docked).Count(), "are flying or docked")
	for ships := range w.Query(docked).Runs() {
		docked.EnableRun(ships)
	}
	fmt.Println(flying.Count(), "fly")
	// Output:
	// 3 fly, 2 are docked
	// 5 are flying or docked
	// 5 fly
}

// A Disabled with columns switches components of these columns off. The components keep their values.
func ExampleNewDisabled_components() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, engine := vast.NewColumn[float64](w), vast.NewColumn[int32](w)
	broken := vast.NewDisabled(w, "Broken", engine)
	ship := w.Archetype(pos, engine).New()
	engine.Set(ship, 7)

	broken.Disable(ship)
	fmt.Println(w.Query(pos).Count(), w.Query(pos, engine).Count(), *engine.Get(ship))
	for ships := range w.Query(broken).Optional(engine).Runs() {
		fmt.Println("to repair:", engine.TrySlice(ships))
	}
	broken.Enable(ship)
	fmt.Println(w.Query(pos, engine).Count())
	// Output:
	// 1 0 7
	// to repair: [7]
	// 1
}
