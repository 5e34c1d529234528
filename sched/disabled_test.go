package sched_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

// The system "burn" disables the ships that have no fuel left, on several workers. The system "move" obeys
// the tag "asleep" without naming it, so the schedule runs the two systems one after the other.
func ExampleSystem_disabled() {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	defer w.Close()
	pos, fuel := vast.NewColumn[position](w), vast.NewColumn[int32](w)
	asleep := vast.NewDisabled(w, "asleep")
	n := int32(0)
	w.Archetype(pos, fuel).NewN(10_000, func(run vast.Run) {
		for i := range run.Len() {
			fuel.Slice(run)[i] = n % 4
			n++
		}
	})
	flying := w.Query(pos, fuel)

	s := sched.New(w, sched.Options{Workers: 2})
	defer s.Close()
	s.Add(sched.System{
		Name: "burn", Writes: sched.Columns(fuel, asleep),
		Run: func(c *sched.Context) {
			c.Each(flying, 1024, func(_ *sched.Context, ships vast.Batch) {
				for ship := range ships.Slots() {
					if f := fuel.At(ship); *f == 0 {
						asleep.DisableAt(ship)
					} else {
						*f--
					}
				}
			})
		},
	})
	s.Add(sched.System{
		Name: "move", Writes: sched.Columns(pos),
		Run: func(*sched.Context) {
			for ship := range w.Query(pos).Slots() {
				pos.At(ship).X++
			}
		},
	})
	for range 3 {
		if err := s.Tick(); err != nil {
			fmt.Println(err)
		}
		fmt.Println(flying.Count(), "of", w.Len(), "ships fly")
	}
	// Output:
	// 7500 of 10000 ships fly
	// 5000 of 10000 ships fly
	// 2500 of 10000 ships fly
}

// TestDisabledOrders: a system that writes the tag of a Disabled runs beside no other system of its phase. A
// system that writes another tag may run beside other systems.
func TestDisabledOrders(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	defer w.Close()
	pos, off, tag := vast.NewColumn[position](w), vast.NewDisabled(w, "off"), vast.NewTag(w, "tag")
	s := sched.New(w, sched.Options{Workers: 2})
	defer s.Close()
	nothing := func(*sched.Context) {}
	s.Add(sched.System{Name: "other", Run: nothing})
	s.Add(sched.System{Name: "toggle", Writes: sched.Columns(off), Run: nothing})
	s.Add(sched.System{Name: "move", Writes: sched.Columns(pos), Run: nothing})
	s.Add(sched.System{Name: "mark", Writes: sched.Columns(tag), Run: nothing})
	s.Add(sched.System{Name: "look", Reads: sched.Columns(off), Run: nothing})
	if err := s.Build(); err != nil {
		t.Fatal(err)
	}
	var edges []string
	for _, e := range s.Graph().Edges {
		edges = append(edges, fmt.Sprint(e.From, " ", e.To, ": ", strings.Join(e.Why, ", ")))
	}
	slices.Sort(edges)
	want := []string{
		"other toggle: toggle writes off, which queries of other may obey",
		"toggle look: toggle writes off, look reads it",
		"toggle mark: toggle writes off, which queries of mark may obey",
		"toggle move: toggle writes off, which queries of move may obey",
	}
	if !slices.Equal(edges, want) {
		t.Errorf("the edges are\n%s\nwant\n%s", strings.Join(edges, "\n"), strings.Join(want, "\n"))
	}
}
