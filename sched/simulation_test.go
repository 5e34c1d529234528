package sched

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/vm"
)

// life returns a schedule with the systems a and b, the list of the calls of their functions, and the world.
// "startb0/3" in the list is a call of Start of b in tick 0, with three entities in the world. Start of a
// makes three entities. b stops the simulation in tick stopTick.
func life(t *testing.T, workers int, stopTick uint64) (s *Schedule, did *[]string, w *vast.World) {
	w, c := newWorld(t, 1)
	a := w.Archetype(c[0])
	s = newSchedule(t, w, Options{Workers: workers, Phases: []Phase{Update, "later"}})
	did = new([]string)
	note := func(what string) func(*Context) {
		return func(x *Context) { *did = append(*did, fmt.Sprint(what, x.Tick(), "/", w.Len())) }
	}
	s.Add(System{Name: "a", Phase: "later", Run: note("a"), End: note("enda"), Start: func(x *Context) {
		note("starta")(x)
		a.NewN(2, nil)
		x.Commands().New(a)
	}})
	s.Add(System{Name: "b", Start: note("startb"), End: func(x *Context) {
		note("endb")(x)
		x.Commands().New(a)
	}, Run: func(x *Context) {
		if note("b")(x); x.Tick() == stopTick {
			x.Split(8, func(x *Context, i int) {
				if i == 5 {
					x.Stop()
				}
			})
		}
	}})
	return s, did, w
}

