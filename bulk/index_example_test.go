package bulk_test

import (
	"fmt"
	"log"

	"github.com/vastgo/vast/bulk"
)

func ExampleIndexed() {
	type soldier struct {
		Team  uint32
		Speed float32
	}
	soldiers, err := bulk.NewPool[soldier](bulk.Options{Capacity: 1_000_000})
	if err != nil {
		log.Fatal(err)
	}
	defer soldiers.Close()
	byTeam, err := bulk.NewHashIndex[uint32, bulk.Handle[soldier]](bulk.Options{Capacity: 1_000_000})
	if err != nil {
		log.Fatal(err)
	}
	defer byTeam.Close()
	bySpeed, err := bulk.NewOrderedIndex[float32, bulk.Handle[soldier]](bulk.Options{Capacity: 1_000_000})
	if err != nil {
		log.Fatal(err)
	}
	defer bySpeed.Close()

	// Changes through x change the pool and both indices.
	x := bulk.NewIndexed(soldiers)
	if err := bulk.Attach(x, byTeam, func(s *soldier) uint32 { return s.Team }); err != nil {
		log.Fatal(err)
	}
	if err := bulk.Attach(x, bySpeed, func(s *soldier) float32 { return s.Speed }); err != nil {
		log.Fatal(err)
	}
	first, _ := x.Insert(soldier{Team: 1, Speed: 4})
	x.Insert(soldier{Team: 2, Speed: 5})
	x.Insert(soldier{Team: 1, Speed: 9})
	fmt.Println("team 1 has", byTeam.Count(1))

	x.Update(first, func(s *soldier) { s.Team, s.Speed = 2, 7 })
	fmt.Println("team 2 has", byTeam.Count(2))
	for speed, h := range bySpeed.Range(5, 9) {
		fmt.Println("speed", speed, "in team", soldiers.Get(h).Team)
	}
	// Output:
	// team 1 has 2
	// team 2 has 2
	// speed 5 in team 2
	// speed 7 in team 2
}

func ExampleHashIndex() {
	// The index finds the slot numbers of places by their post code.
	places, err := bulk.NewHashIndex[[8]byte, uint32](bulk.Options{Capacity: 100_000})
	if err != nil {
		log.Fatal(err)
	}
	defer places.Close()
	code := func(s string) (k [8]byte) { copy(k[:], s); return k }
	places.Add(code("SW1A 1AA"), 7)
	places.Add(code("SW1A 1AA"), 8)
	fmt.Println("added again:", places.Add(code("SW1A 1AA"), 8))

	sum := uint32(0)
	for slot := range places.Values(code("SW1A 1AA")) {
		sum += slot
	}
	fmt.Println("both values were found:", sum == 15)
	_, found := places.First(code("nowhere"))
	fmt.Println("found:", found)
	// Output:
	// added again: false
	// both values were found: true
	// found: false
}
