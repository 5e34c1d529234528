package vast_test

import (
	"fmt"

	"github.com/vastgo/vast"
)

// A query with two conditions that follow links: the ships that are docked at a port of a rich owner.
func ExampleQuery_Where() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	ship, port, rich := vast.NewTag(w, "Ship"), vast.NewTag(w, "Port"), vast.NewTag(w, "Rich")
	dockedAt := vast.NewRelation(w, "DockedAt", vast.RelationOptions{})
	ownedBy := vast.NewRelation(w, "OwnedBy", vast.RelationOptions{})
	doge := w.Archetype(rich).New()
	genoa, ostia := w.Archetype(port).New(), w.Archetype(port).New()
	ownedBy.Set(genoa, doge)
	ships := w.Archetype(ship)
	for i := range 5 {
		dockedAt.Set(ships.New(), []vast.Entity{genoa, ostia}[i%2])
	}

	q := w.Query(ship).Where(dockedAt, w.Query(port).Where(ownedBy, w.Query(rich)))
	fmt.Println(q.Count(), "ships")
	fmt.Print(q.Plan())
	// Output:
	// 3 ships
	// presence bits; Ship, DockedAt; entities: 5, words: 1
	// where DockedAt: 1 of 2 targets match; test each entity, because marking pays for up to 0 sources
	//     presence bits; Port, OwnedBy, DockedAt targets; entities: 1, words: 1
	//     where OwnedBy: 1 of 1 targets match, so all entities do: no further step
	//         presence bits; Rich, OwnedBy targets; entities: 1, words: 1
}

// Entities inherit the colour of the nearest ancestor that has one.
func ExampleRelation_Nearest() {
	type Colour string
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	shape, colour := vast.NewTag(w, "Shape"), vast.NewHeapColumn[Colour](w)
	partOf := vast.NewRelation(w, "PartOf", vast.RelationOptions{})
	car, door, handle := w.Archetype(shape).New(), w.Archetype(shape).New(), w.Archetype(shape).New()
	partOf.Set(door, car)
	partOf.Set(handle, door)
	colour.Add(car, "red")

	coloured := w.Query(colour)
	for s := range w.Query(shape).Up(partOf, colour).Slots() {
		from, _ := partOf.Nearest(s, coloured)
		fmt.Println("slot", s.Index(), "is", *colour.At(from))
	}
	// Output:
	// slot 1 is red
	// slot 2 is red
}

// Pairs yields both ends of each link as slots, so a loop reads the components of both without look-ups.
func ExampleRelation_Pairs() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	charge, output := vast.NewColumn[int](w), vast.NewColumn[float64](w)
	poweredBy := vast.NewRelation(w, "PoweredBy", vast.RelationOptions{})
	reactor, lamp := w.Archetype(output).New(), w.Archetype(charge).New()
	*output.Get(reactor) = 25
	poweredBy.Set(lamp, reactor)

	for s, t := range poweredBy.Pairs(w.Query(charge).Where(poweredBy, w.Query(output))) {
		*charge.At(s) += int(*output.At(t))
	}
	fmt.Println(*charge.Get(lamp))
	// Output: 25
}
