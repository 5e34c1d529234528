package sched

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

func TestRunOnceInSystem(t *testing.T) {
	for _, workers := range []int{1, 4} {
		w, c := newWorld(t, 1)
		a := w.Archetype(c[0])
		s := newSchedule(t, w, Options{Workers: workers, Phases: []Phase{Update, "late"}})
		var did []string
		note := func(c *Context) { did = append(did, fmt.Sprint(c.System(), "/", w.Len())) }
		once := func(name string) System {
			return System{Name: name, Run: func(x *Context) {
				note(x)
				x.Commands().New(a)
				if name == "1.2" {
					x.RunOnce(System{Name: "nested", Run: note})
				}
			}}
		}
		s.Add(System{Name: "last", After: []string{"ask"}, Run: func(c *Context) { c.RunOnce(once("last")) }})
		s.Add(System{Name: "ask", Run: func(c *Context) {
			c.Split(4, func(c *Context, i int) { c.RunOnce(once(fmt.Sprint("1.", i))) })
			c.Commands().New(a)
			c.RunOnce(once("2"))
			c.RunOnce(System{Name: "skipped", Run: note, If: func(*Context) bool { return false }})
		}})
		s.Add(System{Name: "late", Phase: "late", Run: note, WritesResources: Resources(ResourceOf[int]())})
		tick(t, s, 1)
		want := []string{"1.0/1", "1.1/2", "1.2/3", "1.3/4", "2/5", "last/6", "nested/7", "late/7"}
		if !slices.Equal(did, want) {
			t.Errorf("%d workers: %q, want %q", workers, did, want)
		}
	}
}

func TestRunOnceBetweenTicks(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	col := vast.NewColumn[uint64](w)
	a := w.Archetype(col)
	s := New(w, Options{Workers: 2})
	defer s.Close()
	k := new(eventKeeper)
	var did []string
	note := func(c *Context) {
		r := c.RandomOf(1)
		did = append(did, fmt.Sprint(c.System(), c.Tick(), "/", r.Below(1000)))
	}
	s.Add(System{Name: "a", Run: func(*Context) { did = append(did, "a") }})
	(schedules{}).Keep(s, k, nil)
	for range 2 {
		if err := s.RunOnce(System{Name: "b", Writes: Columns(col), Run: note}); err != nil {
			t.Fatal(err)
		}
	}
	tick(t, s, 1)
	if len(did) != 3 || did[0] == did[1] || !strings.HasPrefix(did[1], "b0/") || did[2] != "a" {
		t.Errorf("%q", did)
	}
	if got := strings.Join(k.events, ", "); got != "writes [0] false, writes [0] false, begin, end" {
		t.Errorf("the store gets %s", got)
	}
	fill := func(n int) error {
		return s.RunOnce(System{Name: "fill", Run: func(c *Context) {
			for range n {
				c.Commands().New(a)
			}
			c.AfterTick(func(*Schedule) { did = append(did, "after") })
		}})
	}
	did = did[:0]
	if err := fill(70); !errors.Is(err, vm.ErrCapacity) || w.Len() != 64 {
		t.Errorf("%v, %d entities", err, w.Len())
	}
	if err := s.Tick(); !errors.Is(err, vm.ErrCapacity) || s.Stats().Tick != 1 || len(did) != 0 {
		t.Errorf("%v after tick %d, %q", err, s.Stats().Tick, did)
	}
	w.DeleteAll(w.Query())
	tick(t, s, 1)
	if got := strings.Join(did, " "); w.Len() != 6 || got != "a after" {
		t.Errorf("%d entities, %s", w.Len(), got)
	}
	var e *PanicError
	if err := s.RunOnce(System{Name: "bad", Run: func(c *Context) {
		c.Commands().New(a)
		panic("a bug")
	}}); !errors.As(err, &e) || e.System != "bad" {
		t.Errorf("%v", err)
	}
	tick(t, s, 1)
	if w.Len() != 6 {
		t.Errorf("%d entities after a system that panicked", w.Len())
	}
	mustPanic(t, "leave them out", func() { _ = s.RunOnce(System{Name: "x", Every: 2, Run: nothing}) })
	mustPanic(t, "Schedule.RunOnce: a system needs a name", func() { _ = s.RunOnce(System{Run: nothing}) })
	s.Add(System{Name: "inside", Run: func(*Context) { _ = s.RunOnce(System{Name: "x", Run: nothing}) }})
	if err := s.Tick(); err == nil || !strings.Contains(err.Error(), "while the schedule is at work") {
		t.Errorf("RunOnce in a system: %v", err)
	}
}

