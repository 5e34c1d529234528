package sched

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/vm"
)

type mode int

const (
	menu mode = iota
	playing
	over
)

func (m mode) String() string { return [...]string{"menu", "playing", "over"}[m] }

type weather struct {
	Rain bool
	Name string
}

// stateLog adds systems to a schedule that write to a log when the mode has, gets or loses a value.
func stateLog(s *Schedule, m *State[mode], did *[]string) {
	note := func(what string) func(*Context) {
		return func(c *Context) { *did = append(*did, fmt.Sprint(what, c.Tick(), "/", m.Get())) }
	}
	for _, v := range []mode{menu, playing, over} {
		m.OnExit(v, System{Name: fmt.Sprint("leave ", v), Run: note("-" + v.String())})
		m.OnEnter(v, System{Name: fmt.Sprint("enter ", v), Run: note("+" + v.String())})
	}
	s.Add(System{Name: "play", Exclusive: true, If: m.In(playing), Run: note("play")})
	s.Add(System{Name: "wait", Exclusive: true, If: m.In(menu, over), Start: note("start"),
		Run: note("wait")})
}

func TestState(t *testing.T) {
	for _, workers := range []int{1, 4} {
		w, _ := newWorld(t, 0)
		s := newSchedule(t, w, Options{Workers: workers})
		m := NewState(s, menu)
		var did []string
		stateLog(s, m, &did)
		s.Add(System{Name: "set", Run: func(c *Context) {
			switch c.Tick() {
			case 2:
				m.Set(c, over)
				m.Set(c, playing)
			case 3:
				m.Set(c, over)
				m.Set(c, playing) // the present value
			}
		}})
		check := func(want string) {
			t.Helper()
			if got := strings.Join(did, " "); got != want {
				t.Errorf("%d workers:\n%s, want\n%s", workers, got, want)
			}
			did = did[:0]
		}
		tick(t, s, 4)
		check("start0/menu +menu1/menu wait1/menu wait2/menu -menu3/playing +playing3/playing " +
			"play3/playing play4/playing")
		m.SetBetween(over)
		if got := m.Get(); got != playing {
			t.Errorf("the value is %v before the next tick", got)
		}
		tick(t, s, 1)
		check("-playing5/over +over5/over wait5/over")
		if got := s.Stats().States; !slices.Equal(got, []StateStats{{"sched.mode", "over"}}) {
			t.Errorf("the statistics have %v", got)
		}
		m.SetBetween(playing)
		if err := s.Reset(0); err != nil {
			t.Fatal(err)
		}
		tick(t, s, 1)
		check("start0/menu +menu1/menu wait1/menu")
	}
}

// TestStateSetInStart: a call of Set in Start replaces the first value.
func TestStateSetInStart(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1})
	m := NewState(s, menu)
	var did []string
	stateLog(s, m, &did)
	s.Add(System{Name: "begin", Start: func(c *Context) { m.Set(c, playing) }, Run: nothing})
	tick(t, s, 1)
	if got := strings.Join(did, " "); got != "start0/menu +playing1/playing play1/playing" {
		t.Errorf("%s", got)
	}
}

// TestLastSetWins: if several systems call Set in a tick, the last call in the order of the systems decides.
func TestLastSetWins(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		w, _ := newWorld(t, 0)
		s := newSchedule(t, w, Options{Workers: workers, Phases: []Phase{Update, "end"}})
		m := NewState(s, 0)
		for i := range 8 {
			s.Add(System{Name: fmt.Sprint("set ", i), Run: func(c *Context) {
				c.Split(50, func(c *Context, k int) { m.Set(c, int(c.Tick())*1000+i*100+k) })
			}})
		}
		s.Add(System{Name: "one-shot", Phase: "end", Every: 3, Run: func(c *Context) {
			c.RunOnce(System{Name: "set", Run: func(c *Context) { m.Set(c, 7) }})
			m.Set(c, 8)
		}})
		for n := range 50 {
			want := n*1000 + 749
			if n == 0 {
				want = 0
			} else if n%3 == 0 {
				want = 7
			}
			tick(t, s, 1)
			if got := m.Get(); got != want {
				t.Fatalf("%d workers: %d after tick %d, want %d", workers, got, n+1, want)
			}
		}
	}
}

// TestSeveralStates: all values change first, and then the systems run in the order of the states.
func TestSeveralStates(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1})
	m, sky := NewState(s, menu), NewState(s, weather{Name: "blue"})
	var did []string
	note := func(c *Context) { did = append(did, fmt.Sprint(c.System(), " ", m.Get(), " ", sky.Get().Name)) }
	sky.OnEnter(weather{true, "grey"}, System{Name: "rain", Run: note})
	sky.OnExit(weather{false, "blue"}, System{Name: "cool", Run: note})
	m.OnExit(menu, System{Name: "start", Run: note})
	m.OnExit(menu, System{Name: "start", Run: note})
	m.OnExit(menu, System{Name: "never", Run: note, If: func(*Context) bool { return false }})
	tick(t, s, 1)
	m.SetBetween(over)
	sky.SetBetween(weather{true, "grey"})
	tick(t, s, 2)
	want := []string{"start over grey", "start 2 over grey", "cool over grey", "rain over grey"}
	if !slices.Equal(did, want) {
		t.Errorf("%q, want %q", did, want)
	}
}

