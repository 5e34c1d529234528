package sharing

import (
	"reflect"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/rooms"
	"github.com/vastgo/vast/internal/state"
)

// Table holds each distinct value of a column once, and gives each value a number. The zero value has the
// number 0 and takes no place. Every other value lies in a pool, and its number is 1 + its slot in the pool.
//
// The table does not count the entities of its values. Sweep counts them and removes the values without
// entities. Intern calls Sweep when enough values were added since the last Sweep, so that the cost of Sweep
// for each new value is constant. The table needs at most about twice the memory of the values in use, or the
// memory of these values and of the numbers of all slots (4 bytes for each slot), if that is more.
//
// While nothing changes the table, any number of goroutines may read it.
type Table struct {
	numbers Numbers
	pool    *bulk.Pool[struct{}]
	rooms   rooms.Pool
	first   unsafe.Pointer // the first value of the pool
	zero    unsafe.Pointer // the value with the number 0
	size    uintptr        // bytes of a value
	end     uint32         // a number above all numbers in use
	added   int            // number of values that were added since the last Sweep
	version uint32         // grows when a number gets or loses a value
	holds   atomic.Int32   // number of calls of Hold without a Release
	of      Counter
	counts  []uint32
}

// Counter knows the entities that have the values of a table.
type Counter interface {
	// Count adds the number of entities of each value to counts, at the index of the value's number.
	Count(counts []uint32)
	// Slots returns the number of slots that a call of Count may visit.
	Slots() int
}

// Numbers finds the numbers of values by the values. It stores neither the zero value nor values that contain
// a NaN, which equal no value.
type Numbers interface {
	// Find returns the number of the value at v, and whether the table has the value. It finds the zero value
	// under the number 0.
	Find(v unsafe.Pointer) (number uint32, ok bool)
	Add(v unsafe.Pointer, number uint32)
	Remove(v unsafe.Pointer)
	Clear()
	Trim()
}

// bulkPools makes pools for elements of a type that is known only at run time.
type bulkPools interface {
	PoolOf(element reflect.Type, o bulk.Options) (*bulk.Pool[struct{}], error)
}

// NewTable makes an empty table for values of a type that has a size and holds no Go pointers. It reserves
// addresses and takes no memory.
func NewTable(typ reflect.Type, numbers Numbers, of Counter, o bulk.Options) (*Table, error) {
	pool, err := state.Bulk.(bulkPools).PoolOf(typ, o)
	if err != nil {
		return nil, err
	}
	t := &Table{numbers: numbers, pool: pool, rooms: rooms.Of(pool), size: typ.Size(), of: of, end: 1,
		zero: reflect.New(typ).UnsafePointer()}
	t.first, _ = t.rooms.Memory()
	return t, nil
}

// Rooms returns the memory of the pool that holds the values.
func (t *Table) Rooms() rooms.Pool { return t.rooms }

// Version returns a count that grows when a number gets or loses a value.
func (t *Table) Version() uint32 { return t.version }

// At returns the address of the value with a number in use. The address arithmetic is sound, because all
// values except the zero value lie in the pool's committed memory, which never moves. The caller must not
// write to the value.
func (t *Table) At(number uint32) unsafe.Pointer {
	if number == 0 {
		return t.zero
	}
	return unsafe.Add(t.first, uintptr(number-1)*t.size)
}

// Intern returns the number of the value at v. If the table lacks the value, Intern adds it. On failure the
// table has the same values, except values without entities. The caller gives the value to an entity before
// the next change of the table.
func (t *Table) Intern(v unsafe.Pointer) (uint32, error) {
	if number, ok := t.numbers.Find(v); ok {
		return number, nil
	}
	if t.added >= t.most() {
		t.Sweep()
	}
	if err := t.Grow(1); err != nil {
		return 0, err
	}
	h, _ := t.pool.InsertZero()
	number := uint32(h.Slot()) + 1
	t.write(number, v)
	t.end = max(t.end, number+1)
	t.added++
	return number, nil
}