// TestOneShotsOfFailedTick: after a panic, no other one-shot system of the tick runs. If commands cannot be
// applied, the other one-shot systems run when the next Tick continues the tick.
func TestOneShotsOfFailedTick(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	a := w.Archetype(vast.NewColumn[uint64](w))
	s := New(w, Options{Workers: 2})
	defer s.Close()
	var did []string
	fail := "panic"
	once := func(c *Context, name string) {
		c.RunOnce(System{Name: name, Run: func(c *Context) {
			did = append(did, name)
			if name == fail {
				panic("a bug")
			}
			if name == "full" {
				for range 70 {
					c.Commands().New(a)
				}
			}
			c.AfterTick(func(*Schedule) { did = append(did, "after "+name) })
		}})
	}
	s.Add(System{Name: "ask", Run: func(c *Context) {
		for _, name := range []string{"ok", "panic", "full", "last"} {
			once(c, name)
		}
	}})
	s.Add(System{Name: "next", Phase: "next", Run: func(*Context) { did = append(did, "next") }})
	var e *PanicError
	if err := s.Tick(); !errors.As(err, &e) || e.System != "panic" {
		t.Errorf("%v", err)
	}
	fail = ""
	if err := s.Tick(); !errors.Is(err, vm.ErrCapacity) {
		t.Errorf("%v", err)
	}
	w.DeleteAll(w.Query())
	if err := s.Tick(); err != nil || s.Stats().Tick != 2 {
		t.Errorf("%v in tick %d", err, s.Stats().Tick)
	}
	want := []string{"ok", "panic", "after ok",
		"ok", "panic", "full", "last", "next", "after ok", "after panic", "after full", "after last"}
	if !slices.Equal(did, want) {
		t.Errorf("%q, want %q", did, want)
	}
	if err := s.Reset(0); err != nil {
		t.Error(err)
	}
}

func TestOneShotDeclares(t *testing.T) {
	w, c := newWorld(t, 1)
	a := w.Archetype(c[0])
	e := a.New()
	s := newSchedule(t, w, Options{Workers: 1})
	err := s.RunOnce(System{Name: "change", Run: func(*Context) { a.New() }})
	var structure *StructureError
	if !errors.As(err, &structure) || structure.Systems[0] != "change" {
		t.Errorf("%v", err)
	}
	err = s.RunOnce(System{Name: "read", Run: func(*Context) { *c[0].Get(e)++ }})
	if wrong := new(AccessError); invariants.Enabled && (!errors.As(err, &wrong) || wrong.System != "read") {
		t.Errorf("%v", err)
	}
	if err := s.RunOnce(System{Name: "alone", Exclusive: true, Run: func(*Context) { a.New() }}); err != nil {
		t.Error(err)
	}
}

