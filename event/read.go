package event

import (
	"fmt"
	"iter"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/events"
	"github.com/vastgo/vast/sched"
)

// All yields the events of the last tick and of this tick, each with its target, in the order in which they
// were sent. Events of this tick are those that were sent before the running system began: by the systems
// before it in the order of the schedule, by hooks, and before the tick. So a system reads most events in two
// ticks. Use a [Reader] to read each event once.
//
// c is the Context of the system or of a part. The system must declare the queue in ReadsResources, unless
// it is exclusive; otherwise All panics. A nil c is for other code on the goroutine that ticks, while no
// system runs. Between ticks, All then yields the events of the last two ticks, and those that were sent
// since the last tick.
//
// Complexity: O(1) for each event.
func (q *Queue[T]) All(c *sched.Context) iter.Seq2[vast.Entity, T] {
	return func(yield func(vast.Entity, T) bool) {
		q.mayRead(c, "Queue.All")
		q.walk(0, yield)
	}
}

// Len returns the number of events that [Queue.All] yields. The rules of All hold. Complexity: O(1).
func (q *Queue[T]) Len(c *sched.Context) int {
	q.mayRead(c, "Queue.Len")
	return int(q.next.end() - q.previous.first)
}

// mayRead panics if code must not read the queue.
func (q *Queue[T]) mayRead(c *sched.Context, method string) {
	q.mustBeOpen(method)
	if c != nil {
		events.Sched.Check(c, (*link[T])(q), false, method)
		return
	}
	events.Sched.Alone(q.schedule, false, method)
	q.settle()
}

// walk calls yield for each event whose number is at least from.
func (q *Queue[T]) walk(from uint64, yield func(vast.Entity, T) bool) {
	for _, g := range [...]*generation{q.previous, q.current, q.next} {
		if from >= g.end() {
			continue
		}
		skip := int(from - min(from, g.first))
		for _, s := range g.segments {
			n := s.hi - s.lo
			if skip >= n {
				skip -= n
				continue
			}
			part := q.view[s.lo+skip : s.hi]
			skip = 0
			for i := range part {
				if !yield(part[i].Target, part[i].Value) {
					return
				}
			}
		}
	}
}

// Reader reads each event of a queue once. Make one with [Queue.NewReader]. A Reader belongs to one system:
// systems that run in parallel must not share a Reader, and parts of Each, Split and Reduce must not use it.
type Reader[T any] struct {
	queue  *Queue[T]
	next   uint64 // number of the next event
	number int    // number among the readers of the queue, from 1 on
	// outside is true after the Reader was used without a Context. Package store does not keep the position
	// of such a Reader.
	outside bool
}

// NewReader makes a Reader, which begins with the oldest event that is still readable. If package store has
// loaded the queue and no tick has begun since, the Reader begins at a saved position instead. Package store
// saves the positions by the order in which the readers of a queue were made, so a program that uses a store
// must make its readers in the same order in each process. Call NewReader while no system runs.
func (q *Queue[T]) NewReader() *Reader[T] {
	q.mustBeOpen("Queue.NewReader")
	r := &Reader[T]{queue: q, number: len(q.readers) + 1}
	r.next = q.current.first + q.restored[r.key()]
	if r.next == q.current.first {
		r.next = 0
	}
	q.readers = append(q.readers, r)
	return r
}

// Next yields the events that this Reader has not yielded yet, each with its target, in the order in which
// they were sent. If the loop ends early, the next call continues behind the last yielded event. The rules of
// [Queue.All] hold.
//
// A system that calls Next in each tick reads each event once: in the tick in which it was sent, or in the
// next one. A system that does not run in some ticks misses the events that are older than the last tick.
//
// Complexity: O(1) for each yielded event, and a short look at each segment before it. A segment is a
// sequence of events that one worker has sent without interruption.
func (r *Reader[T]) Next(c *sched.Context) iter.Seq2[vast.Entity, T] {
	return func(yield func(vast.Entity, T) bool) {
		r.mayRead(c, "Reader.Next")
		q := r.queue
		r.next = max(r.next, q.previous.first)
		q.walk(r.next, func(target vast.Entity, event T) bool {
			r.next++
			return yield(target, event)
		})
	}
}

// Len returns the number of events that [Reader.Next] would yield. The rules of [Queue.All] hold.
func (r *Reader[T]) Len(c *sched.Context) int {
	r.mayRead(c, "Reader.Len")
	q := r.queue
	return int(q.next.end() - max(r.next, q.previous.first))
}

func (r *Reader[T]) mayRead(c *sched.Context, method string) {
	if r == nil || r.queue == nil {
		panic("event: " + method + " on a nil or zero Reader: make one with Queue.NewReader")
	}
	r.queue.mayRead(c, method)
	r.outside = r.outside || c == nil
}

// key is the name of the reader's position in a saved queue.
func (r *Reader[T]) key() string { return fmt.Sprint("reader ", r.number) }
