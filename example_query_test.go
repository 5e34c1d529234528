package vast_test

import (
	"fmt"
	"sync"

	"github.com/vastgo/vast"
)

func ExampleQuery_Any() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos := vast.NewColumn[Position](w)
	burning, flooded := vast.NewColumn[struct{}](w), vast.NewColumn[int8](w)
	ships := w.Archetype(pos)
	for i := range 10 {
		e := ships.New()
		if i%4 == 0 {
			burning.Add(e, struct{}{})
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
		sum := &sums[len(sums)-1] // the slice has room for all, and does not move
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
	for _, sum := range sums { // in the order of the batches, so that rounding is the same each time
		total += sum
	}
	fmt.Println(len(sums), "batches,", total)
	// Output: 5 batches, 1.249975e+09
}

func ExampleQuery_Single() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	flagship := vast.NewColumn[struct{}](w)
	q := w.Query(flagship)
	fmt.Println(q.Single())
	w.Archetype(flagship).New()
	fmt.Println(q.Single())
	w.Archetype(flagship).New()
	fmt.Println(q.Single()) // the first of several, and false
	// Output:
	// 0.0 false
	// 0.1 true
	// 0.1 false
}

func ExampleColumn_AddAll() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, fuel, docked := vast.NewColumn[Position](w), vast.NewColumn[int32](w), vast.NewColumn[struct{}](w)
	w.Archetype(pos).NewN(1000, nil)
	w.Archetype(pos, docked).NewN(24, nil)

	fmt.Println(fuel.AddAll(w.Query(pos).Without(docked), 50), "given,", fuel.Len(), "have it")
	fmt.Println(fuel.SetAll(w.Query(), 40), "set")
	fmt.Println(w.Exchange(w.Query(fuel), []vast.AnyColumn{docked}, []vast.AnyColumn{fuel}), "exchanged,", docked.Len(), "docked")
	fmt.Println(docked.RemoveAll(w.Query(pos)), "removed,", docked.Len(), "left")
	// Output:
	// 1000 given, 1000 have it
	// 1000 set
	// 1000 exchanged, 1024 docked
	// 1024 removed, 0 left
}
