package peers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/event"
	"github.com/vastgo/vast/observe"
	"github.com/vastgo/vast/sched"
)

// Systems send events to each other: damage, reduced by armor, and the sounds and pictures of a hit. The
// systems of the original change the messages; here the armor sends a new event.
//
// Original: Bevy, examples/ecs/message.rs, 95 lines. Here: 55.
func Example_messages() {
	type DealDamage struct{ Amount int }
	type Hit struct{ Amount int } // the damage that the armor lets through
	type Received struct{}
	type Blocked struct{}
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := sched.New(w, sched.Options{Workers: 1, Rate: 2})
	defer s.Close()
	dealt, hits := event.New[DealDamage](s, event.Options{}), event.New[Hit](s, event.Options{})
	received, blocked := event.New[Received](s, event.Options{}), event.New[Blocked](s, event.Options{})

	s.Add(sched.System{Name: "deal damage", Rate: 1, WritesResources: sched.Resources(dealt),
		Run: func(c *sched.Context) { dealt.Send(c, DealDamage{10}) }})
	seen := dealt.NewReader()
	s.Add(sched.System{Name: "extra damage", ReadsResources: sched.Resources(dealt),
		WritesResources: sched.Resources(dealt), Run: func(c *sched.Context) {
			for _, d := range seen.Next(c) {
				if d.Amount >= 10 {
					dealt.Send(c, DealDamage{d.Amount / 10})
				}
			}
		}})
	striking := dealt.NewReader()
	s.Add(sched.System{Name: "armor", ReadsResources: sched.Resources(dealt),
		WritesResources: sched.Resources(hits, blocked), Run: func(c *sched.Context) {
			for _, d := range striking.Next(c) {
				hits.Send(c, Hit{d.Amount - 1})
				if d.Amount <= 1 {
					blocked.Send(c, Blocked{})
				}
			}
		}})
	arriving := hits.NewReader()
	s.Add(sched.System{Name: "damage", ReadsResources: sched.Resources(hits),
		WritesResources: sched.Resources(received), Run: func(c *sched.Context) {
			for _, h := range arriving.Next(c) {
				fmt.Println("tick", c.Tick(), "applying damage", h.Amount)
				if h.Amount > 0 {
					received.Send(c, Received{})
				}
			}
		}})
	for _, effect := range []string{"playing a sound", "showing particles"} {
		r := received.NewReader()
		s.Add(sched.System{Name: effect, ReadsResources: sched.Resources(received),
			Run: func(c *sched.Context) {
				for range r.Next(c) {
					fmt.Println("tick", c.Tick(), effect)
				}
			}})
	}
	if err := s.RunTicks(context.Background(), 3); err != nil {
		panic(err)
	}
	// Output:
	// tick 2 applying damage 9
	// tick 2 applying damage 0
	// tick 2 playing a sound
	// tick 2 showing particles
}

// Entities hold systems, which run on demand. The original also holds the same systems in values of Rust's
// type Box, which Go does not need.
//
// Original: Bevy, examples/ecs/callbacks.rs, 60 lines. Here: 23.
func Example_callbacks() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := sched.New(w, sched.Options{})
	defer s.Close()
	callback := vast.NewHeapColumn[sched.System](w)
	all := w.Query(callback)
	for _, sys := range []sched.System{
		{Name: "trivial", Run: func(*sched.Context) { fmt.Println("a trivial callback") }},
		{Name: "ordinary", Run: func(*sched.Context) { fmt.Println("one of", all.Count(), "callbacks") }},
		{Name: "exclusive", Exclusive: true, Run: func(*sched.Context) { fmt.Println(w.Len(), "entities") }},
	} {
		callback.Set(w.Archetype(callback).New(), sys)
	}
	s.Add(sched.System{Name: "run callbacks", Reads: sched.Columns(callback), Run: func(c *sched.Context) {
		for slot := range all.Slots() {
			c.RunOnce(*callback.At(slot))
		}
	}})
	if err := s.Tick(); err != nil {
		panic(err)
	}
	// Output:
	// a trivial callback
	// one of 3 callbacks
	// 3 entities
}

