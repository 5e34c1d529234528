package vast_test

import (
	"fmt"
	"sync"

	"github.com/vastgo/vast"
)

// Runs yields runs of entities whose components lie side by side. Slice returns the components of a run.
func ExampleQuery_Runs() {
	type Position struct{ X, Y float64 }
	type Velocity struct{ X, Y float64 }

	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, vel := vast.NewColumn[Position](w), vast.NewColumn[Velocity](w)
	ship := w.Archetype(pos, vel).New()
	vel.Set(ship, Velocity{1, 2})

	moving := w.Query(pos, vel) // one query serves all ticks
	for range 60 {
		for run := range moving.Runs() {
			p, v := pos.Slice(run), vel.Slice(run)
			for i := range p {
				p[i].X += v[i].X / 60
				p[i].Y += v[i].Y / 60
			}
		}
	}
	fmt.Printf("%.2f %.2f\n", pos.Get(ship).X, pos.Get(ship).Y)
	// Output: 1.00 2.00
}

// All yields one entity at a time.
func ExampleQuery_All() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	fuel := vast.NewColumn[int32](w)
	ships := w.Archetype(fuel)
	for i := range int32(5) {
		fuel.Set(ships.New(), 40-10*i)
	}
	for e := range w.Query(fuel).All() {
		if *fuel.Get(e) < 20 {
			fmt.Println("the first ship low on fuel:", e)
			break
		}
	}
	// Output: the first ship low on fuel: 3.1
}

// Without, Any and Exactly return a new query and leave the old query unchanged.
func ExampleWorld_Query() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, vel := vast.NewColumn[[2]float64](w), vast.NewColumn[[2]float32](w)
	docked, burning, flooded := vast.NewTag(w, "Docked"), vast.NewTag(w, "Burning"), vast.NewTag(w, "Flooded")
	w.Archetype(pos, vel).NewN(5, nil)
	w.Archetype(pos, vel, burning).NewN(3, nil)
	w.Archetype(pos, vel, flooded, docked).NewN(2, nil)

	moving := w.Query(pos, vel)
	fmt.Println("moving:", moving.Count())
	fmt.Println("not docked:", moving.Without(docked).Count())
	fmt.Println("burning or flooded:", moving.Any(burning, flooded).Count())
	fmt.Println("without other components:", moving.Exactly().Count())
	fmt.Println("not docked, and burning or flooded:", moving.Without(docked).Any(burning, flooded).Count())
	// Output:
	// moving: 10
	// not docked: 8
	// burning or flooded: 5
	// without other components: 5
	// not docked, and burning or flooded: 3
}

// A run ends before an entity that does not match.
func ExampleQuery_Without() {
	type Position struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, docked := vast.NewColumn[Position](w), vast.NewTag(w, "Docked")
	ships := w.Archetype(pos)
	for i := range 10 {
		e := ships.New()
		if i < 3 || i == 7 {
			docked.Add(e)
		}
	}
	atSea := w.Query(pos).Without(docked)
	for run := range atSea.Runs() {
		fmt.Println("slots", run.Start(), "to", run.Start()+run.Len()-1)
	}
	fmt.Println(w.DeleteAll(atSea), "deleted,", w.Len(), "left")
	// Output:
	// slots 3 to 6
	// slots 8 to 9
	// 6 deleted, 4 left
}

func ExampleQuery_Any() {
	type Position struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos := vast.NewColumn[Position](w)
	burning, flooded := vast.NewTag(w, "Burning"), vast.NewColumn[int8](w)
	ships := w.Archetype(pos)
	for i := range 10 {
		e := ships.New()
		if i%4 == 0 {
			burning.Add(e)
		}
		if i%3 == 0 {
			flooded.Add(e, int8(i))
		}
	}
	for e := range w.Query(pos).Any(burning, flooded).All() {
		fmt.Print(e.Slot(), " ")
	}
	// Output: 0 3 4 6 8 9
}

func ExampleQuery_Batches() {
	type Position struct{ X, Y float64 }
	type Velocity struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	defer w.Close()
	pos, vel := vast.NewColumn[Position](w), vast.NewColumn[Velocity](w)
	w.Archetype(pos, vel).NewN(50_000, func(run vast.Run) {
		for i := range vel.Slice(run) {
			vel.Slice(run)[i].X = float64(run.Start() + i)
		}
	})
	sums := make([]float64, 0, 8)
	var wg sync.WaitGroup
	for batch := range w.Query(pos, vel).Batches(10_000) {
		sums = append(sums, 0)
		sum := &sums[len(sums)-1] // valid for all batches, because append never reallocates the slice
		wg.Go(func() {
			for run := range batch.Runs() {
				p, v := pos.Slice(run), vel.Slice(run)
				for i := range p {
					p[i].X += v[i].X
					*sum += p[i].X
				}
			}
		})
	}
	wg.Wait()
	total := 0.0
	for _, sum := range sums { // a fixed order gives the same rounding in every run
		total += sum
	}
	fmt.Println(len(sums), "batches,", total)
	// Output: 5 batches, 1.249975e+09
}

func ExampleQuery_Single() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	flagship := vast.NewTag(w, "Flagship")
	q := w.Query(flagship)
	fmt.Println(q.Single())
	w.Archetype(flagship).New()
	fmt.Println(q.Single())
	w.Archetype(flagship).New()
	fmt.Println(q.Single()) // two matches: the first match, and false
	// Output:
	// 0.0 false
	// 0.1 true
	// 0.1 false
}

func ExampleColumn_AddAll() {
	type Position struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, fuel, docked := vast.NewColumn[Position](w), vast.NewColumn[int32](w), vast.NewTag(w, "Docked")
	w.Archetype(pos).NewN(1000, nil)
	w.Archetype(pos, docked).NewN(24, nil)

	fmt.Println(fuel.AddAll(w.Query(pos).Without(docked), 50), "given,", fuel.Len(), "have it")
	fmt.Println(fuel.SetAll(w.Query(), 40), "set")
	fmt.Println(w.Exchange(w.Query(fuel), []vast.AnyColumn{docked}, []vast.AnyColumn{fuel}), "exchanged,",
		docked.Len(), "docked")
	fmt.Println(docked.RemoveAll(w.Query(pos)), "removed,", docked.Len(), "left")
	// Output:
	// 1000 given, 1000 have it
	// 1000 set
	// 1000 exchanged, 1024 docked
	// 1024 removed, 0 left
}
