package event

import (
	"iter"
	"sync"
	"sync/atomic"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

// targets groups the events of a generation by target, when a system asks for the events of a target. It is a
// hash table on the Go heap, which holds no Go pointers.
type targets struct {
	mu      sync.Mutex    // guards the fields below; readers of grouped events need no mutex
	grouped atomic.Uint64 // number of events of the generation that are grouped
	slots   []targetSlot  // their number is 0 or a power of two; at least half of the slots are empty
	used    int           // number of slots that are not empty
	links   []targetLink
}

type targetSlot struct {
	target      vast.Entity // zero if the slot is empty
	first, last uint32      // 1 + index in links of the first and of the last event
}

type targetLink struct {
	at   uint32 // index in the memory of the queue
	next uint32 // 1 + index in links of the next event with the same target, or 0
}

// Of yields the events of [Queue.All] that have the given target, in the order in which they were sent. For
// the zero Entity, Of yields no events. The rules of All hold. Several systems and parts may call Of at the
// same time.
//
// Complexity: O(1) for each yielded event. A call of Of first groups by target all events that became
// readable since the last call. So a queue groups each event once, and only if a system calls Of.
func (q *Queue[T]) Of(c *sched.Context, target vast.Entity) iter.Seq[T] {
	return func(yield func(T) bool) {
		q.mayRead(c, "Queue.Of")
		for _, g := range [...]*generation{q.previous, q.current, q.next} {
			if g.count == 0 || target.IsZero() {
				continue
			}
			if g.targets.grouped.Load() != uint64(g.count) {
				q.group(g)
			}
			for i := g.targets.first(target); i > 0; {
				one := g.targets.links[i-1]
				if !yield(q.view[one.at].Value) {
					return
				}
				i = one.next
			}
		}
	}
}

// group groups the events of a generation that are not grouped yet.
func (q *Queue[T]) group(g *generation) {
	t := &g.targets
	t.mu.Lock()
	defer t.mu.Unlock()
	skip := int(t.grouped.Load()) // all events if another reader was faster
	for _, s := range g.segments {
		for i := s.lo + min(skip, s.hi-s.lo); i < s.hi; i++ {
			if target := q.view[i].Target; !target.IsZero() {
				t.add(target, i)
			}
		}
		skip -= min(skip, s.hi-s.lo)
	}
	t.grouped.Store(uint64(g.count))
}

// clear empties the table. It gives the memory back if the table had only few of many slots in use.
func (t *targets) clear() {
	if len(t.slots) > max(1024, 16*t.used) {
		t.slots, t.links = nil, nil
	}
	if t.used > 0 {
		clear(t.slots)
	}
	t.links, t.used = t.links[:0], 0
	t.grouped.Store(0)
}

// first returns 1 + the index in links of the target's first event, or 0.
func (t *targets) first(target vast.Entity) uint32 {
	if t.used == 0 {
		return 0
	}
	return t.find(target).first
}

// find returns the slot of a target, or the empty slot that a new target gets.
func (t *targets) find(target vast.Entity) *targetSlot {
	mask := uint64(len(t.slots) - 1)
	for i := target.ID() * 0x9e3779b97f4a7c15 >> 32; ; i++ {
		if s := &t.slots[i&mask]; s.target == target || s.target.IsZero() {
			return s
		}
	}
}

func (t *targets) add(target vast.Entity, at int) {
	if 2*t.used >= len(t.slots) {
		old := t.slots
		t.slots = make([]targetSlot, max(64, 2*len(old)))
		for _, s := range old {
			if !s.target.IsZero() {
				*t.find(s.target) = s
			}
		}
	}
	t.links = append(t.links, targetLink{at: uint32(at)})
	n := uint32(len(t.links))
	s := t.find(target)
	if s.target.IsZero() {
		s.target, s.first = target, n
		t.used++
	} else {
		t.links[s.last-1].next = n
	}
	s.last = n
}