// Systems run under conditions: resources, input, time. The original reads the input of a window; here the
// program sets the input.
//
// Original: Bevy, examples/ecs/run_conditions.rs, 57 lines. Here: 43.
func Example_runConditions() {
	type Counter int
	type Unused struct{}
	type Input struct{ Pressed bool }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := sched.New(w, sched.Options{Rate: 2})
	defer s.Close()
	input := vast.SetResource(w, Input{})
	counting := sched.Resources(sched.ResourceOf[Counter]())
	reading := sched.Resources(sched.ResourceOf[Input]())
	passed := func(seconds float64) func(*sched.Context) bool {
		return func(c *sched.Context) bool { return c.Elapsed().Seconds() >= seconds }
	}
	pressed := func(*sched.Context) bool {
		return vast.FindResource[Counter](w) != nil && (vast.FindResource[Unused](w) != nil || input.Pressed)
	}
	s.Add(sched.System{Name: "count", WritesResources: counting, ReadsResources: reading, If: pressed,
		Run: func(*sched.Context) { *vast.Resource[Counter](w)++ }})
	var last Counter
	changed := func(*sched.Context) bool {
		counter := vast.FindResource[Counter](w)
		return counter != nil && *counter != last
	}
	s.Add(sched.System{Name: "print", ReadsResources: counting, If: changed, Run: func(*sched.Context) {
		last = *vast.Resource[Counter](w)
		fmt.Println("input counter:", last)
	}})
	s.Add(sched.System{Name: "message", If: passed(2), Run: func(c *sched.Context) {
		if !passed(2.5)(c) {
			fmt.Println("2 seconds have passed, but not 2.5")
		}
	}})
	for tick := range 6 {
		input.Pressed = tick%2 == 0
		if tick == 1 {
			vast.SetResource(w, Counter(0))
		}
		if err := s.Tick(); err != nil {
			panic(err)
		}
	}
	// Output:
	// input counter: 1
	// 2 seconds have passed, but not 2.5
	// input counter: 2
}

// A system reports components and resources that other systems change. The original can also print the line
// that made the change.
//
// Original: Bevy, examples/ecs/change_detection.rs, 71 lines. Here: 45.
func Example_changeDetection() {
	type Value float64
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := sched.New(w, sched.Options{Rate: 2, Seed: 1})
	defer s.Close()
	values := vast.NewColumn[Value](w)
	all, tracker := w.Query(values), vast.NewTracker(w, values)
	w.Archetype(values).New()
	for range 2 {
		s.Add(sched.System{Name: "change", Writes: sched.Columns(values), Run: func(c *sched.Context) {
			for slot := range all.Slots() {
				v := Value(c.Tick() / 2)
				if c.Random(slot.Entity()).Chance(0.1) && *values.At(slot) != v {
					*values.EditAt(slot) = v
				}
			}
		}})
	}
	vast.SetResource(w, Value(0))
	resource := sched.Resources(sched.ResourceOf[Value]())
	s.Add(sched.System{Name: "change resource", WritesResources: resource, Run: func(c *sched.Context) {
		if c.RandomOf(0).Chance(0.1) {
			*vast.Resource[Value](w) = Value(c.Tick() / 2)
		}
	}})
	var last Value
	s.Add(sched.System{Name: "report", Reads: sched.Columns(values), ReadsResources: resource,
		Run: func(c *sched.Context) {
			for e := range tracker.Added(values) {
				fmt.Println("tick", c.Tick(), "added", *values.Get(e))
			}
			for e := range tracker.Changed(values) {
				fmt.Println("tick", c.Tick(), "changed to", *values.Get(e))
			}
			tracker.Next()
			if v := *vast.Resource[Value](w); v != last {
				fmt.Println("tick", c.Tick(), "resource changed to", v)
				last = v
			}
		}})
	if err := s.RunTicks(context.Background(), 16); err != nil {
		panic(err)
	}
	// Output:
	// tick 1 added 0
	// tick 3 changed to 1
	// tick 5 changed to 2
	// tick 6 resource changed to 3
	// tick 13 changed to 6
}