// most returns the number of added values at which Intern calls Sweep. A Sweep costs one step for each slot
// and for each value. Before a Sweep, the added values take at most the largest of these: the memory of the
// values that were in use at the last Sweep, the memory of the numbers of all slots, the memory of 64 values.
func (t *Table) most() int {
	return max(64, t.pool.Len()-t.added, t.of.Slots()*int(unsafe.Sizeof(uint32(0)))/int(t.size))
}

// write gives a number its value.
func (t *Table) write(number uint32, v unsafe.Pointer) {
	to := t.At(number)
	copy(unsafe.Slice((*byte)(to), t.size), unsafe.Slice((*byte)(v), t.size))
	t.numbers.Add(to, number)
	t.version++
}

// Rewrite replaces the value of a number other than 0. The table must not have the new value at v.
func (t *Table) Rewrite(number uint32, v unsafe.Pointer) {
	t.numbers.Remove(t.At(number))
	t.write(number, v)
}

// Update calls f with each number except 0, and with its value. f may change the value, and reports whether
// it has. Two values must not become equal.
func (t *Table) Update(f func(number uint32, v unsafe.Pointer) bool) {
	changed := false
	for h := range t.pool.All() {
		number := uint32(h.Slot()) + 1
		changed = f(number, t.At(number)) || changed
	}
	if changed {
		t.reindex()
	}
}

// reindex enters all values in Numbers again, under their old numbers.
func (t *Table) reindex() {
	t.numbers.Clear()
	for h := range t.pool.All() {
		number := uint32(h.Slot()) + 1
		t.numbers.Add(t.At(number), number)
	}
	t.version++
}

// End returns a number above all numbers in use.
func (t *Table) End() uint32 { return t.end }

// Counts returns the number of entities of each value, at the index of the value's number. It uses the memory
// of buffer if that is large enough.
func (t *Table) Counts(buffer []uint32) []uint32 {
	counts := slices.Grow(buffer[:0], int(t.end))[:t.end]
	clear(counts)
	t.of.Count(counts)
	return counts
}

// Sweep removes the values that no entity has. It does nothing between Hold and Release. Complexity: one step
// for each slot of the column and one step for each value.
func (t *Table) Sweep() {
	if t.holds.Load() > 0 {
		return
	}
	t.counts = t.Counts(t.counts)
	t.end = 1
	for h := range t.pool.All() {
		if number := uint32(h.Slot()) + 1; t.counts[number] > 0 {
			t.end = number + 1
		} else {
			t.numbers.Remove(t.At(number))
			t.pool.Remove(h)
			t.version++
		}
	}
	t.added = 0
}

// Hold keeps the values of all numbers until Release. Several goroutines may call Hold.
func (t *Table) Hold() { t.holds.Add(1) }

// Release ends a Hold.
func (t *Table) Release() { t.holds.Add(-1) }

// Grow makes room for n new values. On failure the table has the same values, except values without entities.
func (t *Table) Grow(n int) error {
	err := t.pool.Grow(n)
	if err != nil && t.pool.Len() > 0 {
		t.Sweep()
		err = t.pool.Grow(n)
	}
	return err
}

// Trim removes the values that no entity has, and gives back memory.
func (t *Table) Trim() error {
	t.Sweep()
	t.counts = nil
	t.numbers.Trim()
	return t.pool.Trim()
}

// Clear removes all values. No entity may have one of them.
func (t *Table) Clear() {
	t.pool.Clear(nil)
	t.numbers.Clear()
	t.added, t.end = 0, 1
	t.version++
}

// Close gives the memory back.
func (t *Table) Close() error {
	t.numbers.Clear()
	return t.pool.Close()
}

// Memory returns the bytes of addresses and of committed memory.
func (t *Table) Memory() (reserved, committed int) { return t.pool.Reserved(), t.pool.Committed() }

// Resident returns how many of the committed bytes are in memory.
func (t *Table) Resident() (int, error) { return t.pool.Resident() }

// State returns the state of the table for package store. settled runs when a restoration has filled the
// table. For the number of each entity, settled calls merged, which returns the number that the entity gets,
// or false if the number has no value.
func (t *Table) State(settled func(merged func(number uint32) (uint32, bool)) error) state.Container {
	return tableState{t.rooms.(state.Container), t, settled}
}

