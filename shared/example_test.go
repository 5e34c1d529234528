package shared_test

import (
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/shared"
)

type Material struct {
	Density  uint16
	Strength float32
}

type Position struct{ X, Y float64 }

func Example() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	materials, position := shared.New[Material](w), vast.NewColumn[Position](w)

	steel, wood := Material{Density: 7850, Strength: 8}, Material{Density: 600, Strength: 2}
	parts := w.Archetype(materials, position)
	parts.NewN(1000, func(run vast.Run) { materials.SetRun(run, steel) })
	parts.NewN(500, func(run vast.Run) { materials.SetRun(run, wood) })

	for m, n := range materials.Values() {
		fmt.Println(m.Density, n)
	}

	// All parts of wood become stronger, with one write.
	strong := wood
	strong.Strength = 3
	materials.Replace(wood, strong)
	part, _ := materials.Where(w.Query(), strong).First()
	m, _ := materials.Get(part)
	fmt.Println(m.Strength)
	// Output:
	// 7850 1000
	// 600 500
	// 3
}

func ExampleColumn_Where() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	type Team struct{ Number int32 }
	teams := shared.New[Team](w)
	for i := range 10 {
		teams.Add(w.Archetype().New(), Team{int32(i % 3)})
	}

	first := teams.Where(w.Query(), Team{1})
	fmt.Println(first.Count())
	w.DeleteAll(first)
	fmt.Println(first.Count(), w.Len())
	// Output:
	// 3
	// 0 7
}

func ExampleColumn_GroupBy() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	type Color struct{ RGB uint32 }
	colors := shared.New[Color](w)
	palette := []Color{{0xff0000}, {0x00ff00}}
	for i, s := range w.Archetype(colors).NewEach(6) {
		colors.SetAt(s, palette[i/2%2])
	}

	var bound Color
	for color, run := range colors.GroupBy(w.Query()) {
		if color != bound {
			bound = color
			fmt.Printf("use color %06x\n", color.RGB)
		}
		fmt.Printf("draw %d from slot %d\n", run.Len(), run.Start())
	}
	// Output:
	// use color ff0000
	// draw 2 from slot 0
	// draw 2 from slot 4
	// use color 00ff00
	// draw 2 from slot 2
}

func ExampleGroupByTarget() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	livesIn := vast.NewRelation(w, "LivesIn", vast.RelationOptions{})
	paris, rome := w.Archetype().New(), w.Archetype().New()
	for i := range 5 {
		livesIn.Set(w.Archetype().New(), []vast.Entity{paris, rome}[i/3])
	}

	people := map[vast.Entity]int{}
	for city, run := range shared.GroupByTarget(w.Query(), livesIn) {
		people[city] += run.Len()
	}
	fmt.Println(people[paris], people[rome])
	// Output: 3 2
}
