package event_test

import (
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/event"
	"github.com/vastgo/vast/sched"
)

type Damage struct{ Points int }

// One system sends events, and another one reads each of them once.
func Example() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	health := vast.NewColumn[int](w)
	s := sched.New(w, sched.Options{})
	defer s.Close()
	damage := event.New[Damage](s, event.Options{})

	ship := w.Archetype(health).New()
	health.Set(ship, 100)

	reader := damage.NewReader()
	s.Add(sched.System{
		Name:           "suffer",
		ReadsResources: sched.Resources(damage), Writes: sched.Columns(health),
		Run: func(c *sched.Context) {
			for target, d := range reader.Next(c) {
				if points := health.Get(target); points != nil { // the target may be dead
					*points -= d.Points
					fmt.Println("tick", c.Tick(), "health", *points)
				}
			}
		},
	})
	s.Add(sched.System{
		Name:            "shoot",
		WritesResources: sched.Resources(damage),
		Run: func(c *sched.Context) {
			damage.SendTo(c, ship, Damage{Points: int(10 * c.Tick())})
		},
	})
	for range 3 {
		if err := s.Tick(); err != nil {
			panic(err)
		}
	}
	// Output:
	// tick 2 health 90
	// tick 3 health 70
}

// A system asks for the events of one entity.
func ExampleQueue_Of() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := sched.New(w, sched.Options{})
	defer s.Close()
	damage := event.New[Damage](s, event.Options{})
	a, b := w.Archetype().New(), w.Archetype().New()
	s.Add(sched.System{
		Name: "report", ReadsResources: sched.Resources(damage),
		Run: func(c *sched.Context) {
			for _, e := range []vast.Entity{a, b} {
				sum := 0
				for d := range damage.Of(c, e) {
					sum += d.Points
				}
				fmt.Println(sum)
			}
		},
	})
	damage.SendTo(nil, a, Damage{3}) // between ticks, without a Context
	damage.SendTo(nil, b, Damage{5})
	damage.SendTo(nil, a, Damage{4})
	if err := s.Tick(); err != nil {
		panic(err)
	}
	// Output:
	// 7
	// 5
}

// A hook sends an event for each deleted entity. The condition of a system reports whether there are
// events.
func ExampleQueue_Send() {
	type Died struct{ Slot uint32 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	alive := vast.NewTag(w, "alive")
	s := sched.New(w, sched.Options{})
	defer s.Close()
	died := event.New[Died](s, event.Options{})
	alive.OnRemove(func(e vast.Entity) { died.Send(nil, Died{e.Slot()}) })
	es := make([]vast.Entity, 5)
	for i := range es {
		es[i] = w.Archetype(alive).New()
	}
	s.Add(sched.System{Name: "kill", Run: func(c *sched.Context) {
		if c.Tick() == 2 {
			c.Commands().Delete(es[3])
			c.Commands().Delete(es[1])
		}
	}})
	reader := died.NewReader()
	s.Add(sched.System{
		Name: "mourn", Phase: "late", ReadsResources: sched.Resources(died),
		If: func(c *sched.Context) bool { return reader.Len(c) > 0 },
		Run: func(c *sched.Context) {
			for _, d := range reader.Next(c) {
				fmt.Println("tick", c.Tick(), "slot", d.Slot)
			}
		},
	})
	for range 3 {
		if err := s.Tick(); err != nil {
			panic(err)
		}
	}
	// Output:
	// tick 2 slot 3
	// tick 2 slot 1
}

// The program makes room before the ticks, so that no Send can fail.
func ExampleQueue_Grow() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := sched.New(w, sched.Options{})
	defer s.Close()
	damage := event.New[Damage](s, event.Options{MaxBytes: 1 << 20})
	fmt.Println(damage.Grow(10_000))
	fmt.Println(damage.Grow(1_000_000) != nil)
	// Output:
	// <nil>
	// true
}
