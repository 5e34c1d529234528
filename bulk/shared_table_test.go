package bulk

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// object has fields that belong together, so that the tests notice a mix of two objects.
type object struct {
	A, B, C, D uint64
}

func objectOf(n uint64) object { return object{n, n * 3, n * 5, n * 7} }

func (o object) whole() bool { return o == objectOf(o.A) }

func openTable(t testing.TB, o Options) *SharedTable[object] {
	t.Helper()
	table, err := NewSharedTable[object](o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	return table
}

func TestSharedTableBillion(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("regions are Go heap memory in this build")
	}
	capacity := 1_000_000_000
	if testing.Short() {
		capacity = 10_000_000 // Resident takes long in emulators
	}
	table := openTable(t, Options{Capacity: capacity})
	w, r := table.Writer(), table.Reader()
	for _, i := range []int{0, 7, 1_000_000, capacity - 1} {
		w.Set(i, objectOf(uint64(i)))
	}
	r.Enter()
	for _, i := range []int{0, 1, 7, 8, 999_999, 1_000_000, capacity / 2, capacity - 2, capacity - 1} {
		want := i == 0 || i == 7 || i == 1_000_000 || i == capacity-1
		if v := r.Get(i); (v != nil) != want || want && *v != objectOf(uint64(i)) {
			t.Errorf("entry %d is %v", i, v)
		}
	}
	r.Leave()
	resident, err := table.Resident()
	if pages := resident / vm.PageSize(); err != nil || table.Len() != 4 || pages < 4 || resident > 1<<20 {
		t.Errorf("a table with %d values has %d bytes in memory: %v", table.Len(), resident, err)
	}
}

func TestSharedTableReaders(t *testing.T) {
	const entries, writers, readers = 64, 3, 3
	rounds := longtest.Pick(3_000, 20_000)
	table := openTable(t, Options{Capacity: entries})
	var clock atomic.Uint64
	var writing, reading sync.WaitGroup
	var stop atomic.Bool
	for n := range writers {
		writing.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 1))
			w := table.Writer()
			defer w.Close()
			for range rounds {
				switch i := random.IntN(entries); random.IntN(8) {
				case 0:
					w.Remove(i)
				case 1:
					w.Update(i, func(o *object) { *o = objectOf(clock.Add(1)) })
				default:
					w.Set(i, objectOf(clock.Add(1)))
				}
			}
		})
	}
	looks := make([]int, readers)
	for n := range readers {
		reading.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 2))
			r := table.Reader()
			defer r.Close()
			// If Go uses a single thread, Gosched lets the writers run.
			for ; !stop.Load() || looks[n] == 0; runtime.Gosched() {
				r.Enter()
				var seen []*object
				var was []object
				for range 20 {
					if v := r.Get(random.IntN(entries)); v != nil {
						seen, was = append(seen, v), append(was, *v)
					}
				}
				for i, v := range seen {
					if *v != was[i] || !v.whole() {
						t.Errorf("before the reader left, a value was first %v and then %v", was[i], *v)
						stop.Store(true)
					}
				}
				r.Leave()
				looks[n]++
			}
		})
	}
	writing.Wait()
	stop.Store(true)
	reading.Wait()
	r, live := table.Reader(), 0
	r.Enter()
	for i, v := range r.All() {
		live++
		if !v.whole() {
			t.Errorf("entry %d is %v", i, *v)
		}
	}
	r.Leave()
	r.Close()
	if live != table.Len() {
		t.Errorf("%d entries have values, Len is %d", live, table.Len())
	}
	checkTable(t, table)
}

func TestSharedTableUpdate(t *testing.T) {
	const writers, each = 4, 5_000
	table := openTable(t, Options{Capacity: 3})
	first := table.Writer()
	first.Set(1, object{})
	var wait sync.WaitGroup
	for range writers {
		wait.Go(func() {
			w := table.Writer()
			defer w.Close()
			for range each {
				if !w.Update(1, func(o *object) { o.A++; o.B += 2 }) ||
					w.Update(2, func(*object) { panic("no value") }) {
					t.Error("Update finds a missing value, or misses an existing value")
				}
			}
		})
	}
	wait.Wait()
	r := table.Reader()
	defer r.Close()
	if v, ok := r.Load(1); !ok || v.A != writers*each || v.B != 2*writers*each {
		t.Errorf("after %d Updates that add 1 and 2, the value is %v", writers*each, v)
	}
	first.Close()
	checkTable(t, table)
}

