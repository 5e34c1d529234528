package bulk

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// SharedWriter is one goroutine's way to change a [SharedTable]. Writers do not wait for readers, and for
// each other only once in 64 values or so, when they take places for them.
//
// A writer that does not go on keeps nobody from reading or writing. Until it goes on or is closed it keeps
// fewer than 1,000 places from the others, or twice as many as Grow promised.
type SharedWriter[T any] struct {
	table  *SharedTable[T]
	here   *presence
	barred bool         // it cannot be used: it is closed, or in the middle of an Update
	live   atomic.Int64 // entries that it set, less those that it deleted
	free   []uint32     // places for values
	// waiting are the places of values that it replaced, in the order of their epochs; those before first are free again.
	waiting []retired
	first   int
	since   int // values replaced since it last looked which can be freed
	// promised is how many of the free places Grow has promised.
	promised int
	_        [64]byte // the next writer's counts are on another cache line
}

// Writer returns a writer for one goroutine. Close it when the goroutine needs it no more: what it has replaced is then
// freed by the others.
func (t *SharedTable[T]) Writer() *SharedWriter[T] {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mustBeOpen()
	w := &SharedWriter[T]{table: t, here: t.epochs.join()}
	t.writers[w] = struct{}{}
	return w
}

// Set makes v the value of entry i. Of those who set one entry at the same time the last one wins.
//
// It panics when i is not in [0, Capacity), and with a [*vm.Error] where there is no memory for the entry
// ([SharedTable.Grow] makes sure of it) or for the value ([SharedWriter.Grow]); then nothing has changed.
// Where all places for values are taken because readers are inside, it waits for them up to a tenth of a
// second before that.
func (w *SharedWriter[T]) Set(i int, v T) {
	t := w.table
	if w.barred {
		w.mustBeFree("Set")
	}
	if uint64(i) >= t.room.Load() {
		t.reach(i)
	}
	distance := w.put(v)
	if old := atomic.SwapUint64(t.entry(uint(i)), distance); old != 0 {
		w.retire(old)
	} else {
		w.live.Add(1)
	}
}

// Remove takes the value of entry i away and reports whether there was one. It panics when i is not in [0, Capacity).
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

// Update puts a changed copy into the place of the value of entry i, and reports whether there was a value.
// No other change of the entry comes between: where one did, change is called again for a copy of the newer
// value, so that it must do nothing else than to change what it is given. Using the writer panics while
// change runs. Where change panics the entry stays as it is. It fails as [SharedWriter.Set] does.
//
// What is replaced while change runs is not freed before it returns, as while a reader is inside.
func (w *SharedWriter[T]) Update(i int, change func(v *T)) bool {
	if w.barred {
		w.mustBeFree("Update")
	}
	if !w.reaches(i) {
		return false
	}
	t := w.table
	promised := w.promised
	distance := w.put(*new(T))
	used := false
	w.barred = true
	t.epochs.enter(w.here) // so that the old value is not freed, and its place not used again, before the entry is swapped
	defer func() {
		w.here.exit()
		w.barred = false
		if !used {
			w.free, w.promised = append(w.free, t.place(distance)), promised
		}
	}()
	for {
		old := atomic.LoadUint64(t.entry(uint(i)))
		if old == 0 {
			return false
		}
		v := t.value(distance)
		*v = *t.value(old)
		change(v)
		if atomic.CompareAndSwapUint64(t.entry(uint(i)), old, distance) {
			used = true
			w.retire(old)
			return true
		}
	}
}

// reaches reports whether entry i can have a value, and panics where there is no such entry.
func (w *SharedWriter[T]) reaches(i int) bool {
	t := w.table
	if uint64(i) < t.room.Load() {
		return true
	}
	t.mustHave(i)
	return false
}

// Grow makes the next n values that this writer puts into the table unable to fail, as long as their entries are committed.
// It panics when n is negative, and returns a [*vm.Error] wrapping [vm.ErrCapacity] where so many places for values are not
// free, or as [vm.Region.Commit] does; then nothing has changed.
func (w *SharedWriter[T]) Grow(n int) error {
	if n < 0 {
		panic(fmt.Sprintf("bulk: Grow(%d) on a writer of %s: a number of values is zero or more", n, w.table.plan.name))
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
		panic("bulk: a writer of " + w.table.plan.name + " is used after Close: ask the table for another Writer")
	}
	panic("bulk: " + method + " on a writer of " + w.table.plan.name + " in the middle of its Update: let change " +
		"do nothing else than to change what it is given, or use another Writer")
}

// put writes a value where nobody sees it yet, and returns how far that is from the first place.
func (w *SharedWriter[T]) put(v T) uint64 {
	if len(w.free) == 0 {
		w.more()
	}
	place := w.free[len(w.free)-1]
	w.free = w.free[:len(w.free)-1]
	w.promised = max(0, w.promised-1)
	distance := w.table.distance(place)
	*w.table.value(distance) = v
	return distance
}

// more takes places for values: a batch, or where there are not so many, one. Where there is none because readers are
// inside, it lets them run: a reader whose goroutine or thread was interrupted holds up all writers.
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

// mostWaiting is how many replaced values a writer keeps to free them itself.
const mostWaiting = 8 * batchPlaces

// How often a writer without places lets others run, and then sleeps a millisecond, before it gives up.
const (
	triesYield = 100
	triesSleep = 100
)

// retire notes that the value at distance went out of sight. The epoch is loaded after that happened.
func (w *SharedWriter[T]) retire(distance uint64) {
	w.waiting = append(w.waiting, retired{w.table.place(distance), w.table.epochs.now.Load()})
	if w.since++; w.since >= batchPlaces {
		w.reclaim()
	}
}

// reclaim frees what nobody can see any more, and gives what it does not need soon to the other writers.
// Where nobody is inside, two advances free everything. Where somebody stays inside, the table gets what
// waits: so the others can free it afterwards, though this writer does not go on.
func (w *SharedWriter[T]) reclaim() {
	t := w.table
	w.since = 0
	t.epochs.advance()
	t.epochs.advance()
	for w.first < len(w.waiting) && t.epochs.unseen(w.waiting[w.first].since) {
		w.free = append(w.free, t.freed(w.waiting[w.first].place))
		w.first++
	}
	if w.first > len(w.waiting)/2 {
		w.waiting = append(w.waiting[:0], w.waiting[w.first:]...)
		w.first = 0
	}
	if len(w.waiting)-w.first >= mostWaiting {
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

// Close ends the use of the writer. Its places for values go to the others. It panics in the middle of an
// Update. Closing twice does nothing.
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
