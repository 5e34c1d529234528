package sched

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

func hash(w *vast.World, c []vast.Column[uint64]) uint64 {
	h := fnv.New64a()
	for e := range w.Query().All() {
		fmt.Fprint(h, e.Slot(), e.Generation())
		for _, col := range c {
			if p := col.Get(e); p != nil {
				fmt.Fprint(h, " ", *p)
			}
			fmt.Fprint(h, ",")
		}
	}
	return h.Sum64()
}

// randomSchedule runs a random schedule over a random world and returns the world's hash. The seed determines
// the schedule and the world.
func randomSchedule(t *testing.T, seed uint64, workers int) uint64 {
	r := rand.New(rand.NewPCG(seed, 1))
	w, c := newWorld(t, 6)
	s := newSchedule(t, w, Options{Workers: workers, Seed: seed, Phases: []Phase{"one", "two"}})
	born := w.Archetype(c[0], c[1])
	born.NewN(3000, nil)
	w.Archetype(c[1], c[2], c[3]).NewN(700, nil)
	for i := range 12 {
		from, to := c[r.IntN(len(c))], c[r.IntN(len(c))]
		q := w.Query(to)
		size, odds := 64+r.IntN(500), 1+r.IntN(8)
		one := func(c *Context, b vast.Batch) {
			for e := range b.All() {
				random := c.Random(e)
				v := to.Get(e)
				*v = *v*3 + random.Uint64()
				if p := from.Get(e); p != nil {
					*v += *p
				}
				switch random.Below(odds * 8) {
				case 0:
					c.Commands().Delete(e)
				case 1:
					made := c.Commands().New(born)
					to.AddLater(c.Commands(), made, *v)
				case 2:
					from.AddLater(c.Commands(), e, *v)
				case 3:
					to.RemoveLater(c.Commands(), e)
				}
			}
		}
		sys := System{
			Name: fmt.Sprint("system ", i), Phase: []Phase{"one", "two"}[r.IntN(2)], Reads: Columns(from),
			Writes: Columns(to),
			Run: func(c *Context) {
				to.AddLater(c.Commands(), c.Commands().New(born), 5)
				c.Each(q, size, one)
				total := Reduce(c, q, size, func(_ *Context, b vast.Batch) uint64 { return uint64(b.Len()) },
					func(a, b uint64) uint64 { return a + b })
				to.AddLater(c.Commands(), c.Commands().New(born), total)
			},
		}
		switch r.IntN(6) {
		case 0:
			sys.Every = 2
		case 1:
			sys.Exclusive = true
			run := sys.Run
			sys.Run = func(c *Context) {
				run(c)
				*to.Add(born.New(), c.Tick()) += uint64(w.Len())
			}
		}
		s.Add(sys)
	}
	tick(t, s, 6)
	if st := s.Stats(); st.Commands.Done == 0 || st.Tick != 6 {
		t.Errorf("seed %d: %+v", seed, st)
	}
	return hash(w, c)
}

func TestSameForAnyNumberOfWorkers(t *testing.T) {
	first := rand.Uint64()
	for seed := first; seed < first+4; seed++ {
		want := randomSchedule(t, seed, 1)
		for _, workers := range []int{2, 3, 8} {
			if got := randomSchedule(t, seed, workers); got != want {
				t.Errorf("seed %d: %x with one worker, %x with %d", seed, want, got, workers)
			}
		}
	}
	if randomSchedule(t, 1, 1) == randomSchedule(t, 2, 1) {
		t.Error("the hash does not depend on the world")
	}
}

func TestCommandsOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		w, c := newWorld(t, 2)
		w.Archetype(c[0]).NewN(640, nil)
		made := w.Archetype(c[1])
		q := w.Query(c[0])
		s := newSchedule(t, w, Options{Workers: workers})
		for i, name := range []string{"late", "early", "free"} {
			// Slots are assigned in ascending order, so the query returns the values in the order of
			// creation.
			note := func(c0 *vast.Commands, n int) { c[1].AddLater(c0, c0.New(made), uint64(i*100+n)) }
			sys := System{Name: name, Run: func(x *Context) {
				first := x.Commands()
				note(first, 0)
				x.Each(q, 64, func(x *Context, b vast.Batch) { note(x.Commands(), x.sequence) })
				note(first, 50)
				x.Each(q, 320, func(x *Context, b vast.Batch) { note(x.Commands(), 50+x.sequence) })
			}}
			if name == "early" {
				sys.Before = []string{"late"}
			}
			s.Add(sys)
		}
		tick(t, s, 1)
		var got []uint64
		for e := range w.Query(c[1]).All() {
			got = append(got, *c[1].Get(e))
		}
		var want []uint64
		for _, i := range []uint64{1, 0, 2} {
			for _, n := range []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 50, 62, 63} {
				want = append(want, i*100+n)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: made %v, want %v", workers, got, want)
		}
	}
}

