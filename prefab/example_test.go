package prefab_test

import (
	"fmt"
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/prefab"
)

type Hull struct{ Points, Armour int }

type Gun struct{ Range int }

// A change of the template reaches all ships, except where a ship or a variant differs from its template.
func Example() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	p := prefab.New(w)
	hull, gun := vast.NewColumn[Hull](w), vast.NewColumn[Gun](w)
	partOf := vast.NewRelation(w, "partOf", vast.RelationOptions{OnDelete: vast.Cascade})

	body, cannon := w.Archetype(hull).New(), w.Archetype(gun).New()
	hull.Set(body, Hull{Points: 100, Armour: 5})
	gun.Set(cannon, Gun{Range: 30})
	partOf.Set(cannon, body)

	ship := p.Mark(body) // queries skip body and cannon from now on
	heavy := ship.Override("Hull.Points", 500)
	a, b := ship.Instantiate(), heavy.Instantiate()
	hull.Get(a).Armour = 1 // an override
	ship.InstantiateN(1000, func(r vast.Run) {
		for i := range hull.Slice(r) {
			hull.Slice(r)[i].Points += i % 2
		}
	})

	hull.Set(body, Hull{Points: 120, Armour: 8})
	gun.Set(cannon, Gun{Range: 40})
	n, err := ship.Apply()
	if err != nil {
		panic(err)
	}
	fmt.Println(n, "changes")
	fmt.Println(*hull.Get(a), slices.Collect(p.Differs(a)))
	fmt.Println(*hull.Get(b))
	p.Revert(a, "Hull.Armour")
	fmt.Println(*hull.Get(a))
	// Output:
	// 2506 changes
	// {120 1} [Hull.Armour]
	// {500 8}
	// {120 8}
}
