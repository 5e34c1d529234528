package vast_test

import (
	"fmt"

	"github.com/vastgo/vast"
)

func ExampleNames() {
	type Position struct{ X, Y float32 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	positions := vast.NewColumn[Position](w)
	names := w.Names()
	cities := w.Archetype(positions)

	paris := cities.New()
	*positions.Get(paris) = Position{X: 2.35, Y: 48.86}
	if _, err := names.Set(paris, "Paris"); err != nil {
		fmt.Println(err)
	}
	other := cities.New()
	_, err := names.Set(other, "Paris")
	fmt.Println(err)
	if e, ok := names.Find("Paris"); ok {
		fmt.Println(w.Sprint(e))
	}
	w.Delete(paris)
	fmt.Println(w.Sprint(paris))
	_, found := names.Find("Paris")
	fmt.Println(found)
	// Output:
	// vast: the name "Paris" belongs to entity 0.1: remove it there first, or choose another
	// 0.1 "Paris" {Position{X:2.35 Y:48.86}}
	// 0.1 (stale)
	// false
}