func TestAfterTick(t *testing.T) {
	for _, workers := range []int{1, 4} {
		w, _ := newWorld(t, 0)
		s := newSchedule(t, w, Options{Workers: workers})
		k := new(eventKeeper)
		(schedules{}).Keep(s, k, nil)
		m := NewState(s, menu)
		var did []string
		note := func(c *Context) { did = append(did, fmt.Sprint(c.System(), c.Tick())) }
		s.Add(System{Name: "second", After: []string{"first"}, Run: func(c *Context) {
			if c.Tick() != 2 {
				return
			}
			c.AfterTick(func(s *Schedule) {
				if err := s.Remove("removed"); err != nil {
					t.Error(err)
				}
				if err := s.Build(); err != nil {
					t.Error(err)
				}
			})
			c.AfterTick(func(*Schedule) { panic("a bug") })
			c.AfterTick(func(s *Schedule) { m.SetBetween(over) })
		}})
		s.Add(System{Name: "first", Run: func(c *Context) {
			if c.Tick() == 1 {
				c.AfterTick(func(s *Schedule) {
					s.Add(System{Name: "added", Run: note, Start: note, Exclusive: true})
					s.ConfigureSet("new", SetOptions{If: m.In(over)})
					s.Add(System{Name: "switched", Run: note, Sets: []Set{"new"}, Exclusive: true})
				})
			}
		}})
		s.Add(System{Name: "removed", Run: note, Exclusive: true, End: func(c *Context) {
			note(c)
			c.AfterTick(func(*Schedule) { did = append(did, "after end") })
		}})
		s.Add(System{Name: "stays", After: []string{"removed"}, Run: nothing})
		if err := s.RunTicks(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		var e *PanicError
		if err := s.RunTicks(t.Context(), 2); !errors.As(err, &e) || e.System != "second" {
			t.Errorf("%v", err)
		}
		tick(t, s, 1)
		want := "removed1 added1 removed2 added2 removed2 after end added3 switched3"
		if got := strings.Join(did, " "); got != want {
			t.Errorf("%d workers: %s, want %s", workers, got, want)
		}
		if slices.Contains(k.events, "changed") {
			t.Errorf("the store gets %q", k.events)
		}
	}
}

func TestRemove(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	a := w.Archetype(vast.NewColumn[uint64](w))
	s := New(w, Options{Workers: 1})
	k := new(eventKeeper)
	(schedules{}).Keep(s, k, nil)
	var did []string
	note := func(what string) func(*Context) {
		return func(c *Context) { did = append(did, what+c.System()) }
	}
	for _, name := range []string{"move", "move", "draw", "grow"} {
		s.Add(System{Name: name, Sets: []Set{Set("set of " + name)}, Run: note(""), End: note("end ")})
	}
	s.Add(System{Name: "fill", Run: note(""), Phase: "late", End: func(c *Context) {
		for range 70 {
			c.Commands().New(a)
		}
	}})
	s.Add(System{Name: "bad", Run: note(""), After: []string{"move", "set of grow"}, End: func(*Context) {
		panic("a bug")
	}})
	if err := s.Remove("draw"); err != nil { // it has not started
		t.Error(err)
	}
	if len(k.events) != 0 {
		t.Errorf("before the first tick, the store gets %q", k.events)
	}
	check := func(want string, err error, is error) {
		t.Helper()
		if got := strings.Join(did, " "); got != want || !errors.Is(err, is) {
			t.Errorf("%s, want %s; error %v", got, want, err)
		}
		did = did[:0]
	}
	check("move move 2 grow bad fill", s.Tick(), nil)
	check("end move 2 end move", s.Remove("move"), nil)
	check("end grow", s.Remove("set of grow"), nil)
	check("", s.Remove("grow"), nil)
	if !slices.Contains(k.events, "changed") {
		t.Errorf("the store gets %q", k.events)
	}
	check("bad fill", s.Tick(), nil)
	check("", s.Remove("fill"), vm.ErrCapacity)
	check("", s.Tick(), vm.ErrCapacity)
	w.DeleteAll(w.Query())
	check("bad", s.Tick(), nil)
	var e *PanicError
	if err := s.Remove("bad"); !errors.As(err, &e) || e.System != "bad" {
		t.Errorf("%v", err)
	}
	check("", s.Tick(), nil)
	s.Add(System{Name: "move", Run: note("")})
	check("move", s.Tick(), nil)
	mustPanic(t, `Schedule.Remove("no"): there is no such system or set`, func() { _ = s.Remove("no") })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	check("", nil, nil)
}

// TestRemoveFromInterruptedTick: a removed system does not run in the rest of a tick.
func TestRemoveFromInterruptedTick(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	a := w.Archetype(vast.NewColumn[uint64](w))
	s := New(w, Options{Workers: 1})
	defer s.Close()
	var did []string
	s.Add(System{Name: "fill", Every: 2, Offset: 1, Run: func(c *Context) {
		for range 70 {
			c.Commands().New(a)
		}
	}})
	for _, name := range []string{"one", "two"} {
		s.Add(System{Name: name, Phase: "late", Run: func(c *Context) { did = append(did, name) }})
	}
	if err := s.Tick(); !errors.Is(err, vm.ErrCapacity) {
		t.Fatal(err)
	}
	if err := s.Remove("one"); !errors.Is(err, vm.ErrCapacity) || order(t, s) != "fill one two" {
		t.Errorf("%v, systems %s", err, order(t, s))
	}
	w.DeleteAll(w.Query())
	if err := s.Remove("one"); err != nil {
		t.Error(err)
	}
	tick(t, s, 2)
	if !slices.Equal(did, []string{"two", "two"}) || s.Stats().Tick != 2 {
		t.Errorf("%q in %d ticks", did, s.Stats().Tick)
	}
}

func TestDisable(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1})
	var did []string
	for _, name := range []string{"move", "move", "draw"} {
		s.Add(System{Name: name, Sets: []Set{"all"}, Run: func(c *Context) { did = append(did, c.System()) },
			Start: func(c *Context) { did = append(did, "start "+c.System()) }})
	}
	check := func(want string, disabled ...bool) {
		t.Helper()
		did = did[:0]
		tick(t, s, 1)
		var off []bool
		for _, system := range s.Stats().Systems {
			off = append(off, system.Disabled)
		}
		if got := strings.Join(did, " "); got != want || !slices.Equal(off, disabled) {
			t.Errorf("ran %s, want %s; disabled %v", got, want, off)
		}
	}
	s.Disable("move 2")
	check("start move start move 2 start draw move draw", false, true, false)
	s.Disable("move")
	check("draw", true, true, false)
	s.Disable("all")
	s.Enable("move")
	s.Enable("move")
	check("", true, true, true)
	s.Enable("all")
	check("move draw", false, true, false)
	s.Add(System{Name: "move", Run: func(c *Context) { did = append(did, c.System()) }})
	s.Disable("move")
	check("draw", true, true, false, true)
	visited := make(chan error)
	go func() { visited <- w.Visit(t.Context(), func() bool { s.Enable("move"); return true }) }()
	for done := false; !done; {
		select {
		case err := <-visited:
			if done = true; err != nil {
				t.Error(err)
			}
		default:
			tick(t, s, 1)
		}
	}
	check("move draw move 3", false, true, false, false)
	s.Add(System{Name: "inside", Run: func(*Context) { s.Disable("draw") }})
	if err := s.Tick(); err == nil || !strings.Contains(err.Error(), "Context.AfterTick") {
		t.Errorf("Disable in a system: %v", err)
	}
	mustPanic(t, `Schedule.Enable("no")`, func() { s.Enable("no") })
}

