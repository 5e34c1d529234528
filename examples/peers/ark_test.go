package peers_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

// Each animal has two relations: to its farm and to its species. All pigs gain weight. Then the program
// weighs the pigs of each farm.
//
// Original: Ark, examples/relations/main.go, 52 lines. Here: 40.
func Example_farms() {
	type Farm struct{ ID int }
	type Weight struct{ Kilograms float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	random := rand.New(rand.NewPCG(1, 2))
	farm, weight := vast.NewColumn[Farm](w), vast.NewColumn[Weight](w)
	inFarm := vast.NewRelation(w, "InFarm", vast.RelationOptions{})
	ofSpecies := vast.NewRelation(w, "OfSpecies", vast.RelationOptions{})
	cow, pig := w.Archetype().New(), w.Archetype().New()
	animals := func(n int, kilograms float64, species, place vast.Entity) {
		var born []vast.Run
		w.Archetype(weight).NewN(n, func(run vast.Run) { born = append(born, run) })
		for _, run := range born {
			inFarm.SetRun(run, place)
			ofSpecies.SetRun(run, species)
			for s := range run.Slots() {
				weight.At(s).Kilograms = kilograms
			}
		}
	}
	for i, s := range w.Archetype(farm).NewEach(4) {
		farm.At(s).ID = i
	}
	for _, e := range slices.Collect(w.Query(farm).All()) {
		animals(random.IntN(50), 500, cow, e)
		animals(random.IntN(200), 100, pig, e)
	}

	pigs := w.Query(weight).To(ofSpecies, pig)
	for s := range pigs.Slots() {
		weight.At(s).Kilograms += 10 * random.Float64()
	}
	for s := range w.Query(farm).Slots() {
		total := 0.0
		for animal := range pigs.To(inFarm, s.Entity()).Slots() {
			total += weight.At(animal).Kilograms
		}
		fmt.Printf("farm %d: %.0f kg\n", farm.At(s).ID, total)
	}
	// Output:
	// farm 0: 12963 kg
	// farm 1: 16702 kg
	// farm 2: 839 kg
	// farm 3: 9375 kg
}

// Several goroutines run one query.
//
// Original: Ark, examples/parallel_queries/main.go, 48 lines. Here: 32.
func Example_parallel() {
	type Position struct{ X, Y float64 }
	type Velocity struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{MaxEntities: 100_000})
	defer w.Close()
	s := sched.New(w, sched.Options{Workers: 4})
	defer s.Close()
	position, velocity := vast.NewColumn[Position](w), vast.NewColumn[Velocity](w)
	for _, slot := range w.Archetype(position, velocity).NewEach(100_000) {
		velocity.At(slot).X = 1
	}
	moving := w.Query(position, velocity)
	s.Add(sched.System{Name: "move", Reads: sched.Columns(velocity), Writes: sched.Columns(position),
		Run: func(c *sched.Context) {
			c.Each(moving, 4096, func(_ *sched.Context, b vast.Batch) {
				for run := range b.Runs() {
					p, v := position.Slice(run), velocity.Slice(run)
					for i := range p {
						p[i].X += v[i].X
						p[i].Y += v[i].Y
					}
				}
			})
		}})
	for range 100 {
		if err := s.Tick(); err != nil {
			panic(err)
		}
	}
	first, _ := moving.First()
	fmt.Println(moving.Count(), "entities, the first at", *position.Get(first))
	// Output: 100000 entities, the first at {100 0}
}

// A loop records which entities to delete; they are deleted after the loop.
//
// Original: Ark, examples/world_lock/main.go, 36 lines. Here: 28.
func Example_commands() {
	type Position struct{ X, Y float64 }
	type Energy struct{ Value float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	random := rand.New(rand.NewPCG(1, 2))
	position, energy := vast.NewColumn[Position](w), vast.NewColumn[Energy](w)
	for _, s := range w.Archetype(position, energy).NewEach(1000) {
		*position.At(s) = Position{10 * random.Float64(), 10 * random.Float64()}
		energy.At(s).Value = 100 * random.Float64()
	}
	commands := vast.NewCommands(w, vast.CommandsOptions{})
	defer commands.Close()
	alive := w.Query(energy, position)
	for tick := range 100 {
		if tick%25 == 0 {
			fmt.Println(alive.Count(), "entities")
		}
		for s := range alive.Slots() {
			if energy.At(s).Value--; energy.At(s).Value <= 0 {
				commands.Delete(s.Entity())
			}
		}
		if _, err := w.Apply(commands); err != nil {
			panic(err)
		}
	}
	// Output:
	// 1000 entities
	// 724 entities
	// 491 entities
	// 262 entities
}
