package bulk

import (
	"iter"
	"sync/atomic"
)

// SharedReader reads a [SharedTable] for one goroutine. It is lock-free. From Enter to Leave, the reader is
// inside a look:
//
//	r.Enter()
//	if ship := r.Get(7); ship != nil {
//		... // *ship stays the same, even if a writer replaces entry 7
//	}
//	r.Leave() // ship must not be used any more
type SharedReader[T any] struct {
	table  *SharedTable[T]
	here   *presence
	room   uint64 // number of entries that Get may read without further tests; 0 outside of a look
	inside bool
}

// Reader returns a reader for one goroutine. Close the reader when the goroutine no longer needs it.
// Complexity: linear in the number of readers and writers.
func (t *SharedTable[T]) Reader() *SharedReader[T] {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mustBeOpen()
	return &SharedReader[T]{table: t, here: t.epochs.join()}
}

// Enter begins a look: values that [SharedReader.Get] returns stay the same until [SharedReader.Leave]. Enter
// panics inside a look, and on a closed reader.
//
// Values that writers replace during a look take memory at least until Leave. So keep a look short, such as
// one tick or one request. If code in a look may panic, defer Leave.
//
// Complexity: two atomic loads and one atomic store, about 5 to 10 ns, for any number of entries.
func (r *SharedReader[T]) Enter() {
	if r.inside {
		panic("bulk: Enter on a reader of " + r.table.plan.name +
			" that is inside a look already: Leave first, and use one reader for one goroutine")
	}
	if r.here == nil {
		panic("bulk: Enter on a closed reader of " + r.table.plan.name +
			": make another one with SharedTable.Reader")
	}
	r.inside = true
	r.table.epochs.enter(r.here)
	r.room = r.table.room.Load()
}

// Leave ends a look. Values from Get must not be used afterwards. Leave panics outside of a look.
func (r *SharedReader[T]) Leave() {
	if !r.inside {
		panic("bulk: Leave on a reader of " + r.table.plan.name + " outside of a look: Enter first")
	}
	r.room, r.inside = 0, false
	r.here.exit()
}

// Get returns the value of entry i, or nil if the entry has no value. The caller must not write to the value.
// Get panics outside of a look, and when i is not in [0, Capacity).
func (r *SharedReader[T]) Get(i int) *T {
	if uint64(i) >= r.room && !r.reaches(i) {
		return nil
	}
	offset := atomic.LoadUint64(r.table.entry(uint(i)))
	if offset == 0 {
		return nil
	}
	return r.table.value(offset)
}

// reaches loads the room again and reports whether entry i has memory now. It panics outside of a look, and
// if the table has no entry i.
func (r *SharedReader[T]) reaches(i int) bool {
	t := r.table
	if !r.inside {
		panic("bulk: Get on a reader of " + t.plan.name +
			" outside of a look: Enter first, and Leave when done with the value")
	}
	t.mustHave(i)
	r.room = t.room.Load()
	return uint64(i) < r.room
}

// Load returns a copy of the value of entry i, and whether the entry has a value. Outside of a look, Load
// begins and ends a look of its own.
func (r *SharedReader[T]) Load(i int) (v T, ok bool) {
	if !r.inside {
		r.Enter()
		defer r.Leave()
	}
	if p := r.Get(i); p != nil {
		return *p, true
	}
	return v, false
}

// All iterates over the entries that have a value, in ascending order. All may miss an entry that is set
// during the loop. The values stay the same until [SharedReader.Leave]. All panics outside of a look.
// Complexity: one step for each entry that has memory.
func (r *SharedReader[T]) All() iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		if !r.inside {
			panic("bulk: All on a reader of " + r.table.plan.name +
				" outside of a look: Enter before the loop, and Leave when done with the values")
		}
		for i := 0; i < r.table.plan.capacity && (uint64(i) < r.room || r.reaches(i)); i++ {
			if v := r.Get(i); v != nil && !yield(i, v) {
				return
			}
		}
	}
}

// Close ends the use of the reader. Close panics inside a look. Closing twice does nothing.
func (r *SharedReader[T]) Close() {
	if r.inside {
		panic("bulk: Close of a reader of " + r.table.plan.name + " inside a look: Leave first")
	}
	if r.here != nil {
		r.table.epochs.part(r.here)
		r.here = nil
	}
}
