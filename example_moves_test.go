package vast_test

import (
	"fmt"

	"github.com/vastgo/vast"
)

type Hull struct{ Points int }
type Target struct{ At vast.Entity }

// Pack closes the gaps of deleted entities, and updates references in components.
func ExampleArchetype_Pack() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	hull, target := vast.NewColumn[Hull](w), vast.NewColumn[Target](w)
	ships := w.Archetype(hull, target)
	var fleet []vast.Entity
	for i, s := range ships.NewEach(1000) {
		hull.At(s).Points = i
		fleet = append(fleet, s.Entity())
	}
	last := fleet[999]
	target.Get(fleet[0]).At = last
	w.DeleteAll(w.Query().Among(fleet[1:990]))
	fmt.Println(w.Stats().Archetypes[0].Runs, "runs")

	moves := ships.Pack(vast.MoveOptions{})
	fmt.Println(moves.Len(), "moved,", w.Stats().Archetypes[0].Runs, "run")
	fmt.Println(w.Alive(last), hull.Get(moves.Resolve(last)).Points)
	fmt.Println(target.Get(fleet[0]).At == moves.Resolve(last))
	// Output:
	// 2 runs
	// 10 moved, 1 run
	// false 999
	// true
}

// Regroup moves each entity to the archetype of the components that the entity has now.
func ExampleWorld_Regroup() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	hull, armed := vast.NewColumn[Hull](w), vast.NewTag(w, "armed")
	w.Archetype(hull).NewN(1000, nil)
	var some []vast.Entity
	for s := range w.Query(hull).Slots() {
		if s.Index()%10 == 0 {
			some = append(some, s.Entity())
		}
	}
	armed.AddAll(w.Query().Among(some))

	fighters := w.Query(hull, armed)
	runs := func() (n int) {
		for range fighters.Runs() {
			n++
		}
		return n
	}
	fmt.Println(fighters.Count(), "in", runs(), "runs")
	w.Regroup(fighters, vast.MoveOptions{})
	fmt.Println(fighters.Count(), "in", runs(), "run")
	// Output:
	// 100 in 100 runs
	// 100 in 1 run
}

// A callback of OnMove updates references outside the world.
func ExampleWorld_OnMove() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	hull := vast.NewColumn[Hull](w)
	ships := w.Archetype(hull)
	byNumber := map[int]vast.Entity{}
	for i, s := range ships.NewEach(4) {
		hull.At(s).Points = 10 * i
		byNumber[i] = s.Entity()
	}
	w.OnMove(func(old, now vast.Entity) {
		for i, e := range byNumber {
			if e == old {
				byNumber[i] = now
			}
		}
	})

	w.Delete(byNumber[0])
	ships.Pack(vast.MoveOptions{})
	fmt.Println(hull.Get(byNumber[3]).Points)
	// Output: 30
}
