package vast_test

import (
	"errors"
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/vm"
)

// After a successful Grow(n), making n entities cannot fail.
func ExampleArchetype_Grow() {
	w := vast.NewWorld(vast.Options{MaxEntities: 1024})
	defer w.Close()
	ships := w.Archetype(vast.NewColumn[int64](w))
	if err := ships.Grow(1000); err != nil {
		fmt.Println(err)
		return
	}
	ships.NewN(1000, nil)
	err := ships.Grow(1000)
	fmt.Println(w.Len(), errors.Is(err, vm.ErrCapacity))
	// Output: 1000 true
}

// Reset deletes all entities. It keeps columns, queries and memory.
func ExampleWorld_Reset() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	score := vast.NewColumn[int64](w)
	players, all := w.Archetype(score), w.Query(score)
	first := players.New()
	players.NewN(99, nil)
	fmt.Println(all.Count(), w.Alive(first))

	w.Reset()
	fmt.Println(all.Count(), w.Alive(first))
	// Trim gives memory back. Do not call Trim if the program soon needs the memory again.
	if err := w.Trim(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 100 true
	// 0 false
}
