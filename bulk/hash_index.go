package bulk

import (
	"iter"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// HashIndex finds values by their keys. A key may have any number of values; a pair of a key and a value is
// in the index at most once. The caller keeps the index up to date, or an [Indexed] pool does.
//
// Values are 4 or 8 bytes without Go pointers, such as a [Handle] or a slot's number, and are compared by
// their bits. Keys are of any comparable type without Go pointers, and are compared with ==: -0 and 0 are one
// key, and a key that contains a NaN equals nothing. Add panics for a key with a NaN, and a look-up finds
// nothing.
//
// The index grows without a stall: its table lies in reserved addresses and grows in place, a few buckets at
// a time (file hash_growth.go). Up to eight values of a key lie in the table. When a key gets a ninth value,
// all its values move into a tree, so that one of a million values is found in a few steps.
//
// The index gives memory back as pairs are removed. If pairs have 8 bytes or more, an index with 64 KiB of
// pairs or more commits at most twice the bytes of its pairs. Memory that [HashIndex.Grow] committed may
// exceed this bound; its unused part stays until Trim or Clear, or until removals make the table smaller.
//
// One goroutine may change an index at a time, while no other goroutine reads it. While no goroutine changes
// the index, any number of goroutines may read it. A loop over the index panics if its body changes the
// index.
type HashIndex[K comparable, V any] struct {
	buckets[K, V]
	len     int  // number of pairs
	used    int  // number of full slots
	room    int  // number of full slots at which the table must be stretched
	level   int  // bucketCounts[level] is buckets.small, the table's size; noLevel if it has no memory
	moving  bool // stretching or squeezing is under way
	beyond  int  // number of entries in buckets behind the last home: see hash_growth.go for homes
	changes int  // number of changes, so that loops detect a change
	span    snugSpan
	promise promise
	many    tree[uint32, V] // pairs of group and value; a group has the values of one key
	group   uint32          // the group that was made last
	moved   []entry[K, V]   // scratch memory of stretch
	stub    []uint64        // an empty bucket, for a table without memory
	region  *vm.Region
	plan
	ended     error // what methods panic with after Close; nil before
	unchecked int   // number of changes since checkInvariants ran
}

const (
	// maxInSlots is the largest number of values of a key that have slots of their own. With a larger number,
	// searches would pass more buckets; with a smaller number, the cost of a group would be high for each
	// value.
	maxInSlots = 8
	// A group with fewer than fewestInGroup values moves back into slots, if there is room for them. A new
	// group has one value more than fewestInGroup, so that a key keeps its group while its number of values
	// goes up and down by one.
	fewestInGroup = 8
)

// NewHashIndex makes an empty index. It reserves addresses and takes no memory. Options.Capacity is a number
// of pairs, and Options.MaxBytes a budget of bytes of keys and values; Options.Step is not used. By default
// there are addresses for 4 GiB of keys and values, or 4 MiB if regions are Go heap memory.
//
// It returns an error as [vm.Reserve] does, and panics when K or V holds Go pointers, V is not 4 or 8 bytes
// or has padding, K has no size, or an option is negative.
func NewHashIndex[K comparable, V any](o Options) (*HashIndex[K, V], error) {
	p, err := newIndexPlan[K, V]("HashIndex", o)
	if err != nil {
		return nil, err
	}
	form := newBucketForm[K, V]()
	homes := bucketCounts[levelFor(p.capacity)]
	// In the worst case all keys have the last home, and nearly all entries lie behind it.
	bytesTable := (int(homes) + p.capacity/slotsPerBucket + 8*spareBuckets) * int(form.bytes)
	bytesMany := bytesTree(p.capacity, size[uint32](), size[V]())
	r, err := vm.Reserve(alignedSize(bytesTable)+alignedSize(bytesMany),
		vm.Options{Name: p.name, Limit: o.Limit, Pages: o.Pages})
	if err != nil {
		return nil, err
	}
	x := &HashIndex[K, V]{region: r, plan: p, stub: make([]uint64, form.bytes/8)}
	x.form, x.hash = form, newHasher[K]()
	var many snugSpan
	if x.span, err = carveSnug(r, p.name, bytesTable, 0); err == nil {
		many, err = carveSnug(r, p.name, bytesMany, treeAhead)
	}
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	x.many = newTree[uint32, V](many)
	x.reset()
	return x, nil
}

// Add adds a pair and reports whether it is new. If there is no room, it panics with the [*vm.Error] that
// [HashIndex.Grow] would return. It also panics if the key is or has a NaN. After a panic the index is
// unchanged. Complexity: O(log n) if the key has more than eight values, otherwise constant. A call usually
// moves at most 48 buckets of 7 pairs, and the call for the ninth value of a key up to 64. After memory was
// refused while the table grew, a call moves the rest of the table.
func (x *HashIndex[K, V]) Add(k K, v V) bool {
	if x.hash.hasNaN && k != k {
		panic(nan(x.plan.name))
	}
	var h uint64
	if x.hash.short {
		h = x.hash.mixed(number(&k))
	} else {
		h = x.hash.long(k)
	}
	tag := tagOf(h)
	vacancy, same := x.end, 0
	home := x.home(h)
	i := home
	for p := x.bucket(i); ; p = unsafe.Add(p, x.form.bytes) {
		c := *(*uint64)(p)
		for m := matches(c, tag); m != 0; m &= m - 1 {
			s := slotOf(m)
			if *x.key(p, s) != k {
				continue
			}
			if c>>(8*s)&manyBit != 0 {
				return x.addToGroup(*x.groupIn(place{i, s, true}), v)
			}
			if bitsOf(*x.value(p, s)) == bitsOf(v) {
				return false
			}
			same++
		}
		if vacancy == x.end && emptySlots(c) != 0 {
			vacancy = i
		}
		if i++; c < onePassed || i == x.end {
			break
		}
	}
	if same == maxInSlots {
		x.makeGroup(h, k, v)
		return true
	}
	if x.used >= x.room || vacancy == x.end || x.len >= x.plan.capacity {
		vacancy = x.mustMakeSlot(h)
		home = x.home(h)
	}
	x.store(home, vacancy, tag, k, v)
	x.used++
	x.added()
	if x.moving && x.used%stepsAtOnce == 0 {
		// If memory for buckets behind the last home is refused, a later call makes the steps.
		_ = x.stretch(opAdd, stepsAtOnce*stretchStep)
	}
	x.changed()
	return true
}

func (x *HashIndex[K, V]) added() {
	x.len++
	if x.promise.kept() {
		x.forget()
	}
}

// mustMakeSlot makes a slot for a new pair, or panics with the error of makeSlot.
//
//go:noinline
func (x *HashIndex[K, V]) mustMakeSlot(h uint64) uint64 {
	x.mustHaveCapacity()
	bucket, err := x.makeSlot(opAdd, h)
	if err != nil {
		panic(err)
	}
	return bucket
}

func (x *HashIndex[K, V]) mustHaveCapacity() {
	x.mustBeOpen()
	if x.len >= x.plan.capacity {
		panic(x.plan.full(opAdd, 1, x.len))
	}
}

// Remove removes a pair and reports whether it was in the index. Complexity: constant, but a call may move
// the pairs of up to 128 buckets to make the table smaller; O(log n) if the key has more than eight values.
func (x *HashIndex[K, V]) Remove(k K, v V) bool {
	// This repeats find: with a call of find, a removal that finds nothing would take a quarter longer.
	var h uint64
	if x.hash.short {
		h = x.hash.mixed(number(&k))
	} else {
		h = x.hash.long(k)
	}
	tag := tagOf(h)
	home := x.home(h)
	i := home
	for p := x.bucket(i); ; p = unsafe.Add(p, x.form.bytes) {
		c := *(*uint64)(p)
		for m := matches(c, tag); m != 0; m &= m - 1 {
			s := slotOf(m)
			if *x.key(p, s) != k {
				continue
			}
			if c>>(8*s)&manyBit != 0 {
				return x.removeFromGroup(h, k, place{i, s, true}, v)
			}
			if bitsOf(*x.value(p, s)) == bitsOf(v) {
				x.take(home, i, s)
				x.len--
				if x.used--; x.used%stepsAtOnce == 0 {
					x.squeeze(stepsAtOnce * squeezeStep)
				}
				x.changed()
				return true
			}
		}
		if i++; c < onePassed || i == x.end {
			x.mustBeOpen()
			return false
		}
	}
}

func (x *HashIndex[K, V]) removeSlot(h uint64, at place) {
	x.take(x.home(h), at.bucket, at.slot)
	x.used--
}

// RemoveAll removes all values of a key and returns how many there were. Complexity: that of Remove for each
// value.
func (x *HashIndex[K, V]) RemoveAll(k K) (n int) {
	x.mustBeOpen()
	h := x.hash.of(k)
	slots := 0
	for at, ok := x.find(h, k); ok; at, ok = x.findNext(h, k, at) {
		if at.many {
			n += x.many.removeAll(*x.groupIn(at))
		} else {
			n++
		}
		x.removeSlot(h, at)
		slots++
	}
	x.len -= n
	x.squeeze(slots * squeezeStep)
	if n > 0 {
		x.changed()
	}
	return n
}

// First returns a value of a key, and whether there is one. Complexity: constant, with one or two cache lines
// to read for most keys; O(log n) if the key has more than eight values.
func (x *HashIndex[K, V]) First(k K) (v V, ok bool) {
	var h uint64
	if x.hash.short {
		h = x.hash.mixed(number(&k))
	} else {
		h = x.hash.long(k)
	}
	tag := tagOf(h)
	i := x.home(h)
	for p := x.bucket(i); ; p = unsafe.Add(p, x.form.bytes) {
		c := *(*uint64)(p)
		for m := matches(c, tag); m != 0; m &= m - 1 {
			if s := slotOf(m); *x.key(p, s) == k {
				if c>>(8*s)&manyBit != 0 {
					return x.firstOfGroup(*x.groupIn(place{i, s, true}))
				}
				return *x.value(p, s), true
			}
		}
		if i++; c < onePassed || i == x.end {
			if x.ended != nil {
				panic(x.ended)
			}
			return v, false
		}
	}
}

// Contains reports whether a key has values. Complexity: constant.
func (x *HashIndex[K, V]) Contains(k K) bool {
	x.mustBeOpen()
	_, ok := x.find(x.hash.of(k), k)
	return ok
}

// Has reports whether a pair is in the index. Complexity: that of First.
func (x *HashIndex[K, V]) Has(k K, v V) bool {
	x.mustBeOpen()
	h := x.hash.of(k)
	for at, ok := x.find(h, k); ok; at, ok = x.findNext(h, k, at) {
		if at.many {
			return x.many.has(*x.groupIn(at), v)
		}
		if bitsOf(x.valueAt(at)) == bitsOf(v) {
			return true
		}
	}
	return false
}

// Count returns how many values a key has. Complexity: that of First, and a step for each 1 KiB of values of
// the key.
func (x *HashIndex[K, V]) Count(k K) (n int) {
	x.mustBeOpen()
	h := x.hash.of(k)
	for at, ok := x.find(h, k); ok; at, ok = x.findNext(h, k, at) {
		if at.many {
			return x.many.count(*x.groupIn(at))
		}
		n++
	}
	return n
}

// Values yields the values of a key, in no particular order.
func (x *HashIndex[K, V]) Values(k K) iter.Seq[V] {
	return func(yield func(V) bool) {
		x.mustBeOpen()
		changes := x.changes
		h := x.hash.of(k)
		for at, ok := x.find(h, k); ok; at, ok = x.findNext(h, k, at) {
			if at.many {
				x.allOfGroup("Values", *x.groupIn(at), yield)
				return
			}
			more := yield(x.valueAt(at))
			x.mustBeUnchanged(changes, "Values")
			if !more {
				return
			}
		}
	}
}

// All yields all pairs, in no particular order.
func (x *HashIndex[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		x.mustBeOpen()
		changes := x.changes
		for i := range x.firstUnreached(x.homes()) {
			p := x.bucket(i)
			c := *(*uint64)(p)
			for m := fullSlots(c); m != 0; m &= m - 1 {
				s, more := slotOf(m), true
				k := *x.key(p, s)
				if c>>(8*s)&manyBit != 0 {
					more = x.allOfGroup("All", *x.groupIn(place{i, s, true}),
						func(v V) bool { return yield(k, v) })
				} else {
					more = yield(k, *x.value(p, s))
					x.mustBeUnchanged(changes, "All")
				}
				if !more {
					return
				}
			}
		}
	}
}

// Len returns the number of pairs; 0 after Close.
func (x *HashIndex[K, V]) Len() int { return x.len }

func (x *HashIndex[K, V]) mustBeOpen() {
	if x.ended != nil {
		panic(x.ended)
	}
}

func (x *HashIndex[K, V]) mustBeUnchanged(changes int, loop string) {
	if x.changes != changes {
		panic(changedInLoop(x.plan.name, loop))
	}
}

// changed counts a change. With the build tag invariants it also runs checkInvariants, once in x.len/16
// changes, because each check takes time for all pairs.
func (x *HashIndex[K, V]) changed() {
	x.changes++
	if !invariants.Enabled {
		return
	}
	if x.unchecked++; x.unchecked*16 >= x.len {
		x.unchecked = 0
		x.checkInvariants()
	}
}
