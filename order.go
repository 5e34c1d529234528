package vast

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
)

// OrderKey is a type of keys that an [Order] sorts by.
type OrderKey interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64
}

// ValueColumn is a column with values: a [Column], a [SparseColumn] or a [HeapColumn]. Only this package
// implements it.
type ValueColumn[T any] interface {
	AnyColumn
	Get(e Entity) *T
	at(slot uint32) *T
}

// Order yields the slots of a query's entities, sorted by a key. A function reads the key from one of the
// entity's components. The entities do not move. Make an Order with [NewOrder] and keep it: an Order reuses
// its memory, 32 bytes for each entity, and allocates memory only if the number of entities grows.
//
// One goroutine may use an Order, for one loop at a time. Several goroutines may use different Orders at the
// same time, while nothing changes the structure of the world.
type Order[T any, K OrderKey] struct {
	q       Query
	column  ValueColumn[T]
	key     func(*T) K
	slots   []ranked
	buffer  []ranked // scratch memory of sortRanked
	running bool
}

// ranked is a slot and the rank of the key in this slot.
type ranked struct {
	rank uint64
	slot uint32
}

// NewOrder returns the order of a query's entities by the key that the function reads from the component. It
// panics if the query does not ask for the column, or if key is nil.
func NewOrder[T any, K OrderKey](q Query, col ValueColumn[T], key func(*T) K) *Order[T, K] {
	if q.q == nil {
		panic(zeroQuery)
	}
	c := q.q.world.columnsOf("NewOrder", []AnyColumn{col})[0]
	if !slices.Contains(q.q.columns(asked, implied), c) {
		panic(fmt.Sprintf("vast: NewOrder: the query does not ask for %s: name it in World.Query", c.name))
	}
	if key == nil {
		panic("vast: NewOrder: key is nil: give a function that returns the key")
	}
	return &Order[T, K]{q: q, column: col, key: key}
}

// Ascending yields the slots of the entities and their components, the smallest key first. [Column.At] finds
// other components by the slot. Entities with equal keys come in the order of their slots. −0 and +0 are
// equal, and NaNs come last. Order reads the keys when the loop begins. Values that are written later do not
// change the order. The rules of [Query.Runs] hold. Complexity: linear in the number of entities, times the
// number of bytes in which keys differ. If the query asks for a target ([Query.To]), the loop also sorts the
// slots by comparison.
func (o *Order[T, K]) Ascending() iter.Seq2[Slot, *T] { return o.sorted(0) }

// Descending is like [Order.Ascending], but yields the largest key first. As in Ascending, entities with
// equal keys come in the order of their slots, and NaNs come last.
func (o *Order[T, K]) Descending() iter.Seq2[Slot, *T] { return o.sorted(^uint64(0)) }

// sorted yields the slots in the order of their keys if invert is 0, and in descending order if all bits of
// invert are set.
func (o *Order[T, K]) sorted(invert uint64) iter.Seq2[Slot, *T] {
	return func(yield func(Slot, *T) bool) {
		if o == nil || o.q.q == nil {
			panic("vast: the zero Order orders nothing: make one with NewOrder")
		}
		if o.running {
			panic("vast: Order: a loop over it is running: make a second Order with NewOrder for a loop " +
				"inside a loop")
		}
		o.running = true
		defer func() { o.running = false }()
		var k walk
		k.start(o.q.q)
		o.gather(&k, invert)
		if len(o.q.q.targets) > 0 { // the walk yields slots in the order of links
			slices.SortFunc(o.slots, func(a, b ranked) int { return cmp.Compare(a.slot, b.slot) })
		}
		o.slots, o.buffer = sortRanked(o.slots, o.buffer)
		world, changes := k.world, k.changes
		dense, isDense := o.column.(Column[T])
		for _, r := range o.slots {
			var p *T
			if isDense { // a direct call is faster than a call through the interface
				p = dense.at(r.slot)
			} else {
				p = o.column.at(r.slot)
			}
			if !yield(Slot{r.slot, world}, p) {
				return
			}
			if world.changes != changes {
				k.check()
			}
		}
	}
}

// gather fills o.slots with the slots of the walk and the ranks of their keys.
func (o *Order[T, K]) gather(k *walk, invert uint64) {
	o.slots = o.slots[:0]
	dense, isDense := o.column.(Column[T])
	for k.next() {
		run := k.run()
		o.slots = slices.Grow(o.slots, run.Len())
		if isDense {
			values := dense.Slice(run)
			for i := range values {
				o.slots = append(o.slots, ranked{rank(o.key(&values[i]), invert), run.start + uint32(i)})
				k.check()
			}
			continue
		}
		for slot := run.start; slot < run.start+run.n; slot++ {
			o.slots = append(o.slots, ranked{rank(o.key(o.column.at(slot)), invert), slot})
			k.check()
		}
	}
}

// rank returns a number for a key. The numbers have the order of the keys if invert is 0, and the reverse
// order if all bits of invert are set. NaN gets the largest number. For floating-point keys, rank sets the
// sign bit of positive numbers and inverts the bits of negative numbers, as in M. Herf, "Radix Tricks", 2001.
func rank[K OrderKey](key K, invert uint64) uint64 {
	var zero, one K = 0, 1
	switch {
	case key != key:
		return math.MaxUint64
	case one/2 != zero: // K is a floating-point type
		return rankFloat(float64(key), invert)
	case zero-one > zero: // K is unsigned
		return uint64(key) ^ invert
	}
	return uint64(key) ^ 1<<63 ^ invert
}

// rankFloat does the work of rank for floating-point keys except NaN. A float64 holds every key exactly.
func rankFloat(key float64, invert uint64) uint64 {
	bits := math.Float64bits(key)
	switch {
	case key == 0:
		bits = 1 << 63 // -0 and +0 are equal
	case key < 0:
		bits = ^bits
	default:
		bits |= 1 << 63
	}
	return bits ^ invert
}

// sortRanked sorts slots by rank, stably. It may exchange the memory of slots and buffer: it returns the
// sorted slots, and the buffer for the next call.
//
// It is a radix sort that begins with the least significant byte, as in H. H. Seward, "Information Sorting in
// the Application of Electronic Digital Computers to Business Operations", 1954. It counts all bytes in one
// pass, and skips bytes that are equal in all ranks.
func sortRanked(slots, buffer []ranked) (sorted, newBuffer []ranked) {
	in, out := slots, buffer
	if len(in) < fewRanked {
		slices.SortStableFunc(in, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
		return in, out
	}
	var counts [8][256]uint32
	differ := uint64(0)
	for i := range in {
		rank := in[i].rank
		differ |= rank ^ in[0].rank
		for b := range counts {
			counts[b][byte(rank>>(8*b))]++
		}
	}
	out = slices.Grow(out[:0], len(in))[:len(in)]
	for b := range counts {
		if byte(differ>>(8*b)) == 0 {
			continue
		}
		at, next := &counts[b], uint32(0)
		for i, n := range at {
			at[i] = next
			next += n
		}
		for _, r := range in {
			p := &at[byte(r.rank>>(8*b))]
			out[*p] = r
			*p++
		}
		in, out = out, in
	}
	return in, out
}

// fewRanked is the smallest number of entities for which a radix sort is faster than a sort by comparison.
const fewRanked = 128