func TestSharedTableHeldUp(t *testing.T) {
	table := openTable(t, Options{Capacity: 8})
	w, r := table.Writer(), table.Reader()
	w.Set(3, objectOf(1))
	r.Enter()
	seen := r.Get(3)
	n := uint64(1)
	err := func() (err error) {
		defer func() { err = recover().(error) }()
		for {
			w.Set(3, objectOf(n+1))
			n++
		}
	}()
	if !errors.Is(err, vm.ErrCapacity) || int(n) != int(table.maxPlaces)-1 ||
		!strings.Contains(err.Error(), "1 readers and writers are inside") {
		t.Errorf("after %d values in %d places: %v", n, table.maxPlaces-1, err)
	}
	if *seen != objectOf(1) || *r.Get(3) != objectOf(n) || table.Len() != 1 {
		t.Errorf("the value that the reader saw is %v, entry 3 is %v, Len is %d", *seen, *r.Get(3),
			table.Len())
	}
	if err := w.Grow(1); !errors.Is(err, vm.ErrCapacity) {
		t.Errorf("Grow returned %v", err)
	}
	r.Leave()
	if err := w.Grow(10_000); err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		w.Set(i%8, objectOf(uint64(i)))
	}
	if v, _ := r.Load(7); v != objectOf(9999) {
		t.Errorf("entry 7 is %v", v)
	}
	w.Close()
	checkTable(t, table)
}

func TestSharedTableBounded(t *testing.T) {
	table := openTable(t, Options{Capacity: 100})
	r := table.Reader()
	for n := range 300 {
		w := table.Writer()
		for i := range 1000 {
			if i%10 == 0 {
				r.Enter()
			}
			w.Set(i%100, objectOf(uint64(n*1000+i)))
			if i%10 == 9 {
				r.Leave()
			}
		}
		w.Close()
	}
	if table.used > 2000 {
		t.Errorf("300,000 values of 100 entries took %d places", table.used)
	}
	checkTable(t, table)
}

// checkTable checks that each place for a value belongs to exactly one entry or list. No goroutine may change
// the table during the check.
func checkTable(t *testing.T, table *SharedTable[object]) {
	t.Helper()
	owner := make(map[uint32]string)
	own := func(place uint32, who string) {
		if before, taken := owner[place]; taken {
			t.Errorf("place %d belongs to %s and %s", place, before, who)
		}
		owner[place] = who
	}
	for i := range uint(table.room.Load()) {
		if d := *table.entry(i); d != 0 {
			own(table.place(d), fmt.Sprint("entry ", i))
		}
	}
	for _, place := range table.spare {
		own(place, "the spare places")
	}
	for _, b := range table.waiting {
		for _, place := range b.places {
			own(place, "the waiting places")
		}
	}
	for w := range table.writers {
		for _, place := range w.free {
			own(place, "a writer")
		}
		for _, r := range w.waiting[w.first:] {
			own(r.place, "a writer's waiting places")
		}
	}
	if len(owner) != int(table.used)-1 {
		t.Errorf("%d places belong to an entry or a list, but %d places were taken", len(owner), table.used-1)
	}
}

