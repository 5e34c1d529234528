package heap_test

import (
	"fmt"
	"log"

	"github.com/vastgo/vast/heap"
)

type Ship struct {
	X, Y float32
	Name [16]byte
}

func Example() {
	h, err := heap.New(heap.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()

	s := heap.Make[Ship](h)
	s.X = 3
	copy(s.Name[:], "Argo")

	depths := heap.MakeSlice[float64](h, 0, 100)
	depths = append(depths, 1.5, 2.5)
	depths, err = heap.Resize(h, depths, 1_000_000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s at %v; depths %v, room for %d\n", s.Name[:4], s.X, depths, cap(depths))

	heap.FreeSlice(h, depths)
	heap.Free(h, s)
	defer func() { fmt.Println(recover() != nil, h.Stats().InUse) }()
	heap.Free(h, s) //vastvet:ignore useafter: shows the panic
	// Output:
	// Argo at 3; depths [1.5 2.5], room for 1000000
	// true 0
}

func ExampleBuffer() {
	h, err := heap.New(heap.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()

	b := heap.NewBuffer[Ship](h)
	defer b.Close()
	for i := range 3 {
		b.Append(Ship{X: float32(i)})
	}
	b.At(1).Y = 7
	fmt.Println(b.Len(), b.Slice()[1].Y)
	// Output: 3 7
}
