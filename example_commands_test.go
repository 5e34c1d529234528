package vast_test

import (
	"fmt"
	"sync"

	"github.com/vastgo/vast"
)

// A loop over a query must not add or remove entities or components. Record such changes in Commands, and
// apply the Commands after the loop.
func ExampleCommands() {
	type Position struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, fuel := vast.NewColumn[Position](w), vast.NewColumn[int32](w)
	adrift := vast.NewTag(w, "adrift")
	ships, buoys := w.Archetype(pos, fuel), w.Archetype(pos)
	for i := range 6 {
		e := ships.New()
		pos.Set(e, Position{X: float64(i)})
		fuel.Set(e, int32(i%3))
	}

	c := vast.NewCommands(w, vast.CommandsOptions{})
	for e := range w.Query(fuel).All() {
		switch *fuel.Get(e) {
		case 0:
			buoy := c.New(buoys) // commands can use buoy before Apply makes the entity
			pos.SetLater(c, buoy, *pos.Get(e))
			c.Delete(e)
		case 1:
			fuel.RemoveLater(c, e)
			adrift.AddLater(c, e)
		}
	}
	applied, err := w.Apply(c)
	fmt.Println(applied, err)
	fmt.Println(w.Len(), ships.Len(), buoys.Len(), fuel.Len(), adrift.Len())
	// Output:
	// {10 0} <nil>
	// 6 4 2 2 2
}

// Each worker has its own Commands. Commands.At gives the following commands the number of a batch.
// World.Apply executes the commands in the order of these numbers, even if different workers recorded them.
func ExampleCommands_At() {
	type Position struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	defer w.Close()
	pos := vast.NewColumn[Position](w)
	children := w.Archetype()
	w.Archetype(pos).NewN(10_000, nil)

	type part struct {
		number int
		batch  vast.Batch
	}
	work := make(chan part)
	workers := make([]*vast.Commands, 4)
	var wg sync.WaitGroup
	for i := range workers {
		c := vast.NewCommands(w, vast.CommandsOptions{})
		workers[i] = c
		wg.Go(func() {
			for p := range work {
				c.At(p.number)
				for e := range p.batch.All() {
					if e.Slot()%1000 == 0 {
						pos.AddLater(c, c.New(children), Position{X: float64(e.Slot())})
					}
				}
			}
		})
	}
	number := 0
	for batch := range w.Query(pos).Batches(500) {
		work <- part{number, batch}
		number++
	}
	close(work)
	wg.Wait()
	if _, err := w.Apply(workers...); err != nil {
		fmt.Println(err) // the program can call Apply again when there is memory
	}
	for e := range w.Query(pos).All() {
		if x := pos.Get(e).X; x > 0 {
			fmt.Print(x, " ")
		}
	}
	// Output: 1000 2000 3000 4000 5000 6000 7000 8000 9000
}
