package peers_test

import (
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/clone"
)

// An entity is copied within its world and into another world, without one of its components.
//
// Original: EnTT, test/example/entity_copy.cpp, 86 lines. Here: 28.
func Example_copies() {
	type components struct {
		custom vast.Column[float64]
		number vast.Column[int]
		letter vast.Column[byte]
	}
	src, dst := vast.NewWorld(vast.Options{}), vast.NewWorld(vast.Options{})
	defer src.Close()
	defer dst.Close()
	a := components{vast.NewColumn[float64](src), vast.NewColumn[int](src), vast.NewColumn[byte](src)}
	b := components{number: vast.NewColumn[int](dst), letter: vast.NewColumn[byte](dst)}
	e := src.Archetype(a.custom, a.number, a.letter).New()
	a.custom.Set(e, 1)
	a.number.Set(e, 2)
	a.letter.Set(e, 'c')

	same := src.Clone(e)
	a.custom.Remove(same)
	fmt.Println(src.Len(), a.custom.Has(same), *a.number.Get(same), string(*a.letter.Get(same)))

	cloner, err := clone.New(src, dst, clone.Options{Drop: true}) // dst has no column for a.custom
	if err != nil {
		panic(err)
	}
	other, err := cloner.Clone(e)
	if err != nil {
		panic(err)
	}
	fmt.Println(dst.Len(), *b.number.Get(other), string(*b.letter.Get(other)))
	// Output:
	// 2 false 2 c
	// 1 2 c
}