func TestSkippedAreCounted(t *testing.T) {
	w, c := newWorld(t, 1)
	e := w.Archetype(c[0]).New()
	s := newSchedule(t, w, Options{Workers: 1})
	s.Add(System{Name: "delete", Run: func(x *Context) { x.Commands().Delete(e) }})
	tick(t, s, 3)
	if got := s.Stats().Commands; got != (vast.Applied{Done: 1, Skipped: 2}) {
		t.Errorf("%+v", got)
	}
}

func TestPhaseSeesCommandsOfPreviousPhase(t *testing.T) {
	w, c := newWorld(t, 1)
	s := newSchedule(t, w, Options{Workers: 2})
	a := w.Archetype(c[0])
	var seen []int
	see := func(*Context) { seen = append(seen, w.Len()) }
	s.Add(System{Name: "make", Run: func(c *Context) { c.Commands().New(a) }})
	s.Add(System{Name: "same phase", After: []string{"make"}, Run: see})
	s.Add(System{Name: "exclusive", Exclusive: true, Run: func(c *Context) {
		see(c)
		a.New()
		c.Commands().New(a)
	}})
	s.Add(System{Name: "after exclusive", Run: see})
	s.Add(System{Name: "next phase", Phase: "next", Run: see})
	tick(t, s, 1)
	if want := []int{0, 1, 3, 3}; !slices.Equal(seen, want) {
		t.Errorf("saw %v, want %v", seen, want)
	}
}

func TestConditions(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1, Rate: 50, Seed: 9})
	var ran []string
	note := func(c *Context) {
		ran = append(ran, fmt.Sprint(c.System(), c.Tick()))
		if c.Delta().Milliseconds() != 20 || c.Seconds() != 0.02 || c.Seed() != 9 || c.World() != w {
			t.Errorf("%v %v %v", c.Delta(), c.Seconds(), c.Seed())
		}
	}
	in := func(n uint64) func(*Context) bool { return func(c *Context) bool { return c.Tick()%n == 0 } }
	s.Add(System{Name: "a", If: in(2), Run: note})
	s.Add(System{Name: "b", If: Not(in(3)), Run: note})
	s.Stats() // begins to measure
	tick(t, s, 4)
	if got := strings.Join(ran, " "); got != "b1 a2 b2 a4 b4" {
		t.Errorf("ran %s", got)
	}
	st := s.Stats()
	if st.Systems[0].Times.Count != 2 || st.Systems[1].Times.Count != 3 || st.Ticks.Count != 4 ||
		st.Ticks.Max < st.Ticks.P50 {
		t.Errorf("%+v", st)
	}
}

func TestTickContinuesAfterExhaustion(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 128})
	defer w.Close()
	col := vast.NewColumn[uint64](w)
	a := w.Archetype(col)
	a.NewN(120, nil)
	s := newSchedule(t, w, Options{Workers: 2})
	ran := 0
	s.Add(System{Name: "make", Run: func(c *Context) {
		for i := range 20 {
			col.AddLater(c.Commands(), c.Commands().New(a), uint64(i+1))
		}
	}})
	s.Add(System{Name: "count", Phase: "next", Run: func(*Context) { ran++ }})
	for range 2 {
		var e *vm.Error
		if err := s.Tick(); !errors.As(err, &e) || !errors.Is(err, vm.ErrCapacity) || ran != 0 ||
			w.Len() != 128 {
			t.Fatalf("%v, %d entities, the next phase ran %d times", err, w.Len(), ran)
		}
	}
	for e := range w.Query().All() {
		if *col.Get(e) == 0 {
			w.Delete(e)
			break
		}
	}
	if err := s.Tick(); err == nil || ran != 0 || w.Len() != 128 {
		t.Fatalf("%v, %d entities, the next phase ran %d times", err, w.Len(), ran)
	}
	w.DeleteAll(w.Query())
	if err := s.Tick(); err != nil || ran != 1 || w.Len() != 11 || s.Stats().Tick != 1 {
		t.Fatalf("%v, %d entities, the next phase ran %d times, tick %d", err, w.Len(), ran, s.Stats().Tick)
	}
	if got := s.Stats().Commands.Done; got < 20 {
		t.Errorf("only %d commands are done", got)
	}
}

