package event

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/events"
	"github.com/vastgo/vast/internal/state"
)

// states has the method that package store calls.
type states struct{}

func init() { state.Events = states{} }

// Container returns the state of a queue. It returns nil if the argument is no queue.
func (states) Container(container any) state.Container {
	q, ok := container.(interface{ keep() any })
	if !ok {
		return nil
	}
	return q.keep().(state.Container)
}

// keep returns a state.Container. The result is any, as in package bulk.
func (q *Queue[T]) keep() any {
	q.mustBeOpen("saving or loading")
	return contents[T]{q}
}

// between is the key in Contents.Numbers under which Describe stores the number of events that belong to the
// next tick.
const between = "between"

// contents implements state.Container. The state of a queue consists of the events of the last tick, the
// events that belong to the next tick, and the positions of the readers among these events. The state leaves
// out the events of the tick before the last one, because the next tick cannot read them. It also leaves out
// the positions of readers that were used without a Context.
type contents[T any] struct{ q *Queue[T] }

func (c contents[T]) Of() []any { return []any{events.Queue((*link[T])(c.q))} }

func (c contents[T]) Describe() state.Contents {
	q := c.q
	q.settle()
	d := state.Contents{Kind: "events", Len: q.current.count + q.next.count, Numbers: map[string]uint64{
		between: uint64(q.next.count)}}
	for _, r := range q.readers {
		if r.next > q.current.first && !r.outside {
			d.Numbers[r.key()] = r.next - q.current.first
		}
	}
	return d
}

func (c contents[T]) Arrays(d state.Contents, column int) []state.Array {
	size := int(unsafe.Sizeof(record[T]{}))
	return []state.Array{{Kind: state.Elements, Column: column, Len: d.Len,
		Type: reflect.TypeFor[record[T]](),
		Read: func(dst []byte, lo int) {
			c.copy(lo, len(dst)/size, func(events []byte) { dst = dst[copy(dst, events):] })
		},
		Write: func(src []byte, lo int) error {
			c.copy(lo, len(src)/size, func(events []byte) { src = src[copy(events, src):] })
			return nil
		}}}
}

// copy calls f for the bytes of n events of the state, from event lo on, in several parts.
func (c contents[T]) copy(lo, n int, f func(events []byte)) {
	size := int(unsafe.Sizeof(record[T]{}))
	for _, g := range []*generation{c.q.current, c.q.next} {
		for _, s := range g.segments {
			skip := min(lo, s.hi-s.lo)
			lo -= skip
			if part := c.q.view[s.lo+skip : min(s.hi, s.lo+skip+n)]; len(part) > 0 {
				n -= len(part)
				f(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(part))), len(part)*size))
			}
		}
	}
}

func (c contents[T]) Reserve(d state.Contents) error {
	q := c.q
	q.settle()
	if q.next.end() > 0 {
		return fmt.Errorf("%s has or had events: load into a new queue", q.name)
	}
	if d.Len < 0 || d.Numbers[between] > uint64(d.Len) {
		return fmt.Errorf("%s: the file has %d events, and %d of them belong to the next tick", q.name, d.Len,
			d.Numbers[between])
	}
	later := int(d.Numbers[between])
	err := q.reserve(q.current, d.Len-later)
	if q.next.first = q.current.end(); err == nil {
		err = q.reserve(q.next, later)
	}
	if err != nil {
		q.reset()
	}
	q.view = q.memory.Slice()
	return err
}

// reserve adds n events with undefined values to a generation.
func (q *Queue[T]) reserve(g *generation, n int) error {
	for n > 0 {
		lo, err := q.takeBlock(g)
		if err != nil {
			return err
		}
		hi := lo + min(n, q.blocks.size)
		g.add(segment{lo, hi})
		n -= hi - lo
	}
	return nil
}

func (c contents[T]) Settle(d state.Contents, _ []state.Array) error {
	q := c.q
	for name, n := range d.Numbers {
		if n > uint64(d.Len) {
			return fmt.Errorf("%s: the number %q in the file is %d, but the file has %d events", q.name, name,
				n, d.Len)
		}
	}
	q.restored = d.Numbers
	for _, r := range q.readers {
		r.next = q.restored[r.key()]
	}
	q.last.Store(int64(q.current.count))
	q.total.Store(int64(q.current.end()))
	return nil
}

func (c contents[T]) Abandon(state.Contents) { c.q.reset() }
