package bulk

import (
	"iter"
	"unsafe"
)

// Slice returns the elements in their order in memory, which is that of insertion while nothing is removed. It is the fast
// way over all of them. It stays good, and does not see what is inserted later, until something is removed: then the last
// element moves into the place of the removed one, and its own place holds none.
//
// To remove elements on the way, go backwards: what moves into the place of element i was passed already.
//
//	for i := len(es) - 1; i >= 0; i-- {
//		if es[i].done() {
//			d.Remove(d.HandleAt(i))
//		}
//	}
func (d *Dense[T]) Slice() []T {
	d.mustBeOpen()
	return unsafe.Slice((*T)(d.base), d.len)[:d.len:d.len]
}

// HandleAt returns the handle of element i of [Dense.Slice]. It panics when i is not in [0, Len).
func (d *Dense[T]) HandleAt(i int) Handle[T] {
	if uint(i) >= uint(d.len) {
		panic(&indexError{"HandleAt", i, d.len, d.plan.name, d.ended})
	}
	slot := *d.owner(uint(i))
	return Handle[T]{slot, d.locator(uint(slot)).generation}
}

// Index returns the index of the element of h in [Dense.Slice], or -1 where it is gone or h is of another container.
// Removing changes the index of the element that was last. Complexity: constant.
func (d *Dense[T]) Index(h Handle[T]) int {
	if uint(h.slot) >= d.room {
		d.mustBeOpen()
		return -1
	}
	l := d.locator(uint(h.slot))
	if l.generation != h.generation {
		return -1
	}
	return int(l.number) - 1 // -1 for a slot without an element
}

// Runs yields all elements as one run from index 0 on, if there are any: [Dense.Slice] for code that works on a [Pool] as
// well. The number is an index, for [Dense.HandleAt]. What removing does to the run see there.
func (d *Dense[T]) Runs() iter.Seq2[int, []T] {
	return func(yield func(int, []T) bool) {
		if es := d.Slice(); len(es) > 0 && yield(0, es) {
			d.mustBeOpen()
		}
	}
}

// All yields the elements with their handles, in ascending order of slots as [Pool.All] does. The body may remove
// elements, and those are not yielded any more; elements that it inserts may be yielded or not.
//
// After many removals that is not the order in memory: where it does not matter, [Dense.Slice] with [Dense.HandleAt] is
// faster.
func (d *Dense[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		d.mustBeOpen()
		for slot := d.live.Next(0); slot < d.room; slot = d.live.Next(slot + 1) {
			l := d.locator(slot)
			if !yield(Handle[T]{uint32(slot), l.generation}, d.element(uint(l.number)-1)) {
				return
			}
			d.mustBeOpen()
		}
	}
}
