// Command twoworlds makes two worlds in the same place.
package main

import "github.com/vastgo/vast"

type game struct {
	ships *vast.Archetype
	alive vast.Query
}

func newGame() *game {
	w := vast.NewWorld(vast.Options{})
	return &game{ships: w.Archetype(), alive: w.Query()}
}

func main() {
	a, b := newGame(), newGame()
	right(a.alive, b.ships)
}

func right(q vast.Query, ships *vast.Archetype) {
	for range q.All() {
		ships.New()
	}
}
