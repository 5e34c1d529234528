package event

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/events"
	"github.com/vastgo/vast/sched"
)

// writer is the part of a queue that one worker writes.
type writer[T any] struct {
	turn     *events.Turn // Turn of the code that sends the run under way; nil if no run is under way
	position uint64       // position of the run under way
	used     int          // number of events in the block
	room     []record[T]  // the block, or nil
	first    int          // index of the block's first event in the memory of the queue
	begin    int          // number of events that were in the block when the run under way began
	runs     []run        // runs that ended since the last settle
	_        [64]byte     // other workers write other writers
}

// run is a sequence of events with the same position, side by side in memory.
type run struct {
	position uint64
	order    int // distinguishes the runs of a writer
	lo, hi   int // indices in the memory of the queue
}

func (w *writer[T]) endRun() {
	if w.used > w.begin {
		w.runs = append(w.runs, run{w.position, len(w.runs), w.first + w.begin, w.first + w.used})
		w.begin = w.used
	}
	w.turn = nil
}

// Send sends an event. Systems that run later in the tick, or in the next tick, read it.
//
// c is the Context that the system or the part of Each, Split or Reduce receives. The system must declare
// the queue in WritesResources, unless the system is exclusive. A nil c is for other code on the goroutine
// that ticks. Between ticks, such code sends the first events of the next tick. In a hook that runs while the
// schedule applies commands, such code sends events behind those of the systems that have run. In an
// exclusive system, such code sends events as if the system had sent them. After Close of the schedule, Send
// with a nil c does nothing, because vast.World.Close calls hooks.
//
// Send panics with a [*vm.Error] if there is no memory; then the queue is unchanged. See [Queue.Grow]. It
// panics if the system does not declare the queue. Complexity: O(1). Workers share no memory that Send
// writes, and lock a mutex only when they begin a block (16 KiB, or less with a small MaxBytes).
func (q *Queue[T]) Send(c *sched.Context, event T) { q.slot(c).set(vast.Entity{}, event) }

// SendTo sends an event with a target. Otherwise it is like [Queue.Send]. The target may be dead. It must not
// be a placeholder that vast.Commands.New returned in this phase.
func (q *Queue[T]) SendTo(c *sched.Context, target vast.Entity, event T) {
	q.slot(c).set(target, event)
}

func (r *record[T]) set(target vast.Entity, value T) { r.Target, r.Value = target, value }

// slot returns the place of the next event.
func (q *Queue[T]) slot(c *sched.Context) *record[T] {
	if c != nil {
		if t := c.Turn(); t.Worker < len(q.writers) {
			w := q.writers[t.Worker]
			if w.turn == t && w.position == t.Position && w.used < len(w.room) {
				w.used++
				return &w.room[w.used-1]
			}
		}
	}
	return q.beginRun(c)
}

// beginRun begins a run if the code that sends or its position have changed, or the block is full. It returns
// the place of the next event.
func (q *Queue[T]) beginRun(c *sched.Context) *record[T] {
	if q != nil && q.closed && c == nil {
		return new(record[T])
	}
	q.mustBeOpen("Queue.Send")
	var t *events.Turn
	if c == nil {
		t = events.Sched.Alone(q.schedule, true, "Queue.Send")
	} else {
		events.Sched.Check(c, (*link[T])(q), true, "Queue.Send")
		t = c.Turn()
	}
	w := q.writers[t.Worker]
	if w.used == len(w.room) {
		first, err := q.takeBlock(q.into)
		if err != nil {
			panic(err)
		}
		w.endRun()
		w.room, w.first, w.used, w.begin = q.block(first), first, 0, 0
	} else if w.turn != t || w.position != t.Position {
		w.endRun()
	}
	w.turn, w.position = t, t.Position
	w.used++
	return &w.room[w.used-1]
}

// block returns the events of a block.
func (q *Queue[T]) block(first int) []record[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.memory.Slice()[first : first+q.blocks.size]
}
