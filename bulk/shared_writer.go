package bulk

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// SharedWriter changes a [SharedTable] for one goroutine. A writer waits for readers only if no place for a
// value is free; see [SharedWriter.Set]. Writers wait for each other about once in 64 values, when they take
// or hand over places for values, and when the table commits memory for more entries.
//
// A writer that stops outside of an Update does not stall readers or other writers. Until it continues or is
// closed, the writer withholds fewer than 1,000 places from other writers, and after Grow(n) up to 2n more.
type SharedWriter[T any] struct {
	table  *SharedTable[T]
	here   *presence
	barred bool         // the writer is closed or in the middle of an Update
	live   atomic.Int64 // number of empty entries that this writer set, minus the entries that it removed
	free   []uint32     // free places for values
	// waiting has the places of replaced or removed values, in ascending order of epochs. The places in
	// waiting[:first] are free again.
	waiting  []retired
	first    int
	replaced int      // number of values replaced or removed since the last call of reclaim
	promised int      // number of free places that Grow has promised
	_        [64]byte // keeps the next writer's counts on another cache line
}

// Writer returns a writer for one goroutine. Close the writer when the goroutine no longer needs it: then
// other writers free the values that it has replaced.
func (t *SharedTable[T]) Writer() *SharedWriter[T] {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mustBeOpen()
	w := &SharedWriter[T]{table: t, here: t.epochs.join()}
	t.writers[w] = struct{}{}
	return w
}

// Set makes v the value of entry i. If several writers set one entry at the same time, the last one wins.
//
// Set panics when i is not in [0, Capacity). It panics with a [*vm.Error] if there is no memory for the entry
// (see [SharedTable.GrowEntries]) or no place for the value (see [SharedWriter.Grow]); then the entry keeps
// its old value. If there is no place while readers are between Enter and Leave or other writers are inside
// an Update, Set first waits up to about a tenth of a second.
func (w *SharedWriter[T]) Set(i int, v T) {
	t := w.table
	if w.barred {
		w.mustBeFree("Set")
	}
	if uint64(i) >= t.room.Load() {
		t.reach(i)
	}
	offset := w.put(v)
	if old := atomic.SwapUint64(t.entry(uint(i)), offset); old != 0 {
		w.retire(old)
	} else {
		w.live.Add(1)
	}
}

// Remove removes the value of entry i and reports whether there was one. It panics when i is not in [0,
// Capacity).
func (w *SharedWriter[T]) Remove(i int) bool {
	if w.barred {
		w.mustBeFree("Remove")
	}
	if !w.reaches(i) {
		return false
	}
	old := atomic.SwapUint64(w.table.entry(uint(i)), 0)
	if old == 0 {
		return false
	}
	w.live.Add(-1)
	w.retire(old)
	return true
}

// Update replaces the value of entry i by a copy that the function change has changed, and reports whether
// there was a value. The replacement is atomic: if another writer changes the entry meanwhile, Update calls
// the function again for a copy of the newer value. The function may be called several times, so it must have
// no effect except on its argument. If the function panics, the entry keeps its value. If there is no place
// for the copy, Update waits and panics as [SharedWriter.Set] does.
//
// While the function runs, calls on this writer panic. Values that are replaced meanwhile are freed only
// after the function has returned, as if a reader were between Enter and Leave.
func (w *SharedWriter[T]) Update(i int, change func(v *T)) bool {
	if w.barred {
		w.mustBeFree("Update")
	}
	if !w.reaches(i) {
		return false
	}
	t := w.table
	promised := w.promised
	offset := w.put(*new(T))
	used := false
	w.barred = true
	// Between the calls of enter and exit, the entry's value is not freed, even if another writer replaces
	// the value. So the old offset cannot belong to a newer value at the swap.
	t.epochs.enter(w.here)
	defer func() {
		w.here.exit()
		w.barred = false
		if !used {
			w.free, w.promised = append(w.free, t.place(offset)), promised
		}
	}()
	for {
		old := atomic.LoadUint64(t.entry(uint(i)))
		if old == 0 {
			return false
		}
		v := t.value(offset)
		*v = *t.value(old)
		change(v)
		if atomic.CompareAndSwapUint64(t.entry(uint(i)), old, offset) {
			used = true
			w.retire(old)
			return true
		}
	}
}

// reaches reports whether entry i has memory, and panics if the table has no entry i.
func (w *SharedWriter[T]) reaches(i int) bool {
	t := w.table
	if uint64(i) < t.room.Load() {
		return true
	}
	t.mustHave(i)
	return false
}

