package sched

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/invariants"
)

// serial reports whether this build runs systems one after the other, even with several workers.
func serial(*Schedule) bool { return invariants.Enabled }

// goroutines returns the stacks of the goroutines of all schedules.
func goroutines() (stacks []string) {
	b := make([]byte, 1<<20)
	for _, stack := range strings.Split(string(b[:runtime.Stack(b, true)]), "\n\n") {
		if strings.Contains(stack, "(*Pool).run(") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

func TestIdleWorkersSleep(t *testing.T) {
	for len(goroutines()) > 0 { // goroutines of earlier tests are ending
		runtime.Gosched()
	}
	w, c := newWorld(t, 1)
	w.Archetype(c[0]).NewN(1000, nil)
	q := w.Query(c[0])
	s := New(w, Options{Workers: 5})
	s.Add(System{Name: "a", Writes: Columns(c[0]), Run: func(x *Context) {
		x.Each(q, 64, func(*Context, vast.Batch) {})
	}})
	tick(t, s, 10)
	for { // a worker that found no work may not be asleep yet
		s.team.mu.Lock()
		idle := len(s.team.idle)
		s.team.mu.Unlock()
		if idle == 4 {
			break
		}
		runtime.Gosched()
	}
	for asleep := 0; asleep < 4; runtime.Gosched() {
		asleep = 0
		for _, stack := range goroutines() {
			if strings.Contains(stack, "[chan receive") {
				asleep++
			}
		}
	}
	if got := len(goroutines()); got != 4 {
		t.Errorf("%d goroutines", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for len(goroutines()) > 0 { // Close does not wait for the last step of a goroutine
		runtime.Gosched()
	}
}

func TestSystemsRunInParallel(t *testing.T) {
	w, c := newWorld(t, 1)
	s := newSchedule(t, w, Options{Workers: 3})
	if serial(s) {
		t.Skip("this build runs systems one after the other")
	}
	var all sync.WaitGroup
	ran := 0
	for _, name := range []string{"a", "b", "c"} {
		s.Add(System{Name: name, Reads: Columns(c[0]), Run: func(*Context) {
			all.Done()
			all.Wait() // returns when all three systems run
		}})
	}
	s.Add(System{Name: "d", Writes: Columns(c[0]), Run: func(*Context) { ran++ }})
	for range 100 {
		all.Add(3)
		tick(t, s, 1)
	}
	if ran != 100 {
		t.Errorf("ran %d times", ran)
	}
}

func TestPartsRunInParallel(t *testing.T) {
	w, c := newWorld(t, 1)
	w.Archetype(c[0]).NewN(192, nil)
	q := w.Query(c[0])
	s := newSchedule(t, w, Options{Workers: 3})
	var all sync.WaitGroup
	s.Add(System{Name: "a", Run: func(x *Context) {
		x.Each(q, 64, func(*Context, vast.Batch) {
			all.Done()
			all.Wait() // returns when all three parts run
		})
	}})
	for range 100 {
		all.Add(3)
		tick(t, s, 1)
	}
}
