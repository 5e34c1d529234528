package uid_test

import (
	"encoding/json"
	"fmt"

	"github.com/vastgo/vast/uid"
)

type Sound struct{ Volume float32 }

type Mesh struct{ Triangles int }

func Example() {
	// Two parts of a program number their objects, and a third part keeps names for all of them.
	names := make(map[any]string)

	var sounds uid.Source[Sound] // each goroutine that makes sounds has its own Source
	door, wind := sounds.New(), sounds.New()
	names[door], names[wind] = "door", "wind"

	tree := uid.New[Mesh]() // any goroutine may call New
	names[tree] = "tree"

	fmt.Println(len(names), names[door], names[wind], names[tree])
	fmt.Println("the same:", door == wind)

	_, err := json.Marshal(tree)
	fmt.Println(err != nil, "- an ID cannot be stored")
	// Output:
	// 3 door wind tree
	// the same: false
	// true - an ID cannot be stored
}