// TestChangeFails: after a panic, a change continues with the system that panicked. If commands had no room,
// it continues with the next system.
func TestChangeFails(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	a := w.Archetype(vast.NewColumn[uint64](w))
	s := New(w, Options{Workers: 2})
	defer s.Close()
	m := NewState(s, menu)
	var did []string
	fails := true
	m.OnExit(menu, System{Name: "first", Run: func(*Context) { did = append(did, "first") }})
	m.OnEnter(playing, System{Name: "bad", Run: func(*Context) {
		if did = append(did, "bad"); fails {
			panic("a bug")
		}
	}})
	m.OnEnter(playing, System{Name: "full", Run: func(c *Context) {
		did = append(did, "full")
		for range 70 {
			c.Commands().New(a)
		}
	}})
	m.OnExit(playing, System{Name: "end", Run: func(*Context) { did = append(did, "end") }})
	s.Add(System{Name: "run", Run: func(c *Context) {
		did = append(did, fmt.Sprint("run", c.Tick(), "/", m.Get()))
	}})
	tick(t, s, 1)
	m.SetBetween(playing)
	var e *PanicError
	if err := s.Tick(); !errors.As(err, &e) || e.System != "bad" || m.Get() != playing {
		t.Errorf("%v, value %v", err, m.Get())
	}
	saved := m.saved()
	fails = false
	m.SetBetween(over)
	if err := s.Tick(); !errors.Is(err, vm.ErrCapacity) {
		t.Errorf("%v", err)
	}
	w.DeleteAll(w.Query())
	tick(t, s, 2)
	want := "run1/menu first bad bad full run3/playing end run4/over"
	if got := strings.Join(did, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}

	// A store continues the change in another process.
	did = did[:0]
	text := fmt.Sprintf("%s %s %s %v %d", saved.Value, saved.Left, saved.Next, saved.Changing, saved.Done)
	if text != "1 0  true 1" {
		t.Errorf("saved %s", text)
	}
	w.DeleteAll(w.Query())
	if err := m.restore(saved); err != nil {
		t.Fatal(err)
	}
	if err := s.Tick(); !errors.Is(err, vm.ErrCapacity) {
		t.Errorf("%v", err)
	}
	w.DeleteAll(w.Query())
	tick(t, s, 1)
	if got := strings.Join(did, " "); got != "bad full run5/playing" {
		t.Errorf("after restore: %s", got)
	}
}

func TestStateIsKept(t *testing.T) {
	w, _ := newWorld(t, 0)
	var did []string
	makeOne := func(early bool, known *state.Schedule) (*Schedule, *State[mode]) {
		s := newSchedule(t, w, Options{Workers: 1})
		if !early {
			(schedules{}).Keep(s, new(eventKeeper), known)
		}
		m := NewState(s, menu)
		stateLog(s, m, &did)
		if early {
			(schedules{}).Keep(s, new(eventKeeper), known)
		}
		return s, m
	}
	for _, early := range []bool{true, false} {
		s, m := makeOne(early, nil)
		s.Disable("wait")
		tick(t, s, 1)
		m.SetBetween(playing)
		tick(t, s, 1)
		m.SetBetween(over)
		known := (schedules{}).State(s)
		did = did[:0]
		s, m = makeOne(early, &known)
		if m.Get() != playing || !slices.Equal(known.Disabled, []string{"wait"}) {
			t.Errorf("restored %v, disabled %v", m.Get(), known.Disabled)
		}
		tick(t, s, 1)
		if got := strings.Join(did, " "); got != "start2/playing -playing3/over +over3/over" {
			t.Errorf("%s", got)
		}
		known.States[0].Value = []byte(`"x"`)
		s, _ = makeOne(early, &known)
		err := s.Tick()
		if err == nil || !strings.Contains(err.Error(), `"x" of state sched.mode does not fit`) {
			t.Errorf("a value of another type gives %v", err)
		}
	}
}

func TestStateMisuse(t *testing.T) {
	w, _ := newWorld(t, 0)
	s, other := newSchedule(t, w, Options{Workers: 1}), newSchedule(t, w, Options{Workers: 1})
	m := NewState(s, menu)
	mustPanic(t, "the schedule has a state of type sched.mode", func() { NewState(s, over) })
	mustPanic(t, "cannot save *int in the type *int", func() { NewState(s, new(int)) })
	mustPanic(t, "cannot save struct { a int }", func() { NewState(s, struct{ a int }{}) })
	mustPanic(t, "cannot save float64", func() { NewState(s, struct{ A float64 }{}) })
	mustPanic(t, "make one with New", func() { NewState(new(Schedule), menu) })
	mustPanic(t, "State.OnEnter: a system needs a name", func() { m.OnEnter(menu, System{Run: nothing}) })
	mustPanic(t, `State.OnExit: system "x" has no Run`, func() { m.OnExit(menu, System{Name: "x"}) })
	mustPanic(t, "or add the system with Schedule.Add", func() {
		m.OnExit(menu, System{Name: "x", Phase: Update, Run: nothing})
	})
	other.Add(System{Name: "foreign", Run: func(c *Context) { m.Set(c, over) }})
	if err := other.Tick(); err == nil || !strings.Contains(err.Error(), "belongs to another schedule") {
		t.Errorf("%v", err)
	}
	s.Add(System{Name: "direct", Run: func(*Context) { m.SetBetween(over) }})
	if err := s.Tick(); err == nil || !strings.Contains(err.Error(), "Context.AfterTick") {
		t.Errorf("%v", err)
	}
}
