package guard_test

import (
	"fmt"
	"log"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/guard"
)

func Example() {
	g, err := guard.NewAllocator(guard.Options{Name: "numbers"})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()

	numbers := guard.MakeSlice[int64](g, 3, 5)
	guard.FreeSlice(g, numbers)

	defer func() {
		f := recover().(*guard.Fault)
		fmt.Println(f.Kind, "of", f.Type, "in", f.Allocator)
		for _, s := range []guard.Stack{f.AllocatedAt, f.FreedAt, f.At} {
			for call := range s.Frames() {
				fmt.Println(call.Function)
				break
			}
		}
	}()
	guard.FreeSlice(g, numbers) //vastvet:ignore useafter: shows the report
	// Output:
	// double free of [5]int64 in numbers
	// github.com/vastgo/vast/guard_test.Example
	// github.com/vastgo/vast/guard_test.Example
	// github.com/vastgo/vast/guard_test.Example
}

// The pool guards one insertion in a hundred on average, and at most 16 elements at a time.
func ExampleSampledPool() {
	p, err := guard.NewSampledPool[int64](guard.SampledPoolOptions{Options: bulk.Options{Capacity: 10_000},
		Every: 100})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()

	for i := range int64(10_000) {
		p.Insert(i)
	}
	sum := int64(0)
	for _, run := range p.Runs() {
		for _, v := range run {
			sum += v
		}
	}
	fmt.Println(p.Len(), sum, p.Guarded())
	// Output: 10000 49995000 16
}
