// Command oneworld makes one world.
package main

import "github.com/vastgo/vast"

type game struct {
	w     *vast.World
	ships *vast.Archetype
	alive vast.Query
}

func newGame() *game {
	g := &game{w: vast.NewWorld(vast.Options{})}
	g.ships, g.alive = g.w.Archetype(), g.w.Query()
	return g
}

func main() {
	g := newGame()
	wrong(g.alive, g.ships, g.w)
	right(g.alive, g.ships)
}

func wrong(q vast.Query, ships *vast.Archetype, w *vast.World) {
	for range q.All() {
		ships.New() // want `New changes the structure`
	}
	for range q.Runs() {
		ships.NewN(3, func(vast.Run) {}) // want `NewN changes the structure`
		w.DeleteAll(q)                   // want `DeleteAll changes the structure`
	}
}

func right(q vast.Query, ships *vast.Archetype) {
	for range q.All() {
		ships.New()
		break
	}
}
