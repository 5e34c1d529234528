package observe_test

import (
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/observe"
	"github.com/vastgo/vast/sched"
)

// A server sends its client the ships that come into view and those that leave it.
func ExampleMonitor() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	type Ship struct{ Tons int }
	ships, cloaked := vast.NewColumn[Ship](w), vast.NewTag(w, "cloaked")
	born := w.Archetype(ships)
	a, b := born.New(), born.New()

	inView := observe.NewMonitor(w.Query(ships).Without(cloaked))
	defer inView.Close()
	cloaked.Add(a)
	w.Delete(b)
	born.New() // in the slot of b
	inView.Next()
	for e := range inView.Left() {
		fmt.Println("left", e, w.Alive(e))
	}
	for e := range inView.Entered() {
		fmt.Println("entered", e)
	}
	// Output:
	// left 0.1 true
	// left 1.1 false
	// entered 1.2
}

// A system of a schedule calls the observers.
func ExampleObservers() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	type Health int
	health, burning := vast.NewColumn[Health](w), vast.NewTag(w, "burning")
	born := w.Archetype(health)

	o := observe.New(w)
	defer o.Close()
	o.Add(observe.Observer{
		Query:   w.Query(health, burning),
		Entered: func(e observe.Event) { fmt.Println("tick", e.Context.Tick(), e.Entity, "catches fire") },
		Left:    func(e observe.Event) { fmt.Println("tick", e.Context.Tick(), e.Entity, "is out") },
	})
	o.Add(observe.Observer{
		Query: w.Query(), Column: health,
		Changed: func(e observe.Event) {
			if *health.Get(e.Entity) <= 0 {
				w.Delete(e.Entity) // reported by the next run
			}
		},
	})

	s := sched.New(w, sched.Options{})
	defer s.Close()
	s.Add(sched.System{Name: "burn", Writes: sched.Columns(health), Run: func(*sched.Context) {
		for slot := range w.Query(health, burning).Slots() {
			*health.EditAt(slot) -= 5
		}
	}})
	s.Add(o.System("observers"))
	e := born.New()
	health.Set(e, 10)
	burning.Add(e)
	for range 3 {
		if err := s.Tick(); err != nil {
			panic(err)
		}
	}
	// Output:
	// tick 1 0.1 catches fire
	// tick 3 0.1 is out
}

// The hit of a part reaches the whole.
func ExampleObserver() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	hit := vast.NewTag(w, "hit")
	childOf := vast.NewRelation(w, "ChildOf", vast.RelationOptions{})
	born := w.Archetype()
	ship, gun := born.New(), born.New()
	childOf.Set(gun, ship)
	hit.Add(gun)

	o := observe.New(w)
	defer o.Close()
	remove := o.Add(observe.Observer{Query: w.Query(hit), Existing: true, Up: childOf,
		Entered: func(e observe.Event) { fmt.Println("the hit of", e.Entity, "reaches", e.At) }})
	o.Run(nil) // without a schedule
	remove()
	// Output:
	// the hit of 1.1 reaches 1.1
	// the hit of 1.1 reaches 0.1
}
