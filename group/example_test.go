package group_test

import (
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/group"
	"github.com/vastgo/vast/shared"
)

func Example() {
	type Position struct{ X, Y float64 }
	type Team struct{ Name [8]byte }
	red, blue := Team{[8]byte{'r', 'e', 'd'}}, Team{[8]byte{'b', 'l', 'u', 'e'}}

	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	positions, teams := vast.NewColumn[Position](w), shared.New[Team](w)
	players := w.Archetype(positions, teams)
	for i, s := range players.NewEach(6) {
		positions.At(s).X = float64(i)
		teams.SetAt(s, []Team{red, blue}[i%2])
	}

	reds := group.New(teams.Where(w.Query(positions), red))
	fmt.Println("red:", reds.Query().Count())

	first, _ := reds.Query().First()
	teams.Set(first, blue)
	sum := 0.0
	for s := range reds.Query().Slots() { // tests only the 64 slots among which a team changed
		sum += positions.At(s).X
	}
	fmt.Println("red:", reds.Query().Count(), "sum of X:", sum)
	// Output:
	// red: 3
	// red: 2 sum of X: 6
}
