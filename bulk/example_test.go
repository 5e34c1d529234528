package bulk_test

import (
	"fmt"
	"log"

	"github.com/vastgo/vast/bulk"
)

type ship struct {
	X, Y   float32
	Target bulk.Handle[ship]
}

func Example() {
	ships, err := bulk.NewPool[ship](bulk.Options{Capacity: 1_000_000})
	if err != nil {
		log.Fatal(err)
	}
	defer ships.Close()

	prey, _ := ships.Insert(ship{X: 3})
	hunter, s := ships.Insert(ship{X: 1, Target: prey})
	if t := ships.Get(s.Target); t != nil {
		fmt.Println("the target is at", t.X)
	}
	ships.Remove(prey)
	fmt.Println("the target exists:", ships.Valid(ships.Get(hunter).Target))

	again, _ := ships.Insert(ship{X: 9})
	fmt.Println("the slot is the same:", again.Slot() == prey.Slot())
	fmt.Println("the handle is the same:", again == prey)
	// Output:
	// the target is at 3
	// the target exists: false
	// the slot is the same: true
	// the handle is the same: false
}

func ExampleArray() {
	heights, err := bulk.NewArray[float32](bulk.Options{Capacity: 1_000_000})
	if err != nil {
		log.Fatal(err)
	}
	defer heights.Close()

	first := heights.Append(1)
	more, err := heights.AppendN(3)
	if err != nil {
		log.Fatal(err)
	}
	copy(more, []float32{2, 3, 4})
	*first = 10
	fmt.Println(heights.Slice(), heights.Len())
	heights.Truncate(2)
	fmt.Println(heights.Slice(), *heights.At(1))
	// Output:
	// [10 2 3 4] 4
	// [10 2] 2
}

func ExampleDense() {
	d, err := bulk.NewDense[float32](bulk.Options{Capacity: 1000})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	var handles []bulk.Handle[float32]
	for i := range 5 {
		h, _ := d.Insert(float32(i))
		handles = append(handles, h)
	}
	d.Remove(handles[1])
	fmt.Println(d.Slice())
	fmt.Println("the last element has index", d.Index(handles[4]), "and is", *d.Get(handles[4]))
	fmt.Println("the removed element:", d.Index(handles[1]), d.Get(handles[1]))
	// Output:
	// [0 4 2 3]
	// the last element has index 1 and is 4
	// the removed element: -1 <nil>
}

func ExamplePool_Runs() {
	p, err := bulk.NewPool[int](bulk.Options{Capacity: 1000})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	var handles []bulk.Handle[int]
	for i := range 10 {
		h, _ := p.Insert(i)
		handles = append(handles, h)
	}
	p.Remove(handles[3])
	p.Remove(handles[4])
	p.Remove(handles[8])
	for first, run := range p.Runs() {
		fmt.Println("from slot", first, run)
	}
	// Output:
	// from slot 0 [0 1 2]
	// from slot 5 [5 6 7]
	// from slot 9 [9]
}

func ExamplePool_Clear() {
	p, err := bulk.NewPool[int](bulk.Options{MaxBytes: 10 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	h, _ := p.Insert(15)
	p.Insert(25)
	p.Clear(func(h bulk.Handle[int], v *int) { fmt.Println("gone:", *v) })
	fmt.Println(p.Len(), p.Valid(h))
	// Output:
	// gone: 15
	// gone: 25
	// 0 false
}
