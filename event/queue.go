package event

import (
	"fmt"
	"math"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/events"
	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/vm"
)

// Options are the options of a [Queue]. The zero value works.
type Options struct {
	// Name identifies the queue among the queues of its schedule: in messages, in statistics, in the
	// sched.Graph, and as the purpose of its memory in vm.Snapshot. Default: the name of the event type.
	Name string
	// MaxBytes is a budget for the bytes of all events of two ticks. An event takes 8 bytes and the size of
	// its type, rounded up for alignment. Each worker that sends takes memory in blocks of 16 KiB, or in
	// smaller blocks if MaxBytes is less than 1 MiB. Exceeding the budget is an error wrapping [vm.ErrLimit].
	// Default: none, but the events must fit into 16 GiB of addresses, or 16 MiB if regions are Go heap
	// memory.
	MaxBytes int
	// Limit is a budget of committed memory, shared with other containers. Default: [vm.DefaultLimit].
	Limit *vm.Limit
	// Pages is the page policy of the memory. Default: that of package bulk.
	Pages vm.Pages
}

// Queue holds the events of one type that systems of a schedule send to each other. Make one with [New].
//
// Systems send and read events with their sched.Context. The schedule orders these systems, because they
// declare the queue. While no system runs, the goroutine that ticks may call all methods, with a nil Context.
// sched.Stats has the numbers of events, and the memory of the queue.
type Queue[T any] struct {
	schedule *sched.Schedule
	resource sched.Resource
	name     string
	writers  []*writer[T] // one for each worker
	closed   bool

	mu     sync.Mutex // guards the fields from memory to scratch while systems run
	memory *bulk.Array[record[T]]
	blocks blocks
	into   *generation // receives the events that are sent now: current in a tick, next between ticks
	// current has the events of the tick under way; between ticks, of the last tick. previous has the events
	// of the tick before that tick. next has the events that were sent between ticks, for the next tick.
	previous, current, next *generation
	scratch                 []run // used by settle

	// view is the memory with all settled events: see Queue.settle. Code that reads events needs no mutex,
	// because no event is settled while a system reads.
	view    []record[T]
	readers []*Reader[T]
	// restored has the positions that readers had when the queue was saved: see the type contents.
	restored map[string]uint64

	last, total, bytes atomic.Int64 // see events.Stats
}

// record is an event in memory.
type record[T any] struct {
	Target vast.Entity // zero if the event has no target
	Value  T
}

// New makes a queue of events of type T for the systems of a schedule. Schedule.Close also closes the queue.
// Call New before sched.Schedule.Add of the systems that use the queue, and between ticks.
//
// New panics when the schedule is nil, closed or in a tick, has a queue of the same name, or is attached to a
// store, when T holds Go pointers, when MaxBytes is negative, and with a [*vm.Error] when there are no
// addresses.
func New[T any](s *sched.Schedule, o Options) *Queue[T] {
	layout.Check[T]("event: New")
	if s == nil {
		panic(fmt.Sprintf("event: New[%s]: the schedule is nil", layout.Name[T]()))
	}
	if o.MaxBytes < 0 {
		panic(fmt.Sprintf("event: New[%s]: Options.MaxBytes is %d: leave it zero for the default",
			layout.Name[T](), o.MaxBytes))
	}
	if o.Name == "" {
		o.Name = layout.Name[T]()
	}
	q := &Queue[T]{schedule: s, name: o.Name, previous: new(generation), current: new(generation),
		next: new(generation)}
	q.into = q.next
	size := int(unsafe.Sizeof(record[T]{}))
	o.MaxBytes = int(min(uint64(o.MaxBytes), uint64(size)*math.MaxUint32)) // see targetLink
	q.blocks.size = blockOf(size, o.MaxBytes)
	var err error
	q.memory, err = bulk.NewArray[record[T]](bulk.Options{Name: o.Name, MaxBytes: o.MaxBytes, Limit: o.Limit,
		Pages: o.Pages})
	if err != nil {
		panic(err)
	}
	made := false
	defer func() {
		if !made {
			_ = q.memory.Close()
		}
	}()
	q.resource = events.Sched.Add(s, (*link[T])(q)).(sched.Resource)
	for range events.Sched.Workers(s) {
		q.writers = append(q.writers, new(writer[T]))
	}
	made = true
	return q
}

// Resource returns the name of the queue for [sched.Resources], which makes the declarations of a
// [sched.System]: sched.Resources(q) is the WritesResources of a system that sends events, and the
// ReadsResources of a system that reads events. Two systems that only send to the queue do not conflict.
// Resource panics after Close of the schedule.
func (q *Queue[T]) Resource() sched.Resource {
	q.mustBeOpen("Queue.Resource")
	return q.resource
}

// Grow makes room for n events. The next n calls of Send and SendTo cannot fail, up to the end of the tick
// under way; between ticks, up to the end of the next tick. The queue does not give the memory back before
// [Queue.Trim]. Call Grow while no system runs. Grow returns a [*vm.Error] if there is no memory; then the
// queue is unchanged. It panics when n is negative.
func (q *Queue[T]) Grow(n int) error {
	q.mustBeOpen("Queue.Grow")
	if n < 0 {
		panic(fmt.Sprintf("event: Queue.Grow(%d) of %q: a number of events is zero or more", n, q.name))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	// Each worker begins a block of its own. The bound keeps the product in addBlocks from overflowing.
	need := min(n, math.MaxInt/4)/q.blocks.size + min(n, len(q.writers))
	if more := need - q.blocks.free; more > 0 {
		if err := q.addBlocks(more); err != nil {
			return err
		}
	}
	q.blocks.promised = max(q.blocks.promised, need)
	return nil
}

// Trim gives unused memory back, including the room from [Queue.Grow]. Call Trim while no system runs. A
// queue also trims itself: if it has used less than half of its memory in 64 ticks, it gives the rest back,
// but keeps the room from Grow.
func (q *Queue[T]) Trim() {
	q.mustBeOpen("Queue.Trim")
	q.mu.Lock()
	defer q.mu.Unlock()
	q.blocks.promised = 0
	q.shrink(0)
}

// mustBeOpen panics if the queue cannot be used. The message names the use.
func (q *Queue[T]) mustBeOpen(use string) {
	if q == nil || q.schedule == nil {
		panic("event: " + use + " of a nil or zero Queue: make one with New")
	}
	if q.closed {
		panic(fmt.Sprintf("event: %s of %q after Close of its schedule", use, q.name))
	}
}

// link has the methods that the schedule calls. It is a type of its own, so that a Queue does not have these
// methods.
type link[T any] Queue[T]

func (l *link[T]) Name() string { return l.name }

func (l *link[T]) Begin()  { (*Queue[T])(l).begin() }
func (l *link[T]) End()    { (*Queue[T])(l).end() }
func (l *link[T]) Settle() { (*Queue[T])(l).settle() }

func (l *link[T]) Reset() {
	(*Queue[T])(l).reset()
	l.restored = nil
	l.last.Store(0)
	l.total.Store(0)
}

func (l *link[T]) Close() error {
	l.closed = true
	for _, w := range l.writers {
		*w = writer[T]{}
	}
	l.view = nil
	l.bytes.Store(0)
	return l.memory.Close()
}

func (l *link[T]) Stats() events.Stats {
	return events.Stats{Type: reflect.TypeFor[T](), Last: int(l.last.Load()), Total: uint64(l.total.Load()),
		Bytes: int(l.bytes.Load())}
}