func TestSharedTableMisuse(t *testing.T) {
	table := openTable(t, Options{Name: "objects", Capacity: 10})
	w, r := table.Writer(), table.Reader()
	says := func(want string, f func()) {
		t.Helper()
		defer func() {
			t.Helper()
			if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
				t.Errorf("panicked with %q, want %q", got, want)
			}
		}()
		f()
	}
	says("entry 10 of objects, which has 10 entries: raise Options.Capacity", func() { w.Set(10, object{}) })
	says("entry -1 of objects", func() { w.Set(-1, object{}) })
	says("entry -1 of objects", func() { w.Remove(-1) })
	says("entry 11 of objects", func() { w.Update(11, func(*object) {}) })
	says("outside of a look: Enter first", func() { r.Get(0) })
	says("All on a reader of objects outside of a look: Enter before the loop", func() {
		for range r.All() {
			t.Error("All iterates outside of a look")
		}
	})
	says("outside of a look: Enter first", r.Leave)
	says("GrowEntries(11) on objects, which has 10 entries", func() { _ = table.GrowEntries(11) })
	says("GrowEntries(-1)", func() { _ = table.GrowEntries(-1) })
	says("Grow(-1) on a writer", func() { _ = w.Grow(-1) })
	r.Enter()
	says("entry 10 of objects", func() { r.Get(10) })
	says("inside a look already", r.Enter)
	says("inside a look: Leave first", r.Close)
	says("while 1 of its readers and writers are inside", func() { _ = table.Close() })
	r.Leave()
	other := table.Reader()
	other.Close()
	other.Close()
	says("closed reader of objects: make another one with SharedTable.Reader", other.Enter)
	lost := table.Writer()
	lost.Close()
	lost.Close()
	says("used after Close: make another one with SharedTable.Writer", func() { lost.Set(1, object{}) })
	says("used after Close", func() { _ = lost.Grow(1) })
	says("NewSharedTable[struct {}]: the values have no size",
		func() { _, _ = NewSharedTable[struct{}](Options{}) })
	says("is a pointer", func() { _, _ = NewSharedTable[*int](Options{}) })
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	closed := "objects is used after Close"
	says(closed, func() { w.Set(1, object{}) })
	says(closed, func() { w.Remove(1) })
	says(closed, func() { table.Reader() })
	says(closed, func() { table.Writer() })
	says(closed, func() { _ = table.GrowEntries(1) })
	says(closed, func() { r.Enter(); r.Get(1) })
}

func TestSharedTableLimit(t *testing.T) {
	limit := vm.NewLimit(4 * vm.PageSize())
	table := openTable(t, Options{Capacity: 100_000, Limit: limit})
	w, r := table.Writer(), table.Reader()
	n := 0
	err := func() (err error) {
		defer func() { err = recover().(error) }()
		for ; ; n++ {
			w.Set(n, objectOf(uint64(n)))
		}
	}()
	if !errors.Is(err, vm.ErrLimit) || n == 0 || table.Len() != n {
		t.Fatalf("after %d values Len is %d: %v", n, table.Len(), err)
	}
	if err := table.GrowEntries(100_000); !errors.Is(err, vm.ErrLimit) {
		t.Errorf("GrowEntries returned %v", err)
	}
	r.Enter()
	for i := range n {
		if v := r.Get(i); v == nil || *v != objectOf(uint64(i)) {
			t.Fatalf("entry %d is %v", i, v)
		}
	}
	r.Leave()
	for i := range n / 2 {
		w.Remove(i)
	}
	for i := range n / 4 {
		w.Set(i, objectOf(1))
	}
	if table.Len() != n-n/2+n/4 {
		t.Errorf("after Remove and Set, Len is %d", table.Len())
	}
	checkTable(t, table)
}

func TestSharedTableSizes(t *testing.T) {
	if _, err := NewSharedTable[object](Options{Capacity: maxSlots - 1}); !errors.Is(err, vm.ErrSize) {
		t.Errorf("a table of %d entries: %v", maxSlots-1, err)
	}
	table := openTable(t, Options{MaxBytes: 320})
	if table.Cap() != 10 || table.Committed() != 0 || table.Reserved() == 0 {
		t.Errorf("%d entries in 320 bytes", table.Cap())
	}
	r := table.Reader()
	if _, ok := r.Load(9); ok || table.Len() != 0 {
		t.Error("an empty table has a value")
	}
}

func TestSharedTableFaults(t *testing.T) {
	faulttest.EachCall(t, func() (err error) {
		table, err := NewSharedTable[object](Options{Capacity: 5000})
		if err != nil {
			return err
		}
		w, r := table.Writer(), table.Reader()
		set := 0
		defer func() {
			if e, failed := recover().(error); failed {
				err = e
			}
			if table.Len() != set {
				t.Errorf("%d entries, want %d", table.Len(), set)
			}
			checkTable(t, table)
			if e := table.Close(); e != nil {
				err = e
				_ = table.Close()
			}
		}()
		for i := range 5000 {
			w.Set(i, objectOf(uint64(i)))
			set++
			if v, ok := r.Load(i); !ok || v != objectOf(uint64(i)) {
				t.Errorf("entry %d is %v", i, v)
			}
		}
		return nil
	})
}
