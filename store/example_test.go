package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

type Health struct{ Points int }

// Load finds components by their names, so a later version of the program can load the file.
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

	var file bytes.Buffer // usually a file that os.Create has created
	if err := store.Save(w, &file, store.Options{}); err != nil {
		panic(err)
	}

	again, health, childOf := newWorld()
	defer again.Close()
	report, err := store.Load(again, &file, store.Options{})
	if err != nil {
		panic(err)
	}
	target, _ := childOf.Target(child) // child and parent refer to the same entities in the new world
	fmt.Println(health.Get(child).Points, target == parent)
	fmt.Printf("%+v\n", *report)
	// Output:
	// 7 true
	// {Dropped:[] Added:[] Converted:[]}
}

// A document refers to entities by their names, and people can edit the document.
func ExampleReadJSON() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	health := vast.NewColumn[Health](w)
	childOf := vast.NewRelation(w, "childOf", vast.RelationOptions{})

	document, err := store.ReadJSON(w, strings.NewReader(`{"entities": [
		{"name": "Anna", "components": {"Health": {"Points": 7}, "childOf": "Berta"}},
		{"name": "Berta", "components": {"Health": {"Points": 9}}}
	]}`), store.Options{})
	if err != nil {
		panic(err)
	}
	target, _ := childOf.Target(document.Named["Anna"])
	fmt.Println(health.Get(target).Points)

	if err := store.WriteJSON(w, os.Stdout, store.Options{}); err != nil {
		panic(err)
	}
	_, err = store.ReadJSON(w, strings.NewReader(`{"entities": [
		{"components": {"Health": {"Age": 3}}}
	]}`), store.Options{})
	fmt.Println(err)
	// Output:
	// 9
	// {
	//   "entities": [
	//     {"name": "Anna", "components": {
	//       "Health": {"Points": 7},
	//       "childOf": "Berta"
	//     }},
	//     {"name": "Berta", "components": {
	//       "Health": {"Points": 9}
	//     }}
	//   ]
	// }
	// store: reading JSON into world "world": line 2, column 30: Health has no field "Age": remove it, correct it, or give its new name in Options.Renamed
}

// A ship moves to another world with its crew. The captain refers to the ship.
func ExamplePacker() {
	type captain struct{ Of vast.Entity }
	newSea := func() (*vast.World, vast.Column[Health], vast.Column[captain], vast.Relation, *store.Packer) {
		w := vast.NewWorld(vast.Options{})
		health, captains := vast.NewColumn[Health](w), vast.NewColumn[captain](w)
		aboard := vast.NewRelation(w, "aboard", vast.RelationOptions{OnDelete: vast.Cascade})
		p, err := store.NewPacker(w, store.Options{})
		if err != nil {
			panic(err)
		}
		return w, health, captains, aboard, p
	}
	w, health, captains, aboard, p := newSea()
	defer w.Close()
	ship, ann := w.Archetype(health).New(), w.Archetype(captains).New()
	health.Set(ship, Health{90})
	captains.Set(ann, captain{ship})
	aboard.Set(ann, ship)

	parcel, err := p.Pack(nil, []vast.Entity{ship})
	if err != nil {
		panic(err)
	}
	w.Delete(ship) // also deletes the crew

	other, health, captains, aboard, p := newSea()
	defer other.Close()
	roots, err := p.Unpack(parcel)
	if err != nil {
		panic(err)
	}
	for ann := range aboard.Sources(roots[0]) {
		fmt.Println(health.Get(roots[0]).Points, captains.Get(ann).Of == roots[0])
	}
	fmt.Println(w.Len(), other.Len(), len(parcel))
	// Output:
	// 90 true
	// 0 2 34
}

// Compare names the first difference between a world and its saved file.
func ExampleCompare() {
	w := vast.NewWorld(vast.Options{Name: "game"})
	defer w.Close()
	health := vast.NewColumn[Health](w)
	e := w.Archetype(health).New()
	var file bytes.Buffer
	if err := store.Save(w, &file, store.Options{}); err != nil {
		panic(err)
	}
	health.Set(e, Health{7})
	fmt.Println(store.Compare(w, &file, store.Options{}))
	// Output:
	// store: world "game" differs from the saved world: Health of entity 0.1, field Points: 0 in the saved world, 7 in this world
}

// A store checks that the program can repeat its ticks. This program cannot: a tick depends on a variable
// outside of the world.
func ExampleCheck() {
	dir, err := os.MkdirTemp("", "game")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	type open = func(*vast.World, store.Options) (*store.Store, error)
	total := 0 // not part of a world, so a replay does not restore it
	start := func(open open, o store.Options) (w *vast.World, st *store.Store, tick func() error, err error) {
		w = vast.NewWorld(vast.Options{Name: "game"})
		health := vast.NewColumn[Health](w)
		if st, err = open(w, o); err != nil {
			return w, nil, nil, err
		}
		if st.New() {
			w.Archetype(health).New()
		}
		tick = func() error {
			for slot := range w.Query(health).Slots() {
				total++
				health.At(slot).Points = total
			}
			return nil
		}
		return w, st, tick, st.Recover(func([]byte) {}, tick)
	}
	w, st, tick, err := start(func(w *vast.World, o store.Options) (*store.Store, error) {
		return store.Open(dir, w, o)
	}, store.Options{
		Every: time.Hour, // only the program makes checkpoints
		Check: store.Check{
			Every: 1, // a check at each checkpoint; the default is one check a minute
			Again: func(open open) error {
				w, _, _, err := start(open, store.Options{})
				return errors.Join(err, w.Close())
			},
		},
	})
	if err != nil {
		panic(err)
	}
	defer w.Close()
	if err := errors.Join(st.Checkpoint(), st.Tick(tick), st.Tick(tick)); err != nil {
		panic(err)
	}
	if different, ok := errors.AsType[*store.Difference](st.Close()); ok {
		fmt.Printf("up to tick %d: %s of entity %v, %s: %s, and %s in a replay\n", different.Tick,
			different.Column, different.Entity, different.Field, different.Recorded, different.Replayed)
	}
	// Output:
	// up to tick 2: Health of entity 0.1, Points: 2, and 4 in a replay
}