// Grow takes places for the next n values that this writer sets. If their entries have memory, setting these
// values cannot fail. Grow panics when n is negative. It returns a [*vm.Error] wrapping [vm.ErrCapacity] if
// fewer than n places for values are free, or an error as [vm.Region.Commit] does. After an error nothing has
// changed.
func (w *SharedWriter[T]) Grow(n int) error {
	if n < 0 {
		panic(fmt.Sprintf("bulk: Grow(%d) on a writer of %s: a number of values is zero or more", n,
			w.table.plan.name))
	}
	if w.barred {
		w.mustBeFree("Grow")
	}
	w.table.mustBeOpen()
	w.reclaim()
	if n > len(w.free) {
		got, err := w.table.places(opGrow, n-len(w.free))
		if err != nil {
			return err
		}
		w.free = append(w.free, got...)
	}
	w.promised = n
	return nil
}

// mustBeFree panics because the writer cannot be used.
func (w *SharedWriter[T]) mustBeFree(method string) {
	if w.here == nil {
		panic("bulk: a writer of " + w.table.plan.name +
			" is used after Close: make another one with SharedTable.Writer")
	}
	panic("bulk: " + method + " on a writer of " + w.table.plan.name +
		" in the middle of its Update: let the callback change only its argument, or use another Writer")
}

// put writes a value to a free place, which no reader sees yet, and returns the offset of the place.
func (w *SharedWriter[T]) put(v T) uint64 {
	if len(w.free) == 0 {
		w.more()
	}
	place := w.free[len(w.free)-1]
	w.free = w.free[:len(w.free)-1]
	w.promised = max(0, w.promised-1)
	offset := w.table.offset(place)
	*w.table.value(offset) = v
	return offset
}

// more takes a batch of places for values, or a single place if there are too few for a batch. If there is no
// place while readers are between Enter and Leave or other writers are inside an Update, the method waits, so
// that interrupted goroutines can leave.
func (w *SharedWriter[T]) more() {
	t := w.table
	for try := 0; ; try++ {
		if w.reclaim(); len(w.free) > 0 {
			return
		}
		got, err := t.places(opInsert, batchPlaces)
		if err != nil {
			got, err = t.places(opInsert, 1)
		}
		switch {
		case err == nil:
			w.free = append(w.free, got...)
			return
		case try == triesYield+triesSleep || t.epochs.inside() == 0:
			panic(err)
		case try < triesYield:
			runtime.Gosched()
		default:
			time.Sleep(time.Millisecond)
		}
	}
}

// maxWaiting limits the number of replaced values that wait in a writer: see SharedWriter.reclaim.
const maxWaiting = 8 * batchPlaces

// A writer without places yields to other goroutines triesYield times, then sleeps for a millisecond
// triesSleep times, and then gives up.
const (
	triesYield = 100
	triesSleep = 100
)

// retire notes that the value at an offset was removed. The caller must remove the value first, because the
// noted epoch must not be earlier than the removal.
func (w *SharedWriter[T]) retire(offset uint64) {
	w.waiting = append(w.waiting, retired{w.table.place(offset), w.table.epochs.now.Load()})
	if w.replaced++; w.replaced >= batchPlaces {
		w.reclaim()
	}
}

// reclaim frees values that no reader can access any more, and gives other writers the places that this
// writer will not need soon. If no reader is between Enter and Leave, two advances of the epoch free all
// values that wait. If maxWaiting values or more still wait, the table takes them over, so that other writers
// can free them even if this writer stops.
func (w *SharedWriter[T]) reclaim() {
	t := w.table
	w.replaced = 0
	t.epochs.advance()
	t.epochs.advance()
	for w.first < len(w.waiting) && t.epochs.unseen(w.waiting[w.first].epoch) {
		w.free = append(w.free, t.freed(w.waiting[w.first].place))
		w.first++
	}
	if w.first > len(w.waiting)/2 {
		w.waiting = append(w.waiting[:0], w.waiting[w.first:]...)
		w.first = 0
	}
	if len(w.waiting)-w.first >= maxWaiting {
		t.mu.Lock()
		t.takeOver(w.waiting[w.first:])
		t.mu.Unlock()
		w.waiting, w.first = w.waiting[:0], 0
	}
	if keep := max(w.promised, 2*batchPlaces); len(w.free) > 2*keep {
		t.mu.Lock()
		t.spare = append(t.spare, w.free[keep:]...)
		t.mu.Unlock()
		w.free = w.free[:keep]
	}
}

// Close ends the use of the writer and gives its places for values to other writers. Close panics in the
// middle of an Update. A second Close does nothing.
func (w *SharedWriter[T]) Close() {
	if w.here == nil {
		return
	}
	if w.barred {
		w.mustBeFree("Close")
	}
	t := w.table
	t.mu.Lock()
	t.spare = append(t.spare, w.free...)
	t.takeOver(w.waiting[w.first:])
	t.liveOfOther += w.live.Load()
	delete(t.writers, w)
	t.mu.Unlock()
	t.epochs.part(w.here)
	w.here, w.barred, w.free, w.waiting, w.first = nil, true, nil, nil, 0
}