func TestStartAndEnd(t *testing.T) {
	const (
		whole = "starta0/0 startb0/3 b1/3 a1/3 b2/3 a2/3 endb2/3 enda2/4"
		again = " starta0/0 startb0/3 b1/3 a1/3"
	)
	for _, workers := range []int{1, 4} {
		for name, run := range map[string]func(s *Schedule) error{
			"Run":      func(s *Schedule) error { return s.Run(t.Context()) },
			"RunTicks": func(s *Schedule) error { return s.RunTicks(t.Context(), math.MaxInt) },
			"Tick": func(s *Schedule) error {
				for !s.Stopped() {
					if err := s.Tick(); err != nil {
						return err
					}
				}
				return nil
			},
		} {
			s, did, w := life(t, workers, 2)
			for range 2 { // the second run finds the simulation stopped
				if err := run(s); err != nil {
					t.Fatal(name, err)
				}
			}
			if got := strings.Join(*did, " "); got != whole {
				t.Errorf("%s, %d workers: %s, want %s", name, workers, got, whole)
			}
			if st := s.Stats(); !s.Stopped() || s.Running() || st.Tick != 2 || st.Commands.Done != 2 {
				t.Errorf("%s: stopped %v, running %v, %+v", name, s.Stopped(), s.Running(), st)
			}
			if err := s.Reset(2); err != nil || s.Stopped() || s.Stats().Tick != 0 || s.Options().Seed != 2 {
				t.Errorf("%s: Reset gives %v, stopped %v, tick %d", name, err, s.Stopped(), s.Stats().Tick)
			}
			w.Reset()
			tick(t, s, 1)
			if got := strings.Join(*did, " "); got != whole+again {
				t.Errorf("%s after Reset: %s, want %s", name, got, whole+again)
			}
			for range 2 {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			if got, want := strings.Join(*did, " "), whole+again+" endb1/3 enda1/4"; got != want {
				t.Errorf("%s after Close: %s, want %s", name, got, want)
			}
		}
	}
}

func TestStopBeforeFirstTick(t *testing.T) {
	s, did, _ := life(t, 1, 2)
	s.Stop()
	tick(t, s, 2)
	if err := s.RunTicks(t.Context(), 5); err != nil {
		t.Error(err)
	}
	if err := s.Reset(1); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil || len(*did) != 0 {
		t.Errorf("Close: %v; calls %v, want none", err, *did)
	}
}

func TestSystemAddedBetweenTicksStarts(t *testing.T) {
	s, did, _ := life(t, 1, 9)
	tick(t, s, 1)
	s.Add(System{Name: "c", Run: nothing, Start: func(x *Context) {
		*did = append(*did, fmt.Sprint("startc", x.Tick()))
	}})
	*did = (*did)[:0]
	tick(t, s, 1)
	if got := strings.Join(*did, " "); got != "startc1 b2/3 a2/3" {
		t.Errorf("calls %s", got)
	}
}

func TestResetRepeats(t *testing.T) {
	w, c := newWorld(t, 1)
	a := w.Archetype(c[0])
	s := newSchedule(t, w, Options{Workers: 2, Seed: 7})
	draw := func(x *Context) {
		for e := range w.Query(c[0]).All() {
			r := x.RandomOf(uint64(e.Slot())) // not Random(e): World.Reset continues the generations
			*c[0].Get(e) = *c[0].Get(e)*31 + r.Uint64()
		}
	}
	s.Add(System{Name: "draw", Writes: Columns(c[0]), Run: draw, Start: func(x *Context) {
		a.NewN(100, nil)
		draw(x)
	}})
	var hashes []uint64
	for _, seed := range []uint64{7, 8, 7} {
		if seed != s.Options().Seed {
			if err := s.Reset(seed); err != nil {
				t.Fatal(err)
			}
			w.Reset()
		}
		if err := s.RunTicks(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		sum := uint64(0)
		for e := range w.Query(c[0]).All() {
			sum = sum*31 + *c[0].Get(e)
		}
		hashes = append(hashes, sum)
	}
	if hashes[0] != hashes[2] || hashes[0] == hashes[1] {
		t.Errorf("the hashes with seeds 7, 8 and 7 are %x", hashes)
	}
	s.Stats()
	tick(t, s, 2)
	if count, _ := s.Recent(0, nil); count != 11 || s.Stats().Tick != 5 {
		t.Errorf("%d ticks since New, the last is number %d", count, s.Stats().Tick)
	}
}

func TestRandomAndGenerations(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	s := New(w, Options{})
	defer s.Close()
	var ofEntity, ofSlot []uint64
	s.Add(System{Name: "replace", Exclusive: true, Run: func(c *Context) {
		for range 2 {
			e := w.Archetype().New()
			r, again, slot := c.Random(e), c.Random(e), c.RandomOf(uint64(e.Slot()))
			first := r.Uint64()
			if first != again.Uint64() {
				t.Error("a second stream of the same entity differs")
			}
			ofEntity, ofSlot = append(ofEntity, first), append(ofSlot, slot.Uint64())
			w.Delete(e)
		}
	}})
	for range 2 {
		if err := s.Reset(5); err != nil {
			t.Fatal(err)
		}
		w.Reset()
		if err := s.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	for i, a := range ofEntity {
		if slices.Index(ofEntity, a) != i {
			t.Errorf("entities of one slot share random numbers: %v", ofEntity)
		}
	}
	if len(ofSlot) != 4 || len(slices.Compact(ofSlot)) != 1 {
		t.Errorf("the random numbers of the slot are %v", ofSlot)
	}
}

func TestStartFails(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 128})
	defer w.Close()
	a := w.Archetype(vast.NewColumn[uint64](w))
	s := New(w, Options{Workers: 1})
	starts, ran := 0, 0
	s.Add(System{Name: "full", Run: func(*Context) { ran++ }, Start: func(x *Context) {
		if starts++; starts == 1 {
			x.Commands().New(a)
			panic("a bug")
		}
		for range 200 {
			x.Commands().New(a)
		}
	}})
	var e *PanicError
	if err := s.Tick(); !errors.As(err, &e) || e.System != "full" || ran != 0 || w.Len() != 0 {
		t.Errorf("%v, ran %d times, %d entities", err, ran, w.Len())
	}
	for range 2 {
		if err := s.Tick(); !errors.Is(err, vm.ErrCapacity) || starts != 2 || ran != 0 {
			t.Errorf("%v, started %d times (want 2), ran %d times (want 0)", err, starts, ran)
		}
	}
	w.DeleteAll(w.Query())
	if err := s.Tick(); err != nil || starts != 2 || ran != 1 || s.Stats().Tick != 1 {
		t.Errorf("%v, started %d times (want 2), ran %d times (want 1)", err, starts, ran)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestEndFails(t *testing.T) {
	for _, how := range []string{"Tick", "Reset", "Close"} {
		w := vast.NewWorld(vast.Options{MaxEntities: 128})
		a := w.Archetype(vast.NewColumn[uint64](w))
		s := New(w, Options{Workers: 1})
		var ended []string
		for _, name := range []string{"fine", "full", "bad"} {
			s.Add(System{Name: name, Run: nothing, End: func(x *Context) {
				ended = append(ended, name)
				switch name {
				case "bad":
					panic("a bug")
				case "full":
					for range 200 {
						x.Commands().New(a)
					}
				}
			}})
		}
		tick(t, s, 1)
		var errs []error
		switch how {
		case "Tick":
			s.Stop()
			errs = append(errs, s.Tick(), s.Tick())
			w.DeleteAll(w.Query())
			tick(t, s, 1)
		case "Reset":
			errs = append(errs, s.Reset(0))
		case "Close":
			errs = append(errs, s.Close())
		}
		err := errors.Join(errs...)
		var e *PanicError
		if !errors.As(err, &e) || e.System != "bad" || !errors.Is(err, vm.ErrCapacity) ||
			!slices.Equal(ended, []string{"bad", "full", "fine"}) {
			t.Errorf("%s: %v, ended %v", how, err, ended)
		}
		if err := s.Close(); err != nil || len(ended) != 3 {
			t.Errorf("%s: Close gives %v, ended %v", how, err, ended)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestResetDropsCommands(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 128})
	defer w.Close()
	a := w.Archetype(vast.NewColumn[uint64](w))
	s := newSchedule(t, w, Options{Workers: 1})
	n, ran := 200, 0
	s.Add(System{Name: "make", Run: func(x *Context) {
		for range n {
			x.Commands().New(a)
		}
	}})
	s.Add(System{Name: "next", Phase: "next", Run: func(*Context) { ran++ }})
	if err := s.Tick(); !errors.Is(err, vm.ErrCapacity) {
		t.Fatal(err)
	}
	if err := s.Reset(0); err != nil {
		t.Fatal(err)
	}
	w.Reset()
	n = 5
	tick(t, s, 1)
	if w.Len() != 5 || ran != 1 || s.Stats().Tick != 1 {
		t.Errorf("%d entities, the next phase ran %d times, tick %d", w.Len(), ran, s.Stats().Tick)
	}
}

func TestRunTicks(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	var s *Schedule
	s, clock := loopOf(t, func(tick uint64, _ *fakeClock) {
		if st := s.Stats(); !s.Running() || st.Budget != 0 {
			t.Errorf("running %v, budget %v", s.Running(), st.Budget)
		}
		switch tick {
		case 4:
			s.Pause()
		case 12:
			stop()
		}
	})
	var paused []uint64
	clock.asleep = func() {
		if paused = append(paused, s.Stats().Tick); len(paused) == 1 {
			s.Step(2)
		} else {
			s.Resume()
		}
	}
	if err := s.RunTicks(ctx, 10); err != nil || s.Stats().Tick != 10 ||
		!slices.Equal(paused, []uint64{4, 6}) {
		t.Errorf("%v after tick %d, paused after %v", err, s.Stats().Tick, paused)
	}
	if err := s.RunTicks(ctx, 10); !errors.Is(err, context.Canceled) || s.Stats().Tick != 12 {
		t.Errorf("%v after tick %d", err, s.Stats().Tick)
	}
	if err := s.RunTicks(ctx, 0); err != nil || s.Stats().Tick != 12 || len(clock.waits) != 0 {
		t.Errorf("%v after tick %d, waited %v", err, s.Stats().Tick, clock.waits)
	}
	mustPanic(t, "RunTicks(-1)", func() { s.RunTicks(ctx, -1) })
}

func TestStopWhilePaused(t *testing.T) {
	for _, run := range []func(*Schedule) error{
		func(s *Schedule) error { return s.Run(context.Background()) },
		func(s *Schedule) error { return s.RunTicks(context.Background(), 100) },
	} {
		s, clock := loopOf(t, func(uint64, *fakeClock) {})
		ended := 0
		s.Add(System{Name: "end", Run: func(x *Context) {
			if x.Tick() == 3 {
				s.Pause()
			}
		}, End: func(*Context) { ended++ }})
		clock.asleep = func() { s.Stop() }
		if err := run(s); err != nil || ended != 1 || s.Stats().Tick != 3 {
			t.Errorf("%v, ended %d times after tick %d", err, ended, s.Stats().Tick)
		}
	}
}

func TestSystemsOfOneName(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1})
	drawn := make(map[uint64]string)
	draw := func(x *Context) {
		r := x.RandomOf(1)
		drawn[r.Uint64()] = x.System()
	}
	s.Add(System{Name: "last", After: []string{"move"}, Run: draw})
	s.Add(System{Name: "move 3", Run: draw})
	for range 3 {
		s.Add(System{Name: "move", Run: draw, After: []string{"first"}})
	}
	s.Add(System{Name: "first", Run: draw})
	s.Add(System{Name: "early", Before: []string{"move 2"}, Run: draw})
	if got := order(t, s); got != "move 3 first move move 4 early move 2 last" {
		t.Errorf("order %s", got)
	}
	tick(t, s, 1)
	if len(drawn) != 7 {
		t.Errorf("drew %v", drawn)
	}
	s.Add(System{Name: "move", After: []string{"move"}, Run: nothing})
	if err := s.Build(); err != nil {
		t.Errorf("after its namesakes: %v", err)
	}
	s.Add(System{Name: "move", After: []string{"move"}, Run: nothing})
	var e *OrderError
	if err := s.Build(); !errors.As(err, &e) ||
		!slices.Equal(e.Systems, []string{"move 5", "move 6", "move 5"}) {
		t.Errorf("two systems that both come last: %v", err)
	}
}

func TestMeasuringBegins(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1})
	s.Add(System{Name: "a", Run: nothing})
	s.Add(System{Name: "b", Every: 2, Run: nothing})
	wait := s.Record(1)
	tick(t, s, 2)
	if r, err := wait(t.Context()); err != nil || len(r[0].Spans) != 1 || r[0].Took <= 0 {
		t.Errorf("%v, recorded %+v", err, r)
	}
	st := s.Stats()
	if st.Tick != 2 || st.Ticks != (Times{}) || st.Systems[1].Times != (Times{}) ||
		s.counters.ticks.total != 0 {
		t.Errorf("times before the first call of Stats: %+v", st)
	}
	s.Add(System{Name: "c", Run: nothing})
	tick(t, s, 3)
	st = s.Stats()
	count, times := s.Recent(1, nil)
	if st.Tick != 5 || st.Ticks.Count != 3 || count != 5 || len(times) != 3 ||
		st.Systems[0].Times.Count != 3 || st.Systems[1].Times.Count != 1 ||
		st.Systems[2].Times.Count != 3 {
		t.Errorf("%d ticks, times %v, %+v", count, times, st)
	}
}