type tableState struct {
	state.Container
	t       *Table
	settled func(merged func(number uint32) (uint32, bool)) error
}

// numberAdded is the key of Table.added in state.Contents.Numbers. Replay needs this count, because the
// numbers of later values depend on the time of the next Sweep.
const numberAdded = "added"

func (s tableState) Describe() state.Contents {
	c := s.Container.Describe()
	c.Numbers = map[string]uint64{numberAdded: uint64(s.t.added)}
	return c
}

// Settle ends a restoration. If the program's type lacks a field of the file's type, the conversion may have
// made values equal to each other or to the zero value. Settle keeps the first of several equal values, and
// removes values that are now zero.
func (s tableState) Settle(c state.Contents, arrays []state.Array) error {
	if err := s.Container.Settle(c, arrays); err != nil {
		return err
	}
	t := s.t
	same := make(map[uint32]uint32)
	live := make([]bool, c.Slots+1)
	for h := range t.pool.All() {
		number := uint32(h.Slot()) + 1
		if first, twice := t.numbers.Find(t.At(number)); twice {
			same[number] = first
			t.pool.Remove(h)
		} else {
			t.numbers.Add(t.At(number), number)
			t.end, live[number] = number+1, true
		}
	}
	t.version++
	t.added = int(min(c.Numbers[numberAdded], uint64(t.pool.Len())))
	return s.settled(func(number uint32) (uint32, bool) {
		if first, ok := same[number]; ok {
			return first, true
		}
		return number, number == 0 || int(number) < len(live) && live[number]
	})
}

func (s tableState) Abandon(c state.Contents) {
	s.Container.Abandon(c)
	s.t.numbers.Clear()
	s.t.added, s.t.end = 0, 1
}

// Check checks that each value has one number, and that each number of an entity has a value.
func (t *Table) Check(must func(ok bool, format string, values ...any)) {
	counts := t.Counts(nil)
	for h := range t.pool.All() {
		number := uint32(h.Slot()) + 1
		if found, ok := t.numbers.Find(t.At(number)); ok {
			must(found == number, "the values %d and %d are equal", found, number)
		}
		must(number < t.end, "the value %d lies beyond the end %d", number, t.end)
		counts[number] = 0
	}
	for number, n := range counts {
		must(n == 0 || number == 0, "%d entities have the number %d, which has no value", n, number)
	}
	must(t.added >= 0 && t.added <= t.pool.Len(), "%d of %d values were added", t.added, t.pool.Len())
}

// Map is the Numbers of values whose keys have type T. Its field Of is the map from keys to numbers.
type Map[T comparable] struct {
	Of map[T]uint32
	// Key returns the key of a value. Two values are equal if their keys are equal.
	Key func(v unsafe.Pointer) T
	// Zero is the key of the zero value.
	Zero T
}

// NewMap returns an empty map. key returns the key of a value.
func NewMap[T comparable](zero T, key func(v unsafe.Pointer) T) *Map[T] {
	return &Map[T]{make(map[T]uint32), key, zero}
}

// ReflectMap returns the Numbers for a type that is known only at run time.
func ReflectMap(typ reflect.Type) Numbers {
	return NewMap(reflect.Zero(typ).Interface(), func(v unsafe.Pointer) any {
		return reflect.NewAt(typ, v).Elem().Interface()
	})
}

func (m *Map[T]) Find(v unsafe.Pointer) (uint32, bool) {
	k := m.Key(v)
	if k == m.Zero {
		return 0, true
	}
	number, ok := m.Of[k]
	return number, ok
}

func (m *Map[T]) Add(v unsafe.Pointer, number uint32) {
	if k := m.Key(v); k == k {
		m.Of[k] = number
	}
}

func (m *Map[T]) Remove(v unsafe.Pointer) { delete(m.Of, m.Key(v)) }

func (m *Map[T]) Clear() { m.Of = make(map[T]uint32) }

// Trim copies the map, because a map keeps the memory of removed entries.
func (m *Map[T]) Trim() {
	kept := make(map[T]uint32, len(m.Of))
	for k, number := range m.Of {
		kept[k] = number
	}
	m.Of = kept
}
