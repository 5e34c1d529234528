package sched

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
)

// visit starts a visit on another goroutine, and returns a channel for the result of Visit. The visit is done
// when its function has been called three times.
func visit(w *vast.World) <-chan error {
	result := make(chan error, 1)
	calls := 0
	go func() {
		result <- w.Visit(context.Background(), func() bool { calls++; return calls == 3 })
	}()
	return result
}

func TestTickAdmitsVisitors(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := New(w, Options{Workers: 1, Visits: time.Hour})
	defer s.Close()
	for result := visit(w); ; {
		if err := s.Tick(); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-result:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
}

func TestTickLeavesVisitorsToOthers(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := New(w, Options{Workers: 1, Visits: -1})
	defer s.Close()
	inside := make(chan struct{})
	result := make(chan error, 1)
	ticking := true
	go func() {
		result <- w.Visit(context.Background(), func() bool {
			if ticking {
				t.Error("a schedule without visits admitted a visitor")
			}
			close(inside)
			return true
		})
	}()
	for range 100 {
		if err := s.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	ticking = false
	w.Idle(func() { <-inside })
	if err := <-result; err != nil {
		t.Error(err)
	}
}

func TestRunAdmitsVisitors(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := New(w, Options{Workers: 1, Rate: 1}) // Run waits one second between ticks
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	if err := <-visit(w); err != nil {
		t.Error("during a wait:", err)
	}
	s.Pause()
	if err := <-visit(w); err != nil {
		t.Error("during a pause:", err)
	}
	s.Step(1)
	if err := <-visit(w); err != nil {
		t.Error("after a step:", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestLateRunAdmitsVisitors(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := New(w, Options{Workers: 1, Rate: 1e9}) // each tick is late, and Run never waits
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	if err := <-visit(w); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestVisitFromSystem checks that Visit panics inside a tick, because it would wait for the end of the tick.
func TestVisitFromSystem(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	c := vast.NewColumn[int](w)
	w.Archetype(c).NewN(1000, nil)
	visit := func() { _ = w.Visit(context.Background(), func() bool { return true }) }
	hooked := false
	tag := vast.NewTag(w, "tag")
	tag.OnAdd(func(vast.Entity) {
		if hooked {
			visit()
		}
	})
	for name, systems := range map[string][]System{
		"a system": {{Name: "one", Run: func(*Context) { visit() }}},
		"systems side by side": {
			{Name: "one", Run: func(*Context) { visit() }}, {Name: "two", Run: func(*Context) { visit() }},
			{Name: "three", Run: func(*Context) { visit() }},
		},
		"a part": {{Name: "parts", Reads: []vast.AnyColumn{c}, Run: func(k *Context) {
			k.Each(w.Query(c), 64, func(*Context, vast.Batch) { visit() })
		}}},
		"a loop": {{Name: "loop", Reads: []vast.AnyColumn{c}, Run: func(*Context) {
			for range w.Query(c).All() {
				visit()
			}
		}}},
		"a hook": {{Name: "hook", Run: func(k *Context) {
			hooked = true
			tag.AddLater(k.Commands(), first(w))
		}}},
	} {
		s := New(w, Options{Workers: 3, Visits: time.Hour})
		for _, system := range systems {
			s.Add(system)
		}
		if err := s.Tick(); err == nil ||
			!strings.Contains(err.Error(), "World.Visit was called by code that the owner of world") {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestVisitOtherWorldFromSystem(t *testing.T) {
	w, other := vast.NewWorld(vast.Options{}), vast.NewWorld(vast.Options{})
	defer w.Close()
	defer other.Close()
	s := New(w, Options{Workers: 1})
	defer s.Close()
	seen := 0
	s.Add(System{Name: "ask", Run: func(*Context) {
		if err := other.Visit(context.Background(), func() bool { seen++; return true }); err != nil {
			t.Error(err)
		}
	}})
	ticked := make(chan error, 1)
	go func() { ticked <- s.Tick() }()
	var err error
	other.Idle(func() { err = <-ticked })
	if err != nil || seen != 1 {
		t.Errorf("%v, seen %d times", err, seen)
	}
}

func first(w *vast.World) vast.Entity { e, _ := w.Query().First(); return e }