// An observer reacts when an entity loses a component. The original draws a picture and colors it; this
// program prints the color.
//
// Original: Bevy, examples/ecs/removal_detection.rs, 33 lines. Here: 24.
func Example_removalDetection() {
	type Color struct{ R, G, B float32 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := sched.New(w, sched.Options{Rate: 1})
	defer s.Close()
	color, mine := vast.NewColumn[Color](w), vast.NewTag(w, "Mine")
	w.Archetype(color, mine).New()
	s.Add(sched.System{Name: "remove", Run: func(c *sched.Context) {
		if e, ok := w.Query(mine).First(); ok && c.Tick() > 2 {
			mine.RemoveLater(c.Commands(), e)
		}
	}})
	o := observe.New(w)
	defer o.Close()
	o.Add(observe.Observer{Query: w.Query(mine), Left: func(e observe.Event) {
		color.Set(e.Entity, Color{0.5, 1, 1})
		fmt.Println("tick", e.Context.Tick(), *color.Get(e.Entity))
	}})
	s.Add(o.System("react"))
	if err := s.RunTicks(context.Background(), 5); err != nil {
		panic(err)
	}
	// Output: tick 3 {0.5 1 1}
}

// An attack on a piece of armor rises to its wearer, unless the armor blocks the attack. The original calls
// observers; here a system reads the attacks and follows the links.
//
// Original: Bevy, examples/ecs/observer_propagation.rs, 79 lines. Here: 48.
func Example_attackRises() {
	type Attack int
	type HitPoints int
	type Armor int
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := sched.New(w, sched.Options{Rate: 10})
	defer s.Close()
	points, armor, names := vast.NewColumn[HitPoints](w), vast.NewColumn[Armor](w), w.Names()
	childOf := vast.NewRelation(w, "ChildOf", vast.RelationOptions{OnDelete: vast.Cascade})
	attacks := event.New[Attack](s, event.Options{})
	goblin := w.Archetype(points).New()
	points.Set(goblin, 20)
	_, _ = names.Set(goblin, "goblin")
	var pieces []vast.Entity
	for i, name := range []string{"helmet", "socks", "shirt"} {
		e := w.Archetype(armor).New()
		armor.Set(e, Armor(5+5*i))
		childOf.Set(e, goblin)
		_, _ = names.Set(e, name)
		pieces = append(pieces, e)
	}
	s.Add(sched.System{Name: "attack", Rate: 5, WritesResources: sched.Resources(attacks),
		Run: func(c *sched.Context) {
			r := c.RandomOf(0)
			attacks.SendTo(c, pieces[r.Below(len(pieces))], Attack(1+r.Below(19)))
		}})
	r := attacks.NewReader()
	s.Add(sched.System{Name: "suffer", ReadsResources: sched.Resources(attacks),
		Reads: sched.Columns(armor, childOf, names), Writes: sched.Columns(points),
		Run: func(c *sched.Context) {
			for e, a := range r.Next(c) {
				for ok := true; ok && a > 0; e, ok = childOf.Target(e) {
					fmt.Println("attack for", a, "hits", names.Text(e))
					if p := armor.Get(e); p != nil {
						a -= Attack(*p)
					} else if *points.Get(e) -= HitPoints(a); *points.Get(e) <= 0 {
						fmt.Println(names.Text(e), "has died")
						c.Commands().Delete(e)
						c.Stop()
					}
				}
			}
		}})
	if err := s.RunTicks(context.Background(), 1000); err != nil {
		panic(err)
	}
	// Output:
	// attack for 7 hits helmet
	// attack for 2 hits goblin
	// attack for 15 hits socks
	// attack for 5 hits goblin
	// attack for 9 hits socks
	// attack for 7 hits helmet
	// attack for 2 hits goblin
	// attack for 1 hits shirt
	// attack for 19 hits socks
	// attack for 9 hits goblin
	// attack for 10 hits shirt
	// attack for 2 hits socks
	// attack for 17 hits shirt
	// attack for 2 hits goblin
	// goblin has died
}

// Entities target each other, in a circle. The program walks along the links, and then breaks the circle.
//
// Original: Bevy, examples/ecs/relationships.rs, 114 lines. Here: 44.
func Example_targeting() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	targeting, names := vast.NewRelation(w, "Targeting", vast.RelationOptions{Cyclic: true}), w.Names()
	person := map[string]vast.Entity{}
	for _, name := range []string{"Alice", "Bob", "Charlie", "James", "Devon"} {
		person[name] = w.Archetype().New()
		_, _ = names.Set(person[name], name)
	}
	targeting.Set(person["Bob"], person["Alice"])
	for _, source := range []string{"James", "Devon", "Alice"} {
		targeting.Set(person[source], person["Charlie"])
	}
	targeting.Set(person["Charlie"], person["Bob"])
	show := func() {
		for e := range w.Query(targeting).All() {
			target, _ := targeting.Target(e)
			fmt.Print(names.Text(e), " targets ", names.Text(target), ", targeted by:")
			for source := range targeting.Sources(e) {
				fmt.Print(" ", names.Text(source))
			}
			fmt.Println()
		}
	}
	circle := func() bool {
		for e := range w.Query(targeting).All() {
			seen := []vast.Entity{e}
			for target, ok := targeting.Target(e); ok; target, ok = targeting.Target(target) {
				if slices.Contains(seen, target) {
					fmt.Println("a circle from", names.Text(e), "to", names.Text(target))
					return true
				}
				seen = append(seen, target)
			}
		}
		return false
	}
	show()
	targeting.Set(person["Devon"], person["Alice"])
	fmt.Println("circle:", circle())
	targeting.Remove(person["Charlie"])
	show()
	fmt.Println("circle:", circle())
	// Output:
	// Alice targets Charlie, targeted by: Bob
	// Bob targets Alice, targeted by: Charlie
	// Charlie targets Bob, targeted by: James Devon Alice
	// James targets Charlie, targeted by:
	// Devon targets Charlie, targeted by:
	// a circle from Alice to Alice
	// circle: true
	// Alice targets Charlie, targeted by: Bob Devon
	// Bob targets Alice, targeted by:
	// James targets Charlie, targeted by:
	// Devon targets Alice, targeted by:
	// circle: false
}

