package sched

import (
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/vastgo/vast"
)

// open holds the schedules that are not closed, so that tools need only know the world. It keeps neither them nor worlds
// alive: a schedule that was forgotten instead of closed goes when the collector takes it.
var open struct {
	mu   sync.Mutex
	made uint64                                                // schedules so far
	of   map[weak.Pointer[vast.World]][]weak.Pointer[Schedule] // in the order in which they were made
}

// enlisted is an entry in open.
type enlisted struct {
	world    weak.Pointer[vast.World]
	schedule weak.Pointer[Schedule]
}

// Of returns the world's schedules that are not closed, in the order in which they were made. It may be called from any
// goroutine at any time; another one may close what it returns.
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

// enlist makes the schedule known to Of until it is closed.
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
	forgotten := runtime.AddCleanup(s, delist, e)
	s.delist = func() {
		forgotten.Stop()
		delist(e)
	}
}

// delist takes a schedule out of open.
func delist(e enlisted) {
	open.mu.Lock()
	defer open.mu.Unlock()
	list := slices.DeleteFunc(open.of[e.world], func(p weak.Pointer[Schedule]) bool { return p == e.schedule })
	if len(list) == 0 {
		delete(open.of, e.world)
		return
	}
	open.of[e.world] = list
}
