package clone_test

import (
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/clone"
)

type Wheel struct{ Turns int }

type Driver struct{ Of vast.Entity }

// A Cloner copies a car with its parts. A reference from a part to the car becomes a reference to the copy of
// the car.
func ExampleCloner_CloneN() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	wheel, driver := vast.NewColumn[Wheel](w), vast.NewColumn[Driver](w)
	partOf := vast.NewRelation(w, "partOf", vast.RelationOptions{OnDelete: vast.Cascade})
	car := w.Archetype().New()
	for range 4 {
		partOf.Set(w.Archetype(wheel).New(), car)
	}
	seat := w.Archetype(driver).New()
	driver.Set(seat, Driver{Of: car})
	partOf.Set(seat, car)

	cloner, err := clone.New(w, w, clone.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	cars, err := cloner.CloneN(car, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	last := cars.Len() - 1
	parts := partOf.CountSources(cars.Root(last))
	fmt.Println(w.Len(), "entities,", wheel.Len(), "wheels,", parts, "parts of a car")
	fmt.Println(driver.Get(cars.Of(seat, last)).Of == cars.Root(last))
	// Output:
	// 606 entities, 404 wheels, 5 parts of a car
	// true
}

// A Cloner can copy from a world of patterns into the world of a game.
func ExampleNew() {
	patterns, game := vast.NewWorld(vast.Options{Name: "patterns"}), vast.NewWorld(vast.Options{Name: "game"})
	defer patterns.Close()
	defer game.Close()
	wheels, gameWheels := vast.NewColumn[Wheel](patterns), vast.NewColumn[Wheel](game)
	pattern := patterns.Archetype(wheels).New()
	wheels.Set(pattern, Wheel{Turns: 7})

	cloner, err := clone.New(patterns, game, clone.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := cloner.Clone(pattern)
	fmt.Println(gameWheels.Get(e).Turns, err)
	// Output: 7 <nil>
}

// Merge moves the entities of a level into the world of a game.
func ExampleMerge() {
	level, game := vast.NewWorld(vast.Options{Name: "level"}), vast.NewWorld(vast.Options{Name: "game"})
	defer level.Close()
	defer game.Close()
	wheels, gameWheels := vast.NewColumn[Wheel](level), vast.NewColumn[Wheel](game)
	level.Archetype(wheels).NewN(1000, nil)
	first := level.Archetype(wheels).New()
	wheels.Set(first, Wheel{Turns: 1})

	moves, err := clone.Merge(level, game, clone.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(level.Len(), game.Len(), gameWheels.Get(moves.Resolve(first)).Turns)
	// Output: 0 1001 1
}
