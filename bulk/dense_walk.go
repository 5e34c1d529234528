package bulk

import (
	"iter"
	"unsafe"
)

// Slice returns the elements in their order in memory: the order of insertion if no element was removed. A
// loop over this slice is the fastest way to visit all elements. Elements that are inserted later are not in
// the slice. A removal moves the last element into the gap; the last place of the slice then holds no
// element.
//
// To remove elements in a loop, go backwards: the loop has then visited the element that moves into the gap.
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

// Index returns the index of the element of h in [Dense.Slice], or -1 if the element was removed or h is of
// another container. A removal changes the index of the last element. Complexity: constant.
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

// Runs yields all elements as one run that begins at index 0, or nothing if there are no elements. Runs
// exists so that the same loop works for a Dense and a [Pool]. Removals affect the run as they affect
// [Dense.Slice].
func (d *Dense[T]) Runs() iter.Seq2[int, []T] {
	return func(yield func(int, []T) bool) {
		if es := d.Slice(); len(es) > 0 && yield(0, es) {
			d.mustBeOpen()
		}
	}
}

// All yields the elements with their handles, in ascending order of slots. The body may remove elements;
// removed elements are not yielded any more. Elements that the body inserts may be yielded or not.
//
// Removals make the order in memory differ from the order of slots. If the order does not matter,
// [Dense.Slice] with [Dense.HandleAt] is faster.
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
