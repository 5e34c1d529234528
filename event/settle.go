package event

import (
	"cmp"
	"slices"
)

// generation holds the settled events of one tick, in their order.
type generation struct {
	segments []segment
	first    uint64 // number of the first event, among all events of the queue
	count    int    // number of events
	blocks   []int  // the blocks that hold the events of the tick, settled or not
	targets  targets
}

// segment is a sequence of events side by side in memory.
type segment struct{ lo, hi int }

// end returns the number after the last event.
func (g *generation) end() uint64 { return g.first + uint64(g.count) }

// add adds the events of a segment.
func (g *generation) add(s segment) {
	g.count += s.hi - s.lo
	if n := len(g.segments); n > 0 && g.segments[n-1].hi == s.lo {
		g.segments[n-1].hi = s.hi
		return
	}
	g.segments = append(g.segments, s)
}

// settle brings the events that were sent since the last call into their order, behind all earlier events. It
// copies no event: it sorts the runs of events (see the type run). No writer may be at work.
//
// The order is the same on any number of workers. The schedule calls settle before a system that reads the
// queue. At that time, exactly the systems before that system in the order of the schedule have sent their
// events of the tick.
func (q *Queue[T]) settle() {
	q.mu.Lock()
	defer q.mu.Unlock()
	runs := q.scratch[:0]
	for _, w := range q.writers {
		w.endRun()
		runs = append(runs, w.runs...)
		w.runs = w.runs[:0]
	}
	if q.scratch = runs; len(runs) == 0 {
		return
	}
	// A position belongs to one writer, so run.order alone orders the runs of one position.
	order := func(a, b run) int {
		return cmp.Or(cmp.Compare(a.position, b.position), cmp.Compare(a.order, b.order))
	}
	if !slices.IsSortedFunc(runs, order) {
		slices.SortFunc(runs, order)
	}
	for _, r := range runs {
		q.into.add(segment{r.lo, r.hi})
	}
	if q.into == q.current {
		q.next.first = q.current.end()
	}
	q.view = q.memory.Slice()
}

// end ends a tick.
func (q *Queue[T]) end() {
	q.settle()
	q.into = q.next
	for _, w := range q.writers {
		w.room, w.used, w.begin = nil, 0, 0 // a block holds events of one tick
	}
	q.last.Store(int64(q.current.count))
	q.total.Store(int64(q.current.end()))
}

// begin begins a tick and frees the memory of the oldest events.
func (q *Queue[T]) begin() {
	q.settle()
	q.mu.Lock()
	defer q.mu.Unlock()
	oldest := q.previous
	q.empty(oldest)
	q.previous, q.current, q.next = q.current, q.next, oldest
	oldest.first = q.current.end()
	q.into, q.restored = q.current, nil
	q.mayShrink()
}

// reset drops all events, and lets readers begin anew.
func (q *Queue[T]) reset() {
	q.settle()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, g := range []*generation{q.previous, q.current, q.next} {
		q.empty(g)
		g.first = 0
	}
	for _, w := range q.writers {
		w.room, w.used, w.begin = nil, 0, 0
	}
	for _, r := range q.readers {
		r.next = 0
	}
	q.into = q.next
}

// empty removes the events of a generation. The caller holds the mutex.
func (q *Queue[T]) empty(g *generation) {
	for _, n := range g.blocks {
		q.blocks.release(n)
	}
	g.blocks, g.segments, g.count = g.blocks[:0], g.segments[:0], 0
	g.targets.clear()
}
