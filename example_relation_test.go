package vast_test

import (
	"fmt"

	"github.com/vastgo/vast"
)

// InDepthOrder yields parents before their children, so one loop computes the position of each entity in the
// world from its position relative to its parent.
func ExampleRelation_InDepthOrder() {
	type Local struct{ X, Y float64 } // position relative to the parent
	type World struct{ X, Y float64 } // position in the world

	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	local, world := vast.NewColumn[Local](w), vast.NewColumn[World](w)
	childOf := vast.NewRelation(w, "ChildOf", vast.RelationOptions{OnDelete: vast.Cascade})
	things := w.Archetype(local, world)
	ship, turret, gun := things.New(), things.New(), things.New()
	childOf.Set(gun, turret)
	childOf.Set(turret, ship)
	*world.Get(ship) = World{X: 100, Y: 50}
	*local.Get(turret) = Local{X: 10}
	*local.Get(gun) = Local{Y: 2}

	for run := range childOf.InDepthOrder(w.Query(local, world)) {
		l, to := local.Slice(run), world.Slice(run)
		for i, parent := range childOf.Targets(run) {
			from := world.At(parent)
			to[i] = World{X: from.X + l[i].X, Y: from.Y + l[i].Y}
		}
	}
	fmt.Println(*world.Get(gun), "at depth", childOf.Depth(gun))
	w.Delete(ship)
	fmt.Println(w.Len(), "left")
	// Output:
	// {110 52} at depth 2
	// 0 left
}

func ExampleQuery_To() {
	type Position struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos := vast.NewColumn[Position](w)
	dockedAt := vast.NewRelation(w, "DockedAt", vast.RelationOptions{OnDelete: vast.Refuse})
	station := w.Archetype().New()
	var made []vast.Run
	w.Archetype(pos).NewN(100, func(run vast.Run) { made = append(made, run) })
	for _, run := range made {
		dockedAt.SetRun(run, station)
	}
	q := w.Query(pos).To(dockedAt, station)
	fmt.Println(q.Count(), "docked; station deleted:", w.Delete(station))
	w.DeleteAll(q)
	fmt.Println(q.Count(), "docked; station deleted:", w.Delete(station))
	// Output:
	// 100 docked; station deleted: false
	// 0 docked; station deleted: true
}

func ExampleEdges() {
	type road struct{ Kilometres float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	roads := vast.NewEdges[road](w, "Road", vast.EdgesOptions{})
	towns := w.Archetype()
	bergen, oslo, voss := towns.New(), towns.New(), towns.New()
	roads.Add(bergen, voss, road{107})
	roads.Add(bergen, oslo, road{463})
	roads.Add(voss, oslo, road{356})
	for to, r := range roads.Targets(bergen) {
		fmt.Println("to", to.Slot(), r.Kilometres)
	}
	w.Delete(voss)
	fmt.Println(roads.Len(), "road,", roads.CountSources(oslo), "to Oslo")
	// Output:
	// to 2 107
	// to 1 463
	// 1 road, 1 to Oslo
}

// A relation forms a hierarchy. With Cascade, deleting an entity deletes all its descendants.
func ExampleRelation() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	names := w.Names()
	childOf := vast.NewRelation(w, "ChildOf", vast.RelationOptions{OnDelete: vast.Cascade})
	things := w.Archetype()
	made := map[string]vast.Entity{}
	for _, link := range [][2]string{{"ship", ""}, {"mast", "ship"}, {"sail", "mast"}, {"rudder", "ship"}} {
		e := things.New()
		made[link[0]] = e
		if _, err := names.Set(e, link[0]); err != nil {
			fmt.Println(err)
		}
		childOf.Set(e, made[link[1]]) // returns false for the ship, which has no parent
	}
	for e := range childOf.Descendants(made["ship"]) {
		name, _ := names.Of(e)
		fmt.Println(childOf.Depth(e), name)
	}
	fmt.Println(childOf.Root(made["sail"]) == made["ship"])
	w.Delete(made["mast"])
	fmt.Println(w.Alive(made["sail"]), w.Len())
	// Output:
	// 1 mast
	// 2 sail
	// 1 rudder
	// true
	// false 2
}
