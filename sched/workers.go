package sched

import (
	"slices"
	"sync"
	"time"

	"github.com/vastgo/vast"
)

// worker runs systems, and parts of a division. The first worker is the goroutine that calls Tick. The other
// workers run on goroutines of the pool: a worker has a goroutine as long as there is work for the worker.
type worker struct {
	team     *team
	index    int
	commands *vast.Commands // nil until the first use
	recorded bool           // whether commands may hold commands that are not applied
	position int            // position of the last recorded command, if recorded is true
	part     Context        // the Context that parts receive
	system   *node          // the running system
	wake     chan struct{}  // receives a token when this worker must stop waiting
	next     *worker        // in the list of workers that wait for a goroutine of the pool
}

// team is the set of workers of a schedule. Idle workers do not spin: they have no goroutine, and the first
// worker sleeps.
type team struct {
	schedule *Schedule
	workers  []*worker
	pool     *Pool

	mu      sync.Mutex
	asleep  bool        // whether the first worker sleeps, or is about to sleep, until there is work
	idle    []*worker   // the other workers without work
	ready   []*node     // systems that may start
	shared  []*division // divisions that may have parts left
	left    int         // number of systems of the stage that are not done
	running int         // number of running systems
	halted  bool        // whether no more systems may start
	err     error       // the error that halted the team
	place   int         // index of the system that caused err, in the order of the phase
}

func (t *team) start(s *Schedule, n int, p *Pool) {
	t.schedule, t.pool = s, p
	t.workers = make([]*worker, n)
	for i := range t.workers {
		t.workers[i] = &worker{team: t, index: i, wake: make(chan struct{}, 1)}
	}
	t.idle = slices.Clone(t.workers[1:])
}

func (t *team) makeRoom(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ready = slices.Grow(t.ready[:0], n)
}

// runWorker works as a worker until there is no work.
func (t *team) runWorker(w *worker) {
	t.mu.Lock()
	for t.work(w) {
	}
	t.idle = append(t.idle, w)
	t.mu.Unlock()
}

// recoverWorker ends the system of a worker whose goroutine is ending.
func (t *team) recoverWorker(w *worker) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.system != nil {
		t.finish(w)
	}
}

// sleep lets the first worker wait for work. The caller holds the mutex, which sleep releases while it waits.
func (t *team) sleep() {
	t.asleep = true
	t.mu.Unlock()
	<-t.workers[0].wake
	t.mu.Lock()
}

// rouse wakes at most n idle workers. The first worker is the first to wake, because the others may have to
// wait for a goroutine of the pool. The caller holds the mutex.
func (t *team) rouse(n int) {
	if n <= 0 {
		return
	}
	woken := t.rouseFirst()
	if woken {
		n--
	}
	for ; n > 0 && len(t.idle) > 0; n-- {
		w := t.idle[len(t.idle)-1]
		t.idle = t.idle[:len(t.idle)-1]
		woken = t.pool.serve(w) || woken
	}
	if woken {
		go makeWay()
	}
}

// makeWay does nothing, but starting it lets other processors of Go's scheduler run a woken worker
// immediately. A processor reserves the goroutine that became ready last: it runs this goroutine next, and
// other processors do not steal it for about fifty microseconds. Because makeWay becomes ready after the
// worker, the processor reserves makeWay and not the worker.
func makeWay() {}

// rouseFirst wakes the first worker if it sleeps, and reports whether it did. The caller holds the mutex.
func (t *team) rouseFirst() bool {
	asleep := t.asleep
	if asleep {
		t.asleep = false
		t.workers[0].wake <- struct{}{}
	}
	return asleep
}

// work runs a system or parts of a division, and reports whether there was work. The caller holds the mutex,
// which work releases while it runs the system or the parts.
func (t *team) work(w *worker) bool {
	if len(t.ready) > 0 && !t.halted {
		n := t.ready[0]
		t.ready = t.ready[:copy(t.ready, t.ready[1:])]
		t.running++
		w.system = n
		t.mu.Unlock()
		s := t.schedule
		start := s.read()
		s.run(w, n)
		s.ran(w, n, start, s.read())
		t.mu.Lock()
		t.finish(w)
		return true
	}
	if len(t.shared) > 0 {
		d := t.shared[len(t.shared)-1]
		if d.next.Load() >= int64(d.count) {
			t.unlist(d)
			return true
		}
		d.helpers++
		t.mu.Unlock()
		d.help(t, w)
		t.mu.Lock()
		return true
	}
	return false
}

// ran notes the duration of a system, and reports whether it also passed the times to a recorder.
func (s *Schedule) ran(w *worker, n *node, start, end time.Duration) (recorded bool) {
	n.took.took = end - start
	recorded = s.observers.recorder != nil && n.took.done
	if recorded {
		s.observers.recorder.keep(w, mark{kind: RanSystem, system: n, part: -1, start: start, end: end})
	}
	return recorded
}

// finish marks the worker's system as done, and wakes workers for the systems that can now start. The caller
// holds the mutex.
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
		t.rouse(more - 1) // worker w runs one of the systems itself
	}
}

func (t *team) over() bool { return t.left == 0 || t.halted && t.running == 0 }

// runStage runs the systems of a stage, each one when the systems that it waits for are done.
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
			t.sleep()
		}
	}
	t.ready = t.ready[:0]
	t.mu.Unlock()
}

// runInTurn runs the systems of a stage on the calling goroutine.
func (t *team) runInTurn(st *stage) {
	s, w := t.schedule, t.workers[0]
	start := s.read()
	for _, n := range st.nodes {
		w.system = n
		s.run(w, n)
		w.system = nil
		end := s.read()
		if s.ran(w, n, start, end) {
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

// structureChanged records that n, or a system that runs at the same time, changed the structure without
// being exclusive.
func (t *team) structureChanged(n *node) {
	e := &StructureError{Systems: []string{n.Name}}
	for _, w := range t.workers {
		if w.system != nil && w.system != n {
			e.Systems = append(e.Systems, w.system.Name)
		}
	}
	t.halt(n, e)
}

// halt lets no more systems start. It keeps the error of the system that comes first in the order.
func (t *team) halt(n *node, err error) {
	if t.err == nil || n.place < t.place {
		t.err, t.place = err, n.place
	}
	t.halted = true
}
