package bulk

import (
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/rooms"
)

// roomOf gives package vast access to the memory of a pool.
type roomOf[T any] struct{ p *Pool[T] }

func init() {
	rooms.Of = func(pool any) rooms.Pool {
		return pool.(interface{ roomOf() rooms.Pool }).roomOf()
	}
}

func (p *Pool[T]) roomOf() rooms.Pool { return roomOf[T]{p} }

func (r roomOf[T]) Free() int { return int(r.p.room) - r.p.len - r.p.retiredHoles() }
func (r roomOf[T]) Left() int { return r.p.plan.capacity - r.p.len - r.p.retiredHoles() }

func (r roomOf[T]) Trim(keep int) error { return r.p.trim(keep) }

func (r roomOf[T]) Memory() (elements, words unsafe.Pointer) { return r.p.base, r.p.live.Words() }
func (r roomOf[T]) Next(from uint) uint                      { return r.p.live.Next(from) }

func (r roomOf[T]) SetMark(m generation.Mark) { r.p.generations.tag = m }

func (r roomOf[T]) Committed() rooms.Committed {
	p := r.p
	return rooms.Committed{Elements: p.elements.Committed(), Generations: p.generations.committed(),
		Live: p.live.Len()}
}

func (r roomOf[T]) Restore(c rooms.Committed) {
	p := r.p
	p.elements.shrinkTo(c.Elements)
	p.generations.shrinkTo(c.Generations)
	p.live.Shrink(c.Live)
	p.measure()
}
