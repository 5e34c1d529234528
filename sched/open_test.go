package sched

import (
	"runtime"
	"slices"
	"testing"
	"time"
	"weak"

	"github.com/vastgo/vast"
)

func TestOf(t *testing.T) {
	w, other := vast.NewWorld(vast.Options{}), vast.NewWorld(vast.Options{})
	defer w.Close()
	defer other.Close()
	if list := Of(w); list != nil {
		t.Errorf("a world without schedules has %v", list)
	}
	a, b, c := New(w, Options{Workers: 2}), New(other, Options{}),
		New(w, Options{Rate: 7, Phases: []Phase{"x"}})
	if list := Of(w); !slices.Equal(list, []*Schedule{a, c}) {
		t.Errorf("got %v, want %v and %v", list, a, c)
	}
	if list := Of(other); !slices.Equal(list, []*Schedule{b}) {
		t.Errorf("got %v, want %v", list, b)
	}
	if a.World() != w || b.World() != other || b.ID() <= a.ID() || c.ID() <= b.ID() {
		t.Errorf("worlds %p %p, IDs %d %d %d", a.World(), b.World(), a.ID(), b.ID(), c.ID())
	}
	o := c.Options()
	if o.Rate != 7 || o.Workers != runtime.GOMAXPROCS(0) || o.CatchUp != 4 || o.Visits != time.Millisecond/2 {
		t.Errorf("options %+v", o)
	}
	if o.Phases[0] = "y"; c.Options().Phases[0] != "x" {
		t.Error("Options returns the schedule's own slice of phases")
	}
	a.Close()
	a.Close()
	if list := Of(w); !slices.Equal(list, []*Schedule{c}) {
		t.Errorf("after Close: %v", list)
	}
	b.Close()
	c.Close()
	if Of(w) != nil || Of(other) != nil {
		t.Errorf("after Close of all: %v, %v", Of(w), Of(other))
	}
}

func TestOfKeepsNothingAlive(t *testing.T) {
	forget := func() (weak.Pointer[vast.World], weak.Pointer[Schedule]) {
		w := vast.NewWorld(vast.Options{})
		s := New(w, Options{Workers: 1})
		if list := Of(w); len(list) != 1 || list[0] != s {
			t.Errorf("got %v", list)
		}
		return weak.Make(w), weak.Make(s)
	}
	w, s := forget()
	known := func() bool {
		open.mu.Lock()
		defer open.mu.Unlock()
		return open.of[w] != nil
	}
	for deadline := time.Now().Add(time.Minute); w.Value() != nil || s.Value() != nil ||
		known(); runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatalf("world %p, schedule %p, in the list: %v", w.Value(), s.Value(), known())
		}
	}
}

func TestOfFromManyGoroutines(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	stay := New(w, Options{Workers: 1})
	defer stay.Close()
	ended := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { ended <- struct{}{} }()
			for range 50 {
				s := New(w, Options{Workers: 1})
				if list := Of(w); !slices.Contains(list, s) || list[0] != stay {
					t.Errorf("the list is %v; want %v at its beginning, and %v in it", list, stay, s)
				}
				s.Close()
			}
		}()
	}
	for range 4 {
		<-ended
	}
	if list := Of(w); !slices.Equal(list, []*Schedule{stay}) {
		t.Errorf("schedules are left: %v", list)
	}
}