// A click disables an entity: systems pass over it, until a key enables all entities. The original draws the
// entities; this program prints their names.
//
// Original: Bevy, examples/ecs/entity_disabling.rs, 103 lines. Here: 44.
func Example_disabling() {
	type Input struct {
		Clicked vast.Entity
		Space   bool
	}
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := sched.New(w, sched.Options{})
	defer s.Close()
	clickable, off, names := vast.NewTag(w, "Clickable"), vast.NewDisabled(w, "Off"), w.Names()
	input := vast.SetResource(w, Input{})
	for _, name := range []string{"annulus", "hexagon", "rhombus"} {
		_, _ = names.Set(w.Archetype(clickable).New(), name)
	}
	reading := sched.Resources(sched.ResourceOf[Input]())
	s.Add(sched.System{Name: "disable", ReadsResources: reading, Writes: sched.Columns(off),
		Run: func(*sched.Context) {
			if clickable.Has(input.Clicked) {
				off.Disable(input.Clicked)
			}
		}})
	s.Add(sched.System{Name: "enable", ReadsResources: reading, Writes: sched.Columns(off),
		If: func(*sched.Context) bool { return input.Space },
		Run: func(*sched.Context) {
			for slot := range w.Query(off).Slots() {
				off.EnableAt(slot)
			}
		}})
	s.Add(sched.System{Name: "list", Reads: sched.Columns(names, off), Run: func(*sched.Context) {
		var list []string
		for e := range w.Query(names).All() {
			list = append(list, names.Text(e))
		}
		slices.Sort(list)
		fmt.Println(strings.Join(list, ", "))
	}})
	hexagon, _ := names.Find("hexagon")
	for _, in := range []Input{{}, {Clicked: hexagon}, {}, {Space: true}} {
		*input = in
		if err := s.Tick(); err != nil {
			panic(err)
		}
	}
	// Output:
	// annulus, hexagon, rhombus
	// annulus, rhombus
	// annulus, rhombus
	// annulus, hexagon, rhombus
}

// The timer of an entity ends once, after 5 seconds. A countdown prints its progress every 4 seconds, until
// 20 seconds are over.
//
// Original: Bevy, examples/time/timers.rs, 55 lines. Here: 29.
func Example_timers() {
	type Timer struct{ Left float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := sched.New(w, sched.Options{Rate: 10, Workers: 1})
	defer s.Close()
	timers := vast.NewColumn[Timer](w)
	timers.Set(w.Archetype(timers).New(), Timer{5})
	s.Add(sched.System{Name: "finish", Writes: sched.Columns(timers), Run: func(c *sched.Context) {
		for slot := range w.Query(timers).Slots() {
			if timers.At(slot).Left -= c.Seconds(); timers.At(slot).Left < 1e-9 {
				fmt.Println("tick", c.Tick(), "the timer of an entity ends")
				timers.RemoveLater(c.Commands(), slot.Entity())
			}
		}
	}})
	const whole = 20
	s.Add(sched.System{Name: "countdown", Every: 4 * 10, Run: func(c *sched.Context) {
		if seconds := int(c.Elapsed().Seconds()); seconds < whole {
			fmt.Printf("tick %d the countdown is at %d%%\n", c.Tick(), 100*seconds/whole)
			return
		}
		fmt.Println("tick", c.Tick(), "the countdown ends")
		c.AfterTick(func(s *sched.Schedule) { s.Disable("countdown") })
	}})
	if err := s.RunTicks(context.Background(), 300); err != nil {
		panic(err)
	}
	// Output:
	// tick 40 the countdown is at 20%
	// tick 50 the timer of an entity ends
	// tick 80 the countdown is at 40%
	// tick 120 the countdown is at 60%
	// tick 160 the countdown is at 80%
	// tick 200 the countdown ends
}
