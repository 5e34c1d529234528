package soak

import (
	"math/rand/v2"

	"github.com/vastgo/vast"
)

// minRegrouped is the smallest maxPeople of a town in which gather calls Regroup. Regroup may make an
// archetype for each set of components, and a smaller world has too few slots for these archetypes.
const minRegrouped = 1 << 12

// gather compacts the people with Regroup or Pack, sometimes with a bound on the number of moves.
func (n *town) gather(r *rand.Rand) {
	o := vast.MoveOptions{Most: r.IntN(2) * (1 + r.IntN(100))}
	calls := 0
	n.moved = func(old, now vast.Entity) {
		must(n.people[old] != nil && !n.world.Alive(old) && n.world.Alive(now),
			"OnMove reports a wrong move of %v to %v", old, now)
		calls++
	}
	var moves vast.Moves
	if n.maxPeople >= minRegrouped && r.IntN(8) == 0 {
		moves = n.world.Regroup(n.world.Query(n.ill), o)
	} else {
		moves = n.births[r.IntN(len(n.births))].Pack(o)
	}
	must(moves.Len() == calls, "%d people moved, but the world called OnMove %d times", moves.Len(), calls)
	n.rename(moves)
}

// rename updates the references to moved people in the model.
func (n *town) rename(moves vast.Moves) {
	if moves.Len() == 0 {
		return
	}
	people := make(map[vast.Entity]*person, len(n.people))
	for e, p := range n.people {
		people[moves.Resolve(e)] = p
		p.boss = moves.Resolve(p.boss)
		p.staff, p.sources = renamed(p.staff, moves), renamed(p.sources, moves)
		p.roads = renamed(p.roads, moves)
	}
	n.people = people
	for i, e := range n.list {
		n.list[i] = moves.Resolve(e)
	}
	for old := range moves.All() {
		if len(n.gone) < 256 {
			n.gone = append(n.gone, old)
		}
	}
}

// renamed returns a copy of people with the new references of moved people as keys.
func renamed[V any](people map[vast.Entity]V, moves vast.Moves) map[vast.Entity]V {
	m := make(map[vast.Entity]V, len(people))
	for e, v := range people {
		m[moves.Resolve(e)] = v
	}
	return m
}
