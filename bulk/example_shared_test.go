package bulk_test

import (
	"fmt"
	"log"
	"sync"

	"github.com/vastgo/vast/bulk"
)

func ExampleSharedArray() {
	squares, err := bulk.NewSharedArray[[2]int](bulk.Options{Capacity: 1_000_000})
	if err != nil {
		log.Fatal(err)
	}
	defer squares.Close()

	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			to := squares.Appender()
			for i := g; i < 1000; i += 4 {
				to.Append([2]int{i, i * i})
			}
			if _, _, err := to.Flush(); err != nil {
				log.Fatal(err)
			}
		})
	}
	all.Wait()
	sum := 0
	for _, s := range squares.Slice() {
		sum += s[1]
	}
	i, s := squares.Append([2]int{7, 49})
	fmt.Println(i, *s, squares.Len(), sum)
	// Output:
	// 1000 [7 49] 1001 332833500
}

func ExampleSharedPool() {
	ships, err := bulk.NewSharedPool[ship](bulk.Options{Capacity: 1_000_000})
	if err != nil {
		log.Fatal(err)
	}
	defer ships.Close()

	flagship, _ := ships.Insert(ship{X: 3})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			in := ships.Inserter()
			defer in.Close()
			for range 1000 {
				h, _ := in.Insert(ship{Target: flagship})
				if s, ok := ships.Load(ships.Get(h).Target); !ok || s.X != 3 {
					log.Fatal("the flagship is gone")
				}
				in.Remove(h)
			}
		})
	}
	all.Wait()
	fmt.Println("ships:", ships.Len())
	fmt.Println("removed:", ships.Remove(flagship), "and again:", ships.Remove(flagship))
	_, ok := ships.Load(flagship)
	fmt.Println("the flagship exists:", ok)
	// Output:
	// ships: 1
	// removed: true and again: false
	// the flagship exists: false
}
