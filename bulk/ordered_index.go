package bulk

import (
	"cmp"
	"fmt"
	"iter"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// OrderedIndex has pairs of a key and a value, in ascending order of keys. It finds the values of a key, the
// pairs between two keys, the least pair and the greatest pair. A key may have any number of values, in the
// order of their bits; a pair is in the index at most once. The caller keeps the index up to date, or an
// [Indexed] pool does.
//
// Values are 4 or 8 bytes without Go pointers, such as a [Handle] or a slot's number, and are compared by
// their bits. Keys are integers or floating-point numbers. The floating-point keys -0 and 0 are one key. NaN
// cannot be a key: Add panics for NaN, and a look-up of NaN finds nothing.
//
// The index is a B+tree of 1 KiB nodes ("The Ubiquitous B-Tree", Comer 1979). A full node gives entries to
// its neighbours before it is split ("The Art of Computer Programming", volume 3, Knuth). The index gives
// memory back as pairs are removed. An index with 64 KiB of pairs or more commits at most twice the bytes of
// its keys and values, in addition to the room that Grow made. The bound holds for any order of insertions
// and removals.
//
// One goroutine may change an index at a time, while no other goroutine reads it. While no goroutine changes
// the index, any number of goroutines may read it. If the body of a loop over the index changes the index,
// the loop panics instead of continuing. A loop over [OrderedIndex.Values] panics even if the body then ends
// the loop.
type OrderedIndex[K cmp.Ordered, V any] struct {
	tree    tree[K, V]
	promise promise
	changes int // number of calls of the method changed; loops compare this number to detect a change
	region  *vm.Region
	plan
	ended     error // the panic after Close
	unchecked int   // number of calls of the method changed since checkInvariants ran
}

// NewOrderedIndex makes an empty index. It reserves addresses and takes no memory. Options.Capacity is a
// number of pairs, and Options.MaxBytes a budget of bytes of keys and values; Options.Step is not used. By
// default there are addresses for 4 GiB of keys and values, or 4 MiB if regions are Go heap memory.
//
// It returns an error as [vm.Reserve] does, and panics when K or V holds Go pointers, V is not 4 or 8 bytes
// or has padding, or an option is negative.
func NewOrderedIndex[K cmp.Ordered, V any](o Options) (*OrderedIndex[K, V], error) {
	p, err := newIndexPlan[K, V]("OrderedIndex", o)
	if err != nil {
		return nil, err
	}
	bytes := bytesTree(p.capacity, size[K](), size[V]())
	r, err := vm.Reserve(alignedSize(bytes), vm.Options{Name: p.name, Limit: o.Limit, Pages: o.Pages})
	if err != nil {
		return nil, err
	}
	span, err := carveSnug(r, p.name, bytes, treeAhead)
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	return &OrderedIndex[K, V]{tree: newTree[K, V](span), region: r, plan: p}, nil
}

// Add adds a pair and reports whether it is new. If there is no room, it panics with the [*vm.Error] that
// [OrderedIndex.Grow] would return. It also panics if the key is NaN. After a panic the index is unchanged.
// Complexity: O(log n).
func (x *OrderedIndex[K, V]) Add(k K, v V) bool {
	x.mustBeOpen()
	if k != k {
		panic(nan(x.plan.name))
	}
	if x.tree.len >= x.plan.capacity && !x.tree.has(k, v) {
		panic(x.plan.full(opAdd, 1, x.tree.len))
	}
	added, err := x.tree.add(opAdd, k, v)
	if err != nil {
		panic(err)
	}
	if added && x.promise.kept() {
		// Grow has assumed half-full nodes. The insertions may not have needed all memory.
		x.tree.span.promised = 0
		_ = x.tree.giveBack() // after a failure, unused memory stays committed
	}
	if added {
		x.changed()
	}
	return added
}

// Remove removes a pair and reports whether it was in the index. Complexity: O(log n), also if the key has
// many values.
func (x *OrderedIndex[K, V]) Remove(k K, v V) bool {
	x.mustBeOpen()
	removed := x.tree.remove(k, v)
	if removed {
		x.changed()
	}
	return removed
}

// RemoveAll removes all values of a key and returns how many there were. Complexity: O(log n) for each value.
func (x *OrderedIndex[K, V]) RemoveAll(k K) (n int) {
	x.mustBeOpen()
	if n = x.tree.removeAll(k); n > 0 {
		x.changed()
	}
	return n
}

// First returns the first value of a key, and whether there is one. Complexity: O(log n).
func (x *OrderedIndex[K, V]) First(k K) (v V, ok bool) {
	x.mustBeOpen()
	leaf, at, ok := x.tree.find(k)
	if ok {
		v = x.tree.values(leaf)[at]
	}
	return v, ok
}

// Contains reports whether a key has values. Complexity: O(log n).
func (x *OrderedIndex[K, V]) Contains(k K) bool {
	_, ok := x.First(k)
	return ok
}

// Has reports whether a pair is in the index. Complexity: O(log n).
func (x *OrderedIndex[K, V]) Has(k K, v V) bool {
	x.mustBeOpen()
	return x.tree.has(k, v)
}

// Count returns how many values a key has. Complexity: O(log n), and a step for each 1 KiB of pairs of the
// key.
func (x *OrderedIndex[K, V]) Count(k K) int {
	x.mustBeOpen()
	return x.tree.count(k)
}

// Values yields the values of a key, in the order of their bits.
func (x *OrderedIndex[K, V]) Values(k K) iter.Seq[V] {
	return func(yield func(V) bool) {
		x.mustBeOpen()
		changes := x.changes
		var values []V
		for leaf, at, ok := x.tree.find(k); ok; at = 0 {
			values, leaf, ok = x.tree.run(k, leaf, at)
			for _, v := range values {
				more := yield(v)
				x.mustBe(changes, "Values")
				if !more {
					return
				}
			}
		}
	}
}

// Min returns the least pair, and whether there is one.
func (x *OrderedIndex[K, V]) Min() (k K, v V, ok bool) {
	x.mustBeOpen()
	if x.tree.len == 0 {
		return k, v, false
	}
	return x.tree.keys(x.tree.first)[0], x.tree.values(x.tree.first)[0], true
}

// Max returns the greatest pair, and whether there is one.
func (x *OrderedIndex[K, V]) Max() (k K, v V, ok bool) {
	x.mustBeOpen()
	if x.tree.len == 0 {
		return k, v, false
	}
	keys := x.tree.keys(x.tree.last)
	return keys[len(keys)-1], x.tree.values(x.tree.last)[len(keys)-1], true
}

// Len returns the number of pairs; 0 after Close.
func (x *OrderedIndex[K, V]) Len() int { return x.tree.len }

// Grow makes the next n insertions unable to fail, by committing memory for them. Trim and Clear give the
// unused part of this memory back. Grow panics if n is negative.
//
// It returns an [*vm.Error] wrapping [vm.ErrCapacity] (Options.Capacity), [vm.ErrLimit] (Options.MaxBytes or
// Options.Limit) or another error of [vm.Region.Commit]; then the index is unchanged.
func (x *OrderedIndex[K, V]) Grow(n int) error {
	if n < 0 {
		panic(fmt.Sprintf("bulk: Grow(%d) on %s: a number of pairs is zero or more", n, x.plan.name))
	}
	x.mustBeOpen()
	if n > x.plan.capacity-x.tree.len {
		return x.plan.full(opGrow, n, x.tree.len)
	}
	if n == 0 {
		return nil
	}
	if err := x.tree.promise(n); err != nil {
		return err
	}
	x.promise.add(n)
	return nil
}

// Trim gives back the unused room that Grow made. It returns an error as [vm.Region.Decommit] does; then the
// index works as before.
func (x *OrderedIndex[K, V]) Trim() error {
	x.mustBeOpen()
	x.promise = promise{}
	x.tree.span.promised = 0
	return x.tree.giveBack()
}

// Clear removes all pairs and gives the memory back.
func (x *OrderedIndex[K, V]) Clear() {
	x.mustBeOpen()
	x.promise = promise{}
	x.tree.clear()
	x.changed()
}

// Reserved returns the bytes of addresses that the index takes; 0 after Close.
func (x *OrderedIndex[K, V]) Reserved() int {
	if x.ended != nil {
		return 0
	}
	return x.region.Size()
}

// Committed returns the bytes of memory that the index may touch; 0 after Close.
func (x *OrderedIndex[K, V]) Committed() int { return x.region.Committed() }

// Resident returns how many bytes of the index are in memory. The operating system supplies the count; see
// [vm.Region.Resident].
func (x *OrderedIndex[K, V]) Resident() (int, error) { return x.region.Resident() }

// Close gives the memory and the addresses back. The methods of the index then panic, except Len and those
// that count bytes. Closing twice does nothing.
func (x *OrderedIndex[K, V]) Close() error {
	if x.ended != nil {
		return nil
	}
	if err := x.region.Close(); err != nil {
		return err
	}
	x.ended, x.tree.len, x.tree.height = &closedError{x.plan.name}, 0, 0
	return nil
}

func (x *OrderedIndex[K, V]) mustBeOpen() {
	if x.ended != nil {
		panic(x.ended)
	}
}

// mustBe panics if x.changes differs from changes: the body of the loop has changed the index.
func (x *OrderedIndex[K, V]) mustBe(changes int, loop string) {
	if x.changes != changes {
		panic(changedInLoop(x.plan.name, loop))
	}
}

// changed counts a call that may have changed the index. With the build tag invariants it sometimes checks
// the tree: once in x.tree.len/16 such calls, because a check of a large index takes long.
func (x *OrderedIndex[K, V]) changed() {
	x.changes++
	if !invariants.Enabled {
		return
	}
	if x.unchecked++; x.unchecked*16 >= x.tree.len {
		x.unchecked = 0
		x.tree.checkInvariants(x.plan.name)
	}
}
