package arena_test

import (
	"fmt"

	"github.com/vastgo/vast/arena"
)

type Contact struct {
	A, B  uint32
	Depth float32
}

// An arena holds the working memory of a simulation's tick. Reset frees this memory at the end of the tick.
func Example() {
	frame, err := arena.New(arena.Options{Name: "frame"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer frame.Close()

	for tick := range 3 {
		contacts := arena.MakeSlice[Contact](frame, 0, 64)
		for i := range uint32(tick + 1) {
			contacts = arena.Append(frame, contacts, Contact{A: i, B: i + 1, Depth: 0.5})
		}

		mark := frame.Mark() // memory for one step of the tick
		order := arena.MakeSlice[uint32](frame, len(contacts), len(contacts))
		for i := range order {
			order[i] = uint32(len(order) - 1 - i)
		}
		last := arena.Make[Contact](frame)
		*last = contacts[order[0]]
		fmt.Println("tick", tick, "has", len(contacts), "contacts, the last of", last.A, "and", last.B)
		frame.Release(mark)

		frame.Reset()
	}
	fmt.Println(frame.Used(), "bytes in use")
	// Output:
	// tick 0 has 1 contacts, the last of 0 and 1
	// tick 1 has 2 contacts, the last of 1 and 2
	// tick 2 has 3 contacts, the last of 2 and 3
	// 0 bytes in use
}
