package vast_test

import (
	"fmt"

	"github.com/vastgo/vast"
)

type Position struct{ X, Y float64 }
type Velocity struct{ X, Y float64 }

func ExampleColumn() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos := vast.NewColumn[Position](w)
	hull := vast.NewColumnWith[int32](w, vast.ColumnOptions{Name: "hull"})
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

func ExampleArchetype_NewN() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos := vast.NewColumn[Position](w)
	ships := w.Archetype(pos)
	ships.NewN(1000, func(run vast.Run) {
		for i := range pos.Slice(run) {
			pos.Slice(run)[i].X = float64(run.Start() + i)
		}
	})
	sum := 0.0
	for e := range w.Query(pos).All() {
		sum += pos.Get(e).X
	}
	fmt.Println(ships.Len(), sum)
	// Output: 1000 499500
}

func ExampleQuery_Without() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, docked := vast.NewColumn[Position](w), vast.NewColumn[struct{}](w)
	ships := w.Archetype(pos)
	for i := range 10 {
		e := ships.New()
		if i < 3 || i == 7 {
			docked.Add(e, struct{}{})
		}
	}
	atSea := w.Query(pos).Without(docked)
	for run := range atSea.Runs() {
		fmt.Println("slots", run.Start(), "to", run.Start()+run.Len()-1)
	}
	fmt.Println(w.DeleteAll(atSea), "deleted,", w.Len(), "left")
	// Output:
	// slots 3 to 6
	// slots 8 to 9
	// 6 deleted, 4 left
}
