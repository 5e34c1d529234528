package event_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/event"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/vm"
)

func newSchedule(t testing.TB, workers int) (*vast.World, *sched.Schedule) {
	t.Helper()
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 14})
	s := sched.New(w, sched.Options{Workers: workers, Visits: -1})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, s
}

func tickN(t testing.TB, s *sched.Schedule, n int) {
	t.Helper()
	for range n {
		if err := s.Tick(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMisuse(t *testing.T) {
	_, s := newSchedule(t, 2)
	_, other := newSchedule(t, 1)
	q := event.New[hit](s, event.Options{})
	foreign := event.New[hit](other, event.Options{Name: "foreign"})
	contains := func(what, text, want string) {
		t.Helper()
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q, want a text with %q", what, text, want)
		}
	}
	for _, one := range []struct {
		what, want string
		f          func()
	}{
		{"pointers", "event: New[", func() { event.New[struct{ S string }](s, event.Options{}) }},
		{"no schedule", "the schedule is nil", func() { event.New[hit](nil, event.Options{}) }},
		{"negative", "MaxBytes is -1", func() { event.New[hit](s, event.Options{MaxBytes: -1}) }},
		{"same name", "set another Options.Name", func() { event.New[hit](s, event.Options{}) }},
		{"zero queue", "make one with New", func() { new(event.Queue[hit]).Send(nil, hit{}) }},
		{"nil queue", "make one with New", func() { sched.Resources((*event.Queue[hit])(nil)) }},
		{"zero reader", "make one with Queue.NewReader", func() { new(event.Reader[hit]).Len(nil) }},
		{"zero context", "zero Context", func() { q.Send(new(sched.Context), hit{}) }},
		{"Grow", "a number of events is zero or more", func() { _ = q.Grow(-1) }},
		{"other schedule", "belongs to another schedule", func() {
			s.Add(sched.System{Name: "x", Run: func(*sched.Context) {},
				ReadsResources: sched.Resources(foreign)})
		}},
	} {
		contains(one.what, modeltest.PanicText(one.f), one.want)
	}
	uses := sched.Resources(q)
	run := func(sys sched.System, what, want string) {
		t.Helper()
		_, s := newSchedule(t, 2)
		mine := event.New[hit](s, event.Options{})
		if len(sys.WritesResources) > 0 {
			sys.WritesResources = sched.Resources(mine)
		}
		if len(sys.ReadsResources) > 0 {
			sys.ReadsResources = sched.Resources(mine)
		}
		sys.Name = "bad"
		inner := sys.Run
		sys.Run = func(c *sched.Context) {
			q = mine
			inner(c)
		}
		s.Add(sys)
		var e *sched.PanicError
		if err := s.Tick(); !errors.As(err, &e) || e.System != "bad" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a text with %q", what, err, want)
		}
	}
	run(sched.System{Run: func(c *sched.Context) { q.Send(c, hit{}) }}, "undeclared send",
		"in the system's WritesResources")
	run(sched.System{Run: func(c *sched.Context) { q.Len(c) }}, "undeclared Len",
		"in the system's ReadsResources")
	run(sched.System{WritesResources: uses, Run: func(c *sched.Context) {
		for range q.All(c) {
		}
	}}, "undeclared All", "Queue.All of \"hit\" in system \"bad\", which does not declare it")
	run(sched.System{ReadsResources: uses, Run: func(c *sched.Context) { q.Send(c, hit{}) }},
		"send by a reader", "in the system's WritesResources")
	run(sched.System{WritesResources: uses, Run: func(c *sched.Context) { q.Send(nil, hit{}) }},
		"send without a Context", "without a Context while systems run")
	run(sched.System{WritesResources: uses, Run: func(c *sched.Context) {
		q.Send(c, hit{})
		c.Split(2, func(*sched.Context, int) { q.Send(c, hit{}) })
	}}, "the Context of the system in a part", "use the Context that the part receives")
	run(sched.System{Exclusive: true, Run: func(c *sched.Context) {
		c.Split(2, func(*sched.Context, int) { q.Send(nil, hit{}) })
	}}, "no Context in a part", "without a Context while systems run")
	run(sched.System{WritesResources: uses, Run: func(c *sched.Context) { foreign.Send(c, hit{}) }},
		"another schedule's queue", "belongs to another schedule")
	run(sched.System{Run: func(c *sched.Context) {
		event.New[mark](sched.Of(c.World())[0], event.Options{})
	}}, "New in a system", "while the schedule is at work")
}

func TestClosed(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := sched.New(w, sched.Options{Workers: 1})
	q := event.New[hit](s, event.Options{Name: "closed"})
	q.Send(nil, hit{})
	r := q.NewReader()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	q.Send(nil, hit{}) // a hook may send events when the world closes
	for what, f := range map[string]func(){
		"Queue.Len": func() { q.Len(nil) }, "Reader.Len": func() { r.Len(nil) },
		"Queue.Grow": func() { _ = q.Grow(1) }, "Queue.Trim": q.Trim,
	} {
		want := "event: " + what + " of \"closed\" after Close of its schedule"
		if text := modeltest.PanicText(f); !strings.Contains(text, want) {
			t.Errorf("%s: %q", what, text)
		}
	}
}

// TestExhaustion: a Send without memory changes nothing, and Grow promises the memory of a tick.
func TestExhaustion(t *testing.T) {
	for _, workers := range []int{1, 3} {
		_, s := newSchedule(t, workers)
		limit := vm.NewLimit(1 << 20)
		q := event.New[hit](s, event.Options{Limit: limit})
		sends, done := 0, make([]int, 4)
		part := func(c *sched.Context, i int) {
			for range sends / 4 {
				q.Send(c, hit{Kind: uint32(i)})
				done[i]++
			}
		}
		s.Add(sched.System{Name: "send", WritesResources: sched.Resources(q),
			Run: func(c *sched.Context) { c.Split(4, part) }})
		read := 0
		s.Add(sched.System{Name: "read", ReadsResources: sched.Resources(q),
			Run: func(c *sched.Context) { read = q.Len(c) }})
		sends = 1 << 20
		err := s.Tick()
		var e *vm.Error
		if !errors.As(err, &e) || !errors.Is(err, vm.ErrLimit) {
			t.Fatalf("%v, want a *vm.Error", err)
		}
		all := done[0] + done[1] + done[2] + done[3]
		if n := q.Len(nil); n != all || n < 30_000 {
			t.Errorf("%d events after %d successful sends", n, all)
		}
		sends = 0 // the events of the failed tick leave no memory for others
		tickN(t, s, 1)
		if read != all {
			t.Errorf("%d events, want %d of the last tick", read, all)
		}
		sends = 400
		tickN(t, s, 3)
		if read != 800 {
			t.Errorf("%d events, want those of two ticks", read)
		}
		if err := q.Grow(1 << 20); !errors.As(err, &e) {
			t.Errorf("Grow beyond the limit: %v", err)
		}
		q.Trim()
		if err := q.Grow(20_000); err != nil {
			t.Fatal(err)
		}
		limit.SetMax(limit.Used()) // from now on, no memory is left
		sends = 20_000
		tickN(t, s, 1)
		if read != 20_400 {
			t.Errorf("%d events, want 20,400", read)
		}
	}
}

// TestMemoryIsGivenBack: after a large tick the queue shrinks by itself, and Trim shrinks it at once.
func TestMemoryIsGivenBack(t *testing.T) {
	_, s := newSchedule(t, 1)
	q := event.New[hit](s, event.Options{})
	for range 400_000 {
		q.Send(nil, hit{})
	}
	tickN(t, s, 1)
	large := s.Stats().Events[0].Bytes
	tickN(t, s, 200)
	small := s.Stats().Events[0].Bytes
	if large < 9<<20 || small > 1<<20 {
		t.Errorf("%d bytes for 400,000 events, and %d bytes 200 ticks later", large, small)
	}
	for range 400_000 {
		q.Send(nil, hit{})
	}
	q.Trim()
	if n := s.Stats().Events[0].Bytes; n < 9<<20 {
		t.Errorf("Trim leaves %d bytes for 400,000 events", n)
	}
	tickN(t, s, 3)
	q.Trim()
	if n := s.Stats().Events[0].Bytes; n > 1<<20 {
		t.Errorf("Trim leaves %d bytes", n)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	w, s := newSchedule(t, 1)
	q := event.New[hit](s, event.Options{})
	r := q.NewReader()
	target := w.Archetype().New()
	part := func(c *sched.Context, i int) {
		for range 10 {
			q.SendTo(c, target, hit{Kind: uint32(i)})
		}
	}
	s.Add(sched.System{Name: "send", WritesResources: sched.Resources(q),
		Run: func(c *sched.Context) { c.Split(100, part) }})
	sum := 0
	s.Add(sched.System{Name: "read", ReadsResources: sched.Resources(q),
		Run: func(c *sched.Context) {
			for _, h := range q.All(c) {
				sum += int(h.Kind)
			}
			for _, h := range r.Next(c) {
				sum += int(h.Kind)
			}
			for h := range q.Of(c, target) {
				sum += int(h.Kind)
			}
		}})
	tickN(t, s, 10)
	if n := testing.AllocsPerRun(300, func() { tickN(t, s, 1) }); n != 0 && !invariants.Enabled {
		t.Errorf("a tick allocates %v times", n)
	}
	if sum == 0 {
		t.Error("nothing was read")
	}
}

// TestContinuedTick: if the commands of a tick find no memory, the queue keeps the events of the tick, and
// the next call of Tick continues the tick.
func TestContinuedTick(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	s := sched.New(w, sched.Options{Workers: 1})
	defer s.Close()
	q := event.New[hit](s, event.Options{})
	made, many := w.Archetype(), 100
	uses := sched.Resources(q)
	s.Add(sched.System{Name: "first", Phase: "one", WritesResources: uses, Run: func(c *sched.Context) {
		q.Send(c, hit{Kind: 1})
		for range many {
			c.Commands().New(made)
		}
	}})
	var read []uint32
	s.Add(sched.System{Name: "second", Phase: "two", ReadsResources: uses, Run: func(c *sched.Context) {
		for _, h := range q.All(c) {
			read = append(read, h.Kind)
		}
	}})
	if err := s.Tick(); !errors.As(err, new(*vm.Error)) {
		t.Fatalf("%v, want a *vm.Error", err)
	}
	q.Send(nil, hit{Kind: 2}) // belongs to the tick under way
	if err := s.DropCommands(); err != nil {
		t.Fatal(err)
	}
	many = 0
	tickN(t, s, 1)
	if !slices.Equal(read, []uint32{1, 2}) {
		t.Errorf("the continued tick reads %v", read)
	}
	read = nil
	tickN(t, s, 1)
	if !slices.Equal(read, []uint32{1, 2, 1}) {
		t.Errorf("the tick after the continued tick reads %v", read)
	}
}

// TestGoexit: if the goroutine of a tick ends, the queue keeps the events of this tick, and the next tick
// adds its own events.
func TestGoexit(t *testing.T) {
	_, s := newSchedule(t, 1)
	q := event.New[hit](s, event.Options{})
	exit := true
	s.Add(sched.System{Name: "exit", WritesResources: sched.Resources(q),
		Run: func(c *sched.Context) {
			q.Send(c, hit{})
			if exit {
				runtime.Goexit()
			}
		}})
	done := make(chan bool)
	go func() {
		defer close(done)
		_ = s.Tick()
	}()
	<-done
	exit = false
	q.Send(nil, hit{})
	tickN(t, s, 1)
	if n := q.Len(nil); n != 3 {
		t.Errorf("%d events, want 3", n)
	}
}

// TestStartAndEnd: events of Start belong to the first tick, and Reset drops all events.
func TestStartAndEnd(t *testing.T) {
	_, s := newSchedule(t, 2)
	q := event.New[hit](s, event.Options{})
	var read []uint32
	ended := 0
	q.Send(nil, hit{Kind: 1})
	uses := sched.Resources(q)
	s.Add(sched.System{Name: "a", ReadsResources: uses, Start: func(c *sched.Context) {
		q.Send(c, hit{Kind: 2})
		c.Split(3, func(c *sched.Context, i int) { q.Send(c, hit{Kind: uint32(3 + i)}) })
		q.Send(nil, hit{Kind: 6})
	}, Run: func(c *sched.Context) {
		read = nil
		for _, h := range q.All(c) {
			read = append(read, h.Kind)
		}
	}, End: func(c *sched.Context) {
		q.Send(c, hit{Kind: 9})
		ended = q.Len(c)
	}})
	s.Add(sched.System{Name: "b", Run: func(*sched.Context) {}, Start: func(c *sched.Context) {
		q.Send(c, hit{Kind: 7})
	}})
	tickN(t, s, 1)
	if want := []uint32{1, 2, 3, 4, 5, 6, 7}; !slices.Equal(read, want) {
		t.Errorf("the first tick reads %v, want %v", read, want)
	}
	if err := s.Reset(0); err != nil {
		t.Fatal(err)
	}
	if n := q.Len(nil); n != 0 || ended != 7 {
		t.Errorf("%d events after Reset, and %d in End, want 0 and 7", n, ended)
	}
	tickN(t, s, 1)
	if want := []uint32{2, 3, 4, 5, 6, 7}; !slices.Equal(read, want) {
		t.Errorf("the first tick after Reset reads %v, want %v", read, want)
	}
}

// TestWritersDoNotConflict: systems that only send run in parallel, and conflict with readers.
func TestWritersDoNotConflict(t *testing.T) {
	_, s := newSchedule(t, 1)
	q, other := event.New[hit](s, event.Options{}), event.New[hit](s, event.Options{Name: "other"})
	run := func(*sched.Context) {}
	uses, both := sched.Resources(q), sched.Resources(q, other)
	s.Add(sched.System{Name: "send 1", WritesResources: both, Run: run})
	s.Add(sched.System{Name: "send 2", WritesResources: uses, Run: run})
	s.Add(sched.System{Name: "both", WritesResources: uses, ReadsResources: uses, Run: run})
	s.Add(sched.System{Name: "send 3", WritesResources: uses, Run: run})
	s.Add(sched.System{Name: "read", ReadsResources: sched.Resources(other), Run: run})
	if err := s.Build(); err != nil {
		t.Fatal(err)
	}
	var edges []string
	for _, e := range s.Graph().Edges {
		edges = append(edges, e.From+" > "+e.To+": "+strings.Join(e.Why, ", "))
	}
	slices.Sort(edges)
	want := []string{
		"both > send 3: both reads hit, send 3 writes it",
		"send 1 > both: send 1 writes hit, both reads it",
		"send 1 > read: send 1 writes other, read reads it",
		"send 2 > both: send 2 writes hit, both reads it",
	}
	if !slices.Equal(edges, want) {
		t.Errorf("the edges are\n%s\nwant\n%s", strings.Join(edges, "\n"), strings.Join(want, "\n"))
	}
}

// TestReaderStopsEarly: after a loop that ends early, the next loop continues behind the last read event.
func TestReaderStopsEarly(t *testing.T) {
	_, s := newSchedule(t, 1)
	q := event.New[hit](s, event.Options{})
	r := q.NewReader()
	for i := range 5 {
		q.Send(nil, hit{Kind: uint32(i)})
	}
	for _, h := range r.Next(nil) {
		if h.Kind == 2 {
			break
		}
	}
	q.Send(nil, hit{Kind: 5})
	var got []uint32
	for _, h := range r.Next(nil) {
		got = append(got, h.Kind)
	}
	if !slices.Equal(got, []uint32{3, 4, 5}) {
		t.Errorf("the reader continues with %v", got)
	}
	tickN(t, s, 3)
	q.Send(nil, hit{Kind: 6})
	if n := r.Len(nil); n != 1 {
		t.Errorf("%d events, want 1", n)
	}
}
