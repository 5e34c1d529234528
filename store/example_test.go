package store_test

import (
	"bytes"
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

type Health struct{ Points int }

// The world of a later version of the program finds the components by their names.
func Example() {
	newWorld := func() (*vast.World, vast.Column[Health], vast.Relation) {
		w := vast.NewWorld(vast.Options{})
		return w, vast.NewColumn[Health](w), vast.NewRelation(w, "childOf", vast.RelationOptions{})
	}
	w, health, childOf := newWorld()
	defer w.Close()
	parent, child := w.Archetype(health).New(), w.Archetype(health).New()
	health.Set(child, Health{7})
	childOf.Set(child, parent)

	var file bytes.Buffer // os.Create, usually
	if err := store.Save(w, &file, store.Options{}); err != nil {
		panic(err)
	}

	again, health, childOf := newWorld()
	defer again.Close()
	report, err := store.Load(again, &file, store.Options{})
	if err != nil {
		panic(err)
	}
	target, _ := childOf.Target(child) // the same references as before
	fmt.Println(health.Get(child).Points, target == parent)
	fmt.Printf("%+v\n", *report)
	// Output:
	// 7 true
	// {Dropped:[] Added:[] Converted:[]}
}
