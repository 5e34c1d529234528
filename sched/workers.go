package sched

import (
	"runtime/debug"
	"slices"
	"sync"

	"github.com/vastgo/vast"
)

// worker is a goroutine that runs systems and parts of them. The first worker is whoever calls Tick.
type worker struct {
	index    int
	commands *vast.Commands // nil until something is recorded
	recorded bool           // whether something may have been recorded since the last application
	position int            // of what is recorded, if so
	part     Context        // for batches
	system   *node          // what it runs
	wake     chan struct{}  // holds a token for a worker that is asleep or about to be
}

// team is the workers. They sleep unless there is something to do, and nobody spins.
type team struct {
	schedule *Schedule
	workers  []*worker
	gone     sync.WaitGroup

	mu      sync.Mutex
	idle    []*worker // asleep, or about to be; a token awaits nobody else
	ready   []*node   // systems that may start
	jobs    []*job    // of which parts may be left
	left    int       // systems of the stage that have not started or are not done
	running int       // systems under way
	halted  bool      // whether no more systems are to start
	err     error     // why
	place   int       // of the system that failed
	closed  bool
}

// start starts the goroutines.
func (t *team) start(s *Schedule, n int) {
	t.schedule = s
	t.workers = make([]*worker, n)
	t.idle = make([]*worker, 0, n)
	for i := range t.workers {
		t.workers[i] = &worker{index: i, wake: make(chan struct{}, 1)}
	}
	for _, w := range t.workers[1:] {
		t.gone.Add(1)
		go t.stay(w)
	}
}

// makeRoom makes room for n systems that are ready at once.
func (t *team) makeRoom(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ready = slices.Grow(t.ready[:0], n)
}

// stop ends the goroutines and waits until they have ended. No stage may be under way.
func (t *team) stop() {
	t.mu.Lock()
	t.closed = true
	t.rouse(len(t.idle))
	t.mu.Unlock()
	t.gone.Wait()
}

// stay is the life of a worker's goroutine.
func (t *team) stay(w *worker) {
	debug.SetPanicOnFault(true)
	ended := false
	defer func() {
		if ended {
			t.gone.Done()
			return
		}
		// A system ended the goroutine: another one takes its place. A panic would have been kept.
		t.mu.Lock()
		if w.system != nil {
			t.finish(w)
		}
		t.mu.Unlock()
		go t.stay(w)
	}()
	t.mu.Lock()
	for !t.closed {
		if !t.work(w) {
			t.sleep(w)
		}
	}
	t.mu.Unlock()
	ended = true
}

// sleep waits for something to do. The mutex is held before and after.
func (t *team) sleep(w *worker) {
	t.idle = append(t.idle, w)
	t.mu.Unlock()
	<-w.wake
	t.mu.Lock()
}

// rouse wakes up to n workers. The mutex is held.
func (t *team) rouse(n int) {
	if n <= 0 || len(t.idle) == 0 {
		return
	}
	for ; n > 0 && len(t.idle) > 0; n-- {
		w := t.idle[len(t.idle)-1]
		t.idle = t.idle[:len(t.idle)-1]
		w.wake <- struct{}{}
	}
	go makeWay()
}

// makeWay does nothing. A goroutine that becomes ready last is the next one on its processor, and for some fifty microseconds
// other processors leave it there, because most who wake somebody are about to wait themselves. Who wakes a worker is not:
// starting this goroutine puts it in that place, and the worker where others take it at once.
func makeWay() {}

// rouseFirst wakes the first worker, which waits for the end of a stage. The mutex is held.
func (t *team) rouseFirst() {
	for i, w := range t.idle {
		if w == t.workers[0] {
			t.idle[i] = t.idle[len(t.idle)-1]
			t.idle = t.idle[:len(t.idle)-1]
			w.wake <- struct{}{}
			return
		}
	}
}

// work does something that there is to do, and reports whether there was. The mutex is held before and after.
func (t *team) work(w *worker) bool {
	if len(t.ready) > 0 && !t.halted {
		n := t.ready[0]
		t.ready = t.ready[:copy(t.ready, t.ready[1:])]
		t.running++
		w.system = n
		t.mu.Unlock()
		s := t.schedule
		start := s.now()
		s.run(w, n)
		end := s.now()
		n.took.took = end - start
		if s.observers.recorder != nil && n.took.done {
			s.observers.recorder.keep(w, mark{kind: RanSystem, system: n, part: -1, start: start, end: end})
		}
		t.mu.Lock()
		t.finish(w)
		return true
	}
	if len(t.jobs) > 0 {
		j := t.jobs[len(t.jobs)-1]
		if j.next.Load() >= int64(j.count) {
			t.unlist(j)
			return true
		}
		j.helpers++
		t.mu.Unlock()
		j.help(t, w)
		t.mu.Lock()
		return true
	}
	return false
}

// finish enters that the worker's system is done, and wakes as many as can go on. The mutex is held.
func (t *team) finish(w *worker) {
	n := w.system
	w.system = nil
	t.running--
	t.left--
	if t.schedule.world.Changes() != t.schedule.changes && !n.Exclusive {
		t.structureChanged(n)
	}
	more := 0
	for _, next := range n.next {
		if next.waiting--; next.waiting == 0 {
			t.ready = append(t.ready, next)
			more++
		}
	}
	if t.over() {
		t.rouseFirst()
	} else if !t.halted {
		t.rouse(more - 1) // this worker is one
	}
}

// over reports whether a stage has ended.
func (t *team) over() bool { return t.left == 0 || t.halted && t.running == 0 }

// runStage runs the systems of a stage, those that do not conflict at once.
func (t *team) runStage(st *stage) {
	t.mu.Lock()
	t.left, t.running = len(st.nodes), 0
	t.ready = t.ready[:0]
	for _, n := range st.nodes {
		if n.waiting = n.waitsFor; n.waiting == 0 {
			t.ready = append(t.ready, n)
		}
	}
	t.rouse(st.roots - 1)
	for !t.over() {
		if !t.work(t.workers[0]) {
			t.sleep(t.workers[0])
		}
	}
	t.ready = t.ready[:0]
	t.mu.Unlock()
}

// runInTurn runs the systems of a stage on the calling goroutine.
func (t *team) runInTurn(st *stage) {
	s, w := t.schedule, t.workers[0]
	start := s.now()
	for _, n := range st.nodes {
		w.system = n
		s.run(w, n)
		w.system = nil
		end := s.now()
		n.took.took = end - start
		if s.observers.recorder != nil && n.took.done {
			s.observers.recorder.keep(w, mark{kind: RanSystem, system: n, part: -1, start: start, end: end})
			end = s.now()
		}
		start = end
		if s.world.Changes() != s.changes && !n.Exclusive {
			t.structureChanged(n)
		}
		if t.halted {
			return
		}
	}
}

// structureChanged notes that a system that is not exclusive, or one that runs beside it, changed the structure.
func (t *team) structureChanged(n *node) {
	e := &StructureError{Systems: []string{n.Name}}
	for _, w := range t.workers {
		if w.system != nil && w.system != n {
			e.Systems = append(e.Systems, w.system.Name)
		}
	}
	t.halt(n, e)
}

// halt lets no more systems start. Of several errors that of the system that is first in order is told.
func (t *team) halt(n *node, err error) {
	if t.err == nil || n.place < t.place {
		t.err, t.place = err, n.place
	}
	t.halted = true
}