func TestDropCommands(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	a := w.Archetype(vast.NewColumn[uint64](w))
	s := newSchedule(t, w, Options{Workers: 2})
	reaped := 0
	s.Add(System{Name: "make", Every: 2, Run: func(c *Context) {
		for range 100 {
			c.Commands().New(a)
		}
	}})
	s.Add(System{Name: "reap", Phase: "next", Run: func(c *Context) {
		for e := range w.Query().All() {
			c.Commands().Delete(e)
			reaped++
		}
	}})
	for range 2 {
		for tries := 0; ; tries++ {
			err := s.Tick()
			if err == nil {
				break
			}
			if tries > 1 || !errors.Is(err, vm.ErrCapacity) {
				t.Fatal(err)
			}
			if err := s.DropCommands(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if w.Len() != 0 || reaped != 64 || s.Stats().Tick != 2 {
		t.Errorf("%d entities, %d were deleted in %d ticks", w.Len(), reaped, s.Stats().Tick)
	}
	s.Add(System{Name: "drop", Exclusive: true, Run: func(*Context) { _ = s.DropCommands() }})
	if err := s.Tick(); err == nil ||
		!strings.Contains(err.Error(), "Schedule.DropCommands while the schedule is at work") {
		t.Errorf("dropping commands in a system gave %v", err)
	}
}

func TestNoRoomToRecord(t *testing.T) {
	w, c := newWorld(t, 1)
	a := w.Archetype(c[0])
	s := newSchedule(t, w, Options{Workers: 2, Commands: vast.CommandsOptions{Bytes: 1 << 10}})
	n := 1 << 10
	s.Add(System{Name: "make", Run: func(x *Context) {
		for range n {
			x.Commands().New(a)
		}
	}})
	var full *vm.Error
	var e *PanicError
	if err := s.Tick(); !errors.As(err, &full) || !errors.Is(err, vm.ErrCapacity) || !errors.As(err, &e) ||
		e.System != "make" {
		t.Errorf("%v", err)
	}
	n = 10
	tick(t, s, 1)
	if w.Len() != 10 {
		t.Errorf("%d entities", w.Len())
	}
}

func TestStructureChangedDirectly(t *testing.T) {
	w, c := newWorld(t, 1)
	a := w.Archetype(c[0])
	for _, workers := range []int{1, 2} {
		s := newSchedule(t, w, Options{Workers: workers})
		bad := true
		s.Add(System{Name: "bad", Run: func(*Context) {
			if bad {
				a.New()
			}
		}})
		ran := 0
		s.Add(System{Name: "after", After: []string{"bad"}, Run: func(*Context) { ran++ }})
		var e *StructureError
		if err := s.Tick(); !errors.As(err, &e) || !slices.Equal(e.Systems, []string{"bad"}) || ran != 0 {
			t.Errorf("%v, ran %d", err, ran)
		}
		bad = false
		tick(t, s, 1)
		if ran != 1 {
			t.Errorf("ran %d", ran)
		}
	}
}

func TestAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the checks of this build allocate")
	}
	for _, workers := range []int{1, 2} {
		w, c := newWorld(t, 3)
		w.Archetype(c[0], c[1]).NewN(5000, nil)
		s := newSchedule(t, w, Options{Workers: workers})
		q := w.Query(c[0], c[1])
		one := func(x *Context, b vast.Batch) {
			for e := range b.All() {
				r := x.Random(e)
				if r.Chance(0.01) {
					c[0].SetLater(x.Commands(), e, r.Uint64())
				}
			}
		}
		count := func(_ *Context, b vast.Batch) int { return b.Len() }
		add := func(a, b int) int { return a + b }
		m := NewState(s, menu)
		s.ConfigureSet("menu", SetOptions{If: m.In(playing, menu)})
		for i := range 4 {
			sys := System{Name: fmt.Sprint(i), Writes: Columns(c[i%2]), Rate: 60 - i/3, Sets: []Set{"menu"}}
			sys.Run = func(x *Context) {
				x.Each(q, 256, one)
				if n := Reduce(x, q, 256, count, add); n != 5000 {
					panic(n)
				}
			}
			s.Add(sys)
		}
		for _, measured := range []bool{false, true} {
			if measured {
				s.Stats()
			}
			tick(t, s, 50)
			if n := testing.AllocsPerRun(50, func() { tick(t, s, 1) }); n != 0 {
				t.Errorf("%d workers, measured %v: %v allocations a tick", workers, measured, n)
			}
		}
	}
}