// randomChanges runs a random schedule whose systems change the schedule, and returns a log of its runs.
func randomChanges(t *testing.T, seed uint64, workers int) string {
	w, c := newWorld(t, 2)
	s := newSchedule(t, w, Options{Workers: workers, Seed: seed, Phases: []Phase{"one", "two"}})
	m := NewState(s, 0)
	born := w.Archetype(c[0])
	var log strings.Builder
	note := func(c *Context) { fmt.Fprintln(&log, c.Tick(), c.System(), m.Get(), w.Len()) }
	for v := range 3 {
		m.OnEnter(v, System{Name: fmt.Sprint("enter ", v), Exclusive: true, Run: note})
		m.OnExit(v, System{Name: fmt.Sprint("exit ", v), Exclusive: true, Run: note})
		s.ConfigureSet(Set(fmt.Sprint("set ", v)), SetOptions{If: Not(m.In(v))})
	}
	r := rand.New(rand.NewPCG(seed, 2))
	add := func(s *Schedule, i int) {
		sys := System{Name: fmt.Sprint("system ", i), Phase: []Phase{"one", "two"}[i%2], Every: 1 + i%3}
		sys.Sets = []Set{Set(fmt.Sprint("set ", i%3))}
		sys.Run = func(c *Context) {
			c.Split(3, func(c *Context, part int) {
				random := c.RandomOf(uint64(part))
				other := fmt.Sprint("system ", random.Below(8))
				switch random.Below(12) {
				case 0:
					m.Set(c, random.Below(3))
				case 1, 2:
					c.RunOnce(System{Name: "once " + other, Run: func(c *Context) {
						note(c)
						c.Commands().New(born)
						if random := c.RandomOf(0); random.Chance(0.3) {
							m.Set(c, random.Below(3))
						}
					}})
				case 3:
					c.AfterTick(func(s *Schedule) { s.Disable(other) })
				case 4, 5:
					c.AfterTick(func(s *Schedule) { s.Enable(other) })
				case 6:
					c.AfterTick(func(s *Schedule) {
						if err := s.Remove(other); err != nil {
							t.Error(err)
						}
						replace(s, &log, other)
					})
				}
			})
		}
		s.Add(sys)
	}
	for i := range 8 {
		add(s, i)
	}
	for range 40 {
		if r.IntN(10) == 0 {
			m.SetBetween(r.IntN(3))
		}
		tick(t, s, 1)
		fmt.Fprintln(&log, order(t, s), s.disabledNames())
	}
	return log.String()
}

// replace adds a system in place of a removed one.
func replace(s *Schedule, log *strings.Builder, name string) {
	s.Add(System{Name: name, Phase: "two", Exclusive: true, Run: func(c *Context) {
		fmt.Fprintln(log, c.Tick(), c.System())
	}})
}

func TestChangesOnAnyNumberOfWorkers(t *testing.T) {
	first := rand.Uint64()
	for seed := first; seed < first+5; seed++ {
		want := randomChanges(t, seed, 1)
		for _, workers := range []int{2, 4} {
			if got := randomChanges(t, seed, workers); got != want {
				t.Fatalf("seed %d: with one worker\n%s\nwith %d\n%s", seed, want, workers, got)
			}
		}
	}
}
