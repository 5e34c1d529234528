// Scene loads the scenes of a game one after the other into memory of a fixed size:
//
//	go run ./examples/scene
//
// The text "Memory Arena" (see docs/sources.md) describes a game that reserves a few megabytes at the start,
// and keeps its whole simulation there. The game inserts, gets, changes, removes and iterates over entities,
// flushes a scene, and stops when it exceeds the budget. This program does the same with package bulk, but
// goes on with the next scene when a scene exceeds the budget:
//
//   - The entities are in a bulk.Pool with Options.MaxBytes. The pool reserves addresses, commits the memory
//     that a scene needs, and never exceeds the budget. If a scene is too large for the budget, the method
//     load inserts no entity and returns an error that names the budget.
//   - References are handles. After a flush, handles to entities of the old scene are stale, although the new
//     scene uses the same memory.
//   - Temporary data of the loader is in an arena.Arena. One call frees all of the data.
//
// A scene is generated from its number, so the output is the same in every run.
package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"unsafe"

	"github.com/vastgo/vast/arena"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/vm"
)

// budget is the limit for the entities of a scene, in bytes.
const budget = 10_000_000

// Entity is a thing in a scene, such as a tree, a lamp or a villager.
type Entity struct {
	Kind     uint32
	Position [3]float32
	Health   float32
	Leader   bulk.Handle[Entity] // the entity that this entity follows, or zero
}

type game struct {
	out      io.Writer
	entities *bulk.Pool[Entity]
	loading  *arena.Arena
}

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scene:", err)
		os.Exit(1)
	}
}

func run(out io.Writer) (err error) {
	g := &game{out: out}
	if g.entities, err = bulk.NewPool[Entity](bulk.Options{Name: "scene", MaxBytes: budget}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.entities.Close()) }()
	if g.loading, err = arena.New(arena.Options{Name: "loading"}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.loading.Close()) }()

	hero, err := g.load("village", 1, 50_000)
	if err != nil {
		return err
	}
	g.entities.Get(hero).Health -= 30
	g.play()
	fmt.Fprintf(out, "  the hero has %.0f health, and %d follow\n", g.entities.Get(hero).Health,
		g.followers(hero))

	g.flush()
	fmt.Fprintln(out, "  the hero of the village is gone:", g.entities.Get(hero) == nil)

	if _, err = g.load("city", 2, 500_000); !errors.Is(err, vm.ErrLimit) {
		return fmt.Errorf("loading more than the budget: %v", err)
	}
	fmt.Fprintln(out, "  refused:", err)

	hero, err = g.load("forest", 3, 200_000)
	if err != nil {
		return err
	}
	g.play()
	fmt.Fprintf(out, "  the hero has %.0f health, and %d follow\n", g.entities.Get(hero).Health,
		g.followers(hero))
	return nil
}

// load makes a scene of n entities and returns the hero, the first entity. It keeps a temporary list of
// handles, because an entity may follow an earlier entity.
func (g *game) load(name string, number uint64, n int) (hero bulk.Handle[Entity], err error) {
	fmt.Fprintf(g.out, "%s: %d entities\n", name, n)
	// After Grow, no insertion in the loop fails.
	if err := g.entities.Grow(n); err != nil {
		return hero, err
	}
	random := rand.New(rand.NewPCG(number, 0))
	handles := arena.MakeSlice[bulk.Handle[Entity]](g.loading, 0, n)
	defer g.loading.Reset()
	for i := range n {
		e := Entity{Kind: random.Uint32N(20), Health: 100}
		for axis := range e.Position {
			e.Position[axis] = random.Float32() * 1000
		}
		if i > 0 && random.IntN(4) == 0 {
			e.Leader = handles[random.IntN(min(i, 10))]
		}
		h, _ := g.entities.Insert(e)
		handles = append(handles, h)
	}
	fmt.Fprintf(g.out, "  loaded into %d bytes of %d, with %s of handles while loading\n",
		n*int(unsafe.Sizeof(Entity{})), budget, vm.Bytes(g.loading.Used()))
	return handles[0], nil
}

func (g *game) play() {
	random := rand.New(rand.NewPCG(7, 0))
	died := 0
	for h, e := range g.entities.All() {
		if e.Kind == 19 && random.IntN(2) == 0 {
			g.entities.Remove(h)
			died++
			continue
		}
		e.Position[0]++
	}
	fmt.Fprintf(g.out, "  %d died, %d live\n", died, g.entities.Len())
}

// followers returns the number of entities that follow a leader, or 0 if the leader is dead.
func (g *game) followers(leader bulk.Handle[Entity]) (n int) {
	for _, e := range g.entities.All() {
		if e.Leader == leader && g.entities.Get(e.Leader) != nil {
			n++
		}
	}
	return n
}

func (g *game) flush() {
	ended := 0
	g.entities.Clear(func(bulk.Handle[Entity], *Entity) { ended++ })
	fmt.Fprintf(g.out, "  flushed %d, %d left\n", ended, g.entities.Len())
}
