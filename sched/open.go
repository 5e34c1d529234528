package sched

import (
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/vastgo/vast"
)

// open lists the schedules that are not closed. It has weak pointers, so the garbage collector can free a
// schedule, and its world, without Close. Without Close, the goroutines of the workers stay.
var open struct {
	mu   sync.Mutex
	made uint64                                                // number of schedules made so far
	of   map[weak.Pointer[vast.World]][]weak.Pointer[Schedule] // schedules of each world, oldest first
}

type enlisted struct {
	world    weak.Pointer[vast.World]
	schedule weak.Pointer[Schedule]
}

// Of returns the open schedules of the world, oldest first. It may be called from any goroutine at any time.
// Another goroutine may close a returned schedule at any time.
func Of(w *vast.World) []*Schedule {
	open.mu.Lock()
	defer open.mu.Unlock()
	var list []*Schedule
	for _, p := range open.of[weak.Make(w)] {
		if s := p.Value(); s != nil {
			list = append(list, s)
		}
	}
	return list
}

// enlist adds the schedule to the list `open`. Close or the garbage collector removes the schedule.
func (s *Schedule) enlist() {
	e := enlisted{weak.Make(s.world), weak.Make(s)}
	open.mu.Lock()
	defer open.mu.Unlock()
	if open.of == nil {
		open.of = make(map[weak.Pointer[vast.World]][]weak.Pointer[Schedule])
	}
	open.of[e.world] = append(open.of[e.world], e.schedule)
	open.made++
	s.id = open.made
	cleanup := runtime.AddCleanup(s, delist, e)
	s.delist = func() {
		cleanup.Stop()
		delist(e)
	}
}

func delist(e enlisted) {
	open.mu.Lock()
	defer open.mu.Unlock()
	list := slices.DeleteFunc(open.of[e.world], func(p weak.Pointer[Schedule]) bool {
		return p == e.schedule
	})
	if len(list) == 0 {
		delete(open.of, e.world)
		return
	}
	open.of[e.world] = list
}
