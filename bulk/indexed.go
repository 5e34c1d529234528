package bulk

import (
	"fmt"
	"iter"

	"github.com/vastgo/vast/internal/layout"
)

// Index is the common interface of [HashIndex] and [OrderedIndex].
type Index[K comparable, V any] interface {
	Add(K, V) bool
	Remove(K, V) bool
	RemoveAll(K) int
	First(K) (V, bool)
	Values(K) iter.Seq[V]
	Contains(K) bool
	Has(K, V) bool
	Count(K) int
	Len() int
	Grow(int) error
	Trim() error
	Clear()
	Close() error
	allower
}

// allower is an index whose capacity Update raises by one for a moment. The reserved addresses suffice for
// the additional pair.
type allower interface{ allow(n int) }

// Indexed keeps indices of a pool up to date: insertions, removals and updates through the Indexed change the
// pool and all attached indices. The pool's own methods become no slower.
//
// Insert and remove elements only through the Indexed, and change the fields from which keys are made only in
// [Indexed.Update]. Methods of the pool and of the indices that change nothing may be called directly.
//
// One goroutine may change an Indexed at a time, while no other goroutine reads it, its pool or its indices.
// While no goroutine changes them, any number of goroutines may read them.
type Indexed[T any] struct {
	pool     *Pool[T]
	indices  []attached[T]
	before   T // the old value of the element that Update is changing
	updating bool
}

// attached is an attached index, without its key type.
type attached[T any] struct {
	add    func(h Handle[T], e *T)
	remove func(h Handle[T], e *T)
	// addOther adds the key of e, and removeOther removes the key of e. They do nothing if other has the
	// same key.
	addOther    func(h Handle[T], e, other *T)
	removeOther func(h Handle[T], e, other *T)
	grow        func(n int) error
	clear       func()
	attachment  any // an *attachment[T, K], for package store
}

// NewIndexed returns an adapter for a pool, which may already have elements. It panics when the pool is nil.
func NewIndexed[T any](p *Pool[T]) *Indexed[T] {
	if p == nil {
		panic("bulk: NewIndexed[" + layout.Name[T]() + "] of a nil pool: make one with NewPool first")
	}
	return &Indexed[T]{pool: p}
}

// Attach makes x keep an index up to date from now on. keyOf returns the key of an element, which must depend
// only on the element. Attach first removes all pairs of the index, and adds a pair for each element of the
// pool.
//
// It returns an error as the index's Grow does; then the index is empty and not attached. It panics when the
// index or keyOf is nil, or when a key is NaN. Complexity: one insertion for each element.
func Attach[T any, K comparable](x *Indexed[T], index Index[K, Handle[T]], keyOf func(*T) K) error {
	if index == nil || keyOf == nil {
		panic("bulk: Attach to " + x.pool.plan.name + " without an index or keyOf: pass both")
	}
	index.Clear()
	if err := index.Grow(x.pool.Len()); err != nil {
		return err
	}
	for h, e := range x.pool.All() {
		index.Add(keyOf(e), h)
	}
	_ = index.Trim() // after a failure the index only keeps more memory than it needs
	x.indices = append(x.indices, attached[T]{
		add:    func(h Handle[T], e *T) { index.Add(keyOf(e), h) },
		remove: func(h Handle[T], e *T) { index.Remove(keyOf(e), h) },
		addOther: func(h Handle[T], e, other *T) {
			if k := keyOf(e); k != keyOf(other) {
				// For a moment the index has two pairs of h; then removeOther removes the old pair.
				index.allow(1)
				defer index.allow(-1)
				index.Add(k, h)
			}
		},
		removeOther: func(h Handle[T], e, other *T) {
			if k := keyOf(e); k != keyOf(other) {
				index.Remove(k, h)
			}
		},
		grow:       index.Grow,
		clear:      index.Clear,
		attachment: &attachment[T, K]{index, keyOf},
	})
	return nil
}

// Pool returns the pool.
func (x *Indexed[T]) Pool() *Pool[T] { return x.pool }

// Insert puts an element into the pool and its keys into the indices. If there is no room, it panics with the
// [*vm.Error] that [Indexed.Grow] would return. It also panics if a key is NaN. After a panic nothing has
// changed.
func (x *Indexed[T]) Insert(v T) (Handle[T], *T) {
	h, e := x.pool.Insert(v)
	done := 0
	defer func() {
		if done < len(x.indices) { // an index has panicked
			for _, a := range x.indices[:done] {
				a.remove(h, e)
			}
			x.pool.Remove(h)
		}
	}()
	for ; done < len(x.indices); done++ {
		x.indices[done].add(h, e)
	}
	return h, e
}

// Remove removes the element of h from the pool and the indices, and reports whether h had an element.
func (x *Indexed[T]) Remove(h Handle[T]) bool {
	e := x.pool.Get(h)
	if e == nil {
		return false
	}
	for _, a := range x.indices {
		a.remove(h, e)
	}
	return x.pool.Remove(h)
}

// Update calls f with the element of h, which f may change. Then it updates each index in which the element
// has a new key. It reports whether h has an element. f must not change the pool or call Update.
//
// Update panics with a [*vm.Error] if an index has no room for a new key. It also panics if a new key is NaN.
// After these panics, and after a panic of f, the element and the indices are unchanged.
func (x *Indexed[T]) Update(h Handle[T], f func(*T)) bool {
	e := x.pool.Get(h)
	if e == nil {
		return false
	}
	if x.updating {
		panic("bulk: Update on indexed " + x.pool.plan.name +
			" in the callback of another Update: call it afterwards")
	}
	x.updating, x.before = true, *e
	done := -1
	defer func() {
		if done < len(x.indices) { // f or an index has panicked
			for _, a := range x.indices[:max(done, 0)] {
				a.removeOther(h, e, &x.before)
			}
			*e = x.before
		}
		x.updating = false
	}()
	f(e)
	for done = 0; done < len(x.indices); done++ {
		x.indices[done].addOther(h, e, &x.before)
	}
	for _, a := range x.indices {
		a.removeOther(h, &x.before, e)
	}
	return true
}

// Grow makes room for the next n insertions in the pool and in all indices, so that the insertions cannot
// fail. It panics when n is negative. It returns an error as [Pool.Grow] does; room that was made before the
// error stays.
func (x *Indexed[T]) Grow(n int) error {
	if n < 0 {
		panic(fmt.Sprintf("bulk: Grow(%d) on indexed %s: a number of elements is zero or more", n,
			x.pool.plan.name))
	}
	for _, a := range x.indices {
		if err := a.grow(n); err != nil {
			return err
		}
	}
	return x.pool.Grow(n)
}

// Clear removes all elements, as [Pool.Clear] does, and their keys.
func (x *Indexed[T]) Clear(f func(Handle[T], *T)) {
	x.pool.Clear(f)
	for _, a := range x.indices {
		a.clear()
	}
}
