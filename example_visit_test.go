package vast_test

import (
	"context"
	"fmt"
	"time"

	"github.com/vastgo/vast"
)

func ExampleWorld_Visit() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	fuel := vast.NewColumn[int](w)
	w.Archetype(fuel).NewN(1000, func(r vast.Run) {
		for i := range fuel.Slice(r) {
			fuel.Slice(r)[i] = i
		}
	})

	// Another goroutine reads the world during a visit.
	sum := make(chan int)
	go func() {
		total := 0
		err := w.Visit(context.Background(), func() (done bool) {
			for run := range w.Query(fuel).Runs() {
				for _, f := range fuel.Slice(run) {
					total += f
				}
			}
			return true
		})
		if err != nil {
			panic(err)
		}
		sum <- total
	}()

	// The world's own goroutine admits visitors between its ticks.
	for {
		w.Admit(time.Millisecond)
		select {
		case total := <-sum:
			fmt.Println(total)
			return
		case <-time.After(time.Millisecond): // the next tick
		}
	}
	// Output: 499500
}
