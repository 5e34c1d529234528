package bulk

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// SharedTable is a table of numbered entries that writers replace while readers read. It can have an entry
// for each number that an object may ever have, even a billion entries. A reader never waits, and never sees
// half of a value: it gets the old value or the new value, and this value stays the same until the reader
// leaves. The idea is the "obscenely big array" of "Virtual Memory Tricks" (Niklas Gray, 2017).
//
// Each goroutine that reads has a [SharedReader], and each goroutine that writes has a [SharedWriter]. Values
// in the table are immutable: a writer stores a new value in another place and then changes one word. The
// table frees an old value when no reader can access it any more; see [SharedReader.Enter].
//
// Each entry takes 8 bytes. Memory is committed up to the highest entry that was set; pages that were never
// touched take no physical memory. The values take memory of their own. The number of places for values is
// nine eighths of the number of entries, plus 1,048,576 (16,384 on the heap stand-in). The additional places
// hold replaced values that wait to be freed, and free places that writers keep. A value that waits also
// takes 4 to 16 bytes on Go's heap. Freed places hold later values; only Close gives memory back.
//
// A reader that never calls Leave does not block other readers, and neither does a callback of
// [SharedWriter.Update] that does not return. But from then on, no replaced value is freed, and in the end
// writers have no places left.
type SharedTable[T any] struct {
	entries   unsafe.Pointer // an atomic word for each entry: 0 for no value, or the offset of the value
	values    unsafe.Pointer // the places for values; offsets count bytes from here; place 0 is not used
	room      atomic.Uint64  // number of entries that have memory
	epochs    epochs
	plan      plan
	maxPlaces uint32                      // number of places for values, including place 0
	ended     atomic.Pointer[closedError] // the panic after Close

	mu          sync.Mutex // guards the fields below
	region      *vm.Region
	entrySpan   vm.Span
	valueSpan   denseSpan
	used        uint32         // number of places that were ever taken, including place 0
	spare       []uint32       // places that were taken and are free again
	waiting     []retiredBatch // places that writers have handed over, in ascending order of epochs
	writers     map[*SharedWriter[T]]struct{}
	liveOfOther int64 // number of entries that closed writers set, minus the entries that they removed
}

// retired is the place of a removed value.
type retired struct {
	place uint32
	epoch uint64 // the epoch of the removal, or a later one
}

// retiredBatch holds the places of values that were removed in the given epoch or earlier.
type retiredBatch struct {
	places []uint32
	epoch  uint64
}

const (
	bytesEntry = 8
	// batchPlaces is the number of places for values that a writer takes together. It is also the number of
	// values that a writer replaces or removes before it calls SharedWriter.reclaim.
	batchPlaces = 64
	// spareValues is the number of places for values beyond nine eighths of the number of entries. The
	// scheduler may interrupt a reader between Enter and Leave for a few milliseconds, and writers replace
	// some hundred thousand values in this time.
	spareValues = 1 << 20
	// spareValuesHeap replaces spareValues on the heap stand-in, where addresses cost memory.
	spareValuesHeap = 1 << 14
)

// NewSharedTable makes an empty table of Options.Capacity entries. It reserves addresses and takes no memory.
//
// It returns an error as [vm.Reserve] does, and panics when T holds Go pointers or has no size, or an option
// is negative.
func NewSharedTable[T any](o Options) (*SharedTable[T], error) {
	p, err := newPlan[T]("SharedTable", o, maxSlots/4*3)
	if err != nil {
		return nil, err
	}
	var v T
	if unsafe.Sizeof(v) == 0 {
		panic("bulk: NewSharedTable[" + layout.Name[T]() + "]: the values have no size: use a set of bits")
	}
	spare := spareValues
	if o.Pages == vm.PagesHeap || heapStandIn() {
		spare = spareValuesHeap
	}
	t := &SharedTable[T]{plan: p, maxPlaces: uint32(p.capacity + p.capacity/8 + spare), used: 1}
	t.writers = make(map[*SharedWriter[T]]struct{})
	bytesEntries, bytesValues := max(1, p.capacity)*bytesEntry, int(t.maxPlaces)*p.sizeElement
	t.region, err = vm.Reserve(bytesEntries+vm.PageSize()+alignedSize(bytesValues),
		vm.Options{Name: p.name, Limit: o.Limit, Pages: o.Pages})
	if err != nil {
		return nil, err
	}
	if t.entrySpan, err = t.region.Carve(bytesEntries, 0); err == nil {
		t.valueSpan, err = carve(t.region, bytesValues)
	}
	if err != nil {
		_ = t.region.Close()
		return nil, err
	}
	t.valueSpan.Label(p.label("value"))
	t.entries, t.values = t.entrySpan.Base(), t.valueSpan.Base()
	return t, nil
}

// entry returns the address of entry i, which must be less than t.room. It is sound because entries below
// t.room are committed and do not move before Close. The address is a multiple of 8, as sync/atomic requires.
func (t *SharedTable[T]) entry(i uint) *uint64 {
	return (*uint64)(unsafe.Add(t.entries, i*bytesEntry))
}

// value returns the address of the value at an offset. It is sound for an offset that an entry holds: the
// place was committed before the entry got the offset.
func (t *SharedTable[T]) value(offset uint64) *T { return (*T)(unsafe.Add(t.values, offset)) }

func (t *SharedTable[T]) offset(place uint32) uint64 {
	var v T
	return uint64(place) * uint64(unsafe.Sizeof(v))
}

func (t *SharedTable[T]) place(offset uint64) uint32 {
	var v T
	return uint32(offset / uint64(unsafe.Sizeof(v)))
}

// Cap returns the number of entries.
func (t *SharedTable[T]) Cap() int { return t.plan.capacity }

// Len returns how many entries have a value. While writers run, the number may already be outdated.
func (t *SharedTable[T]) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.liveOfOther
	for w := range t.writers {
		n += w.live.Load()
	}
	return int(n)
}

// GrowEntries commits memory for the first n entries. Setting one of these entries then needs memory only for
// the value; see [SharedWriter.Grow]. GrowEntries panics when n is not in [0, Capacity]. It returns an error
// as [vm.Region.Commit] does; after an error nothing has changed.
func (t *SharedTable[T]) GrowEntries(n int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mustBeOpen()
	if n < 0 {
		panic(fmt.Sprintf("bulk: GrowEntries(%d) on %s: the number cannot be negative", n, t.plan.name))
	}
	if n > t.plan.capacity {
		panic(fmt.Sprintf("bulk: GrowEntries(%d) on %s, which has %d entries: raise Options.Capacity", n,
			t.plan.name, t.plan.capacity))
	}
	if err := t.entrySpan.CommitTo(n*bytesEntry, 0); err != nil {
		return err
	}
	t.room.Store(uint64(min(t.entrySpan.Committed()/bytesEntry, t.plan.capacity)))
	return nil
}

// Reserved returns the bytes of addresses that the table takes; 0 after Close.
func (t *SharedTable[T]) Reserved() int {
	if t.ended.Load() != nil {
		return 0
	}
	return t.region.Size()
}

// Committed returns the bytes of memory that the table may touch.
func (t *SharedTable[T]) Committed() int { return t.region.Committed() }

// Resident returns how many bytes of the table are in memory. The number comes from the operating system; see
// [vm.Region.Resident].
func (t *SharedTable[T]) Resident() (int, error) { return t.region.Resident() }

// Close gives the memory and the addresses back. It panics while a reader is between Enter and Leave, or
// while a writer is inside an Update. No writer may be used while Close runs. After Close, reading and
// writing entries panics, and values from Get must not be used. Closing twice does nothing.
func (t *SharedTable[T]) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended.Load() != nil {
		return nil
	}
	t.mustBeLeft()
	// A reader first announces that it is inside, and then loads t.room. Close first sets t.room to zero, and
	// then looks for readers a second time. So either Close sees a reader that enters meanwhile, or that
	// reader sees that the table is closed.
	room, closed := t.room.Load(), false
	t.ended.Store(&closedError{t.plan.name})
	t.room.Store(0)
	defer func() {
		if !closed {
			t.ended.Store(nil)
			t.room.Store(room)
		}
	}()
	t.mustBeLeft()
	err := t.region.Close()
	closed = err == nil
	return err
}

// mustBeLeft panics while a reader is inside a look (between Enter and Leave), or a writer inside an Update.
func (t *SharedTable[T]) mustBeLeft() {
	if n := t.epochs.inside(); n > 0 {
		panic(fmt.Sprintf("bulk: Close of %s while %d of its readers and writers are inside a look or an "+
			"Update: wait until the readers Leave and the Updates return", t.plan.name, n))
	}
}

func (t *SharedTable[T]) mustBeOpen() {
	if err := t.ended.Load(); err != nil {
		panic(err)
	}
}

// mustHave panics if the table is closed or has no entry i.
func (t *SharedTable[T]) mustHave(i int) {
	t.mustBeOpen()
	if uint(i) >= uint(t.plan.capacity) {
		panic(fmt.Sprintf("bulk: entry %d of %s, which has %d entries: raise Options.Capacity", i,
			t.plan.name, t.plan.capacity))
	}
}

// reach commits the memory of entry i, or panics.
func (t *SharedTable[T]) reach(i int) {
	t.mustHave(i)
	if err := t.GrowEntries(i + 1); err != nil {
		panic(err)
	}
}

// places takes n free places for a writer. After an error it has taken no place.
func (t *SharedTable[T]) places(op operation, n int) ([]uint32, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mustBeOpen()
	unseen := 0
	for unseen < len(t.waiting) && t.epochs.unseen(t.waiting[unseen].epoch) {
		for _, place := range t.waiting[unseen].places {
			t.spare = append(t.spare, t.freed(place))
		}
		unseen++
	}
	t.waiting = slices.Delete(t.waiting, 0, unseen)
	had := min(n, len(t.spare))
	fresh := n - had
	if fresh > int(t.maxPlaces-t.used) {
		return nil, t.full(op, n)
	}
	if err := t.commitValues(op, int(t.used)+fresh); err != nil {
		return nil, err
	}
	got := append(make([]uint32, 0, n), t.spare[len(t.spare)-had:]...)
	t.spare = t.spare[:len(t.spare)-had]
	for range fresh {
		got = append(got, t.used)
		t.used++
	}
	return got, nil
}

// takeOver takes places of removed values from a writer, so that the table frees them even if that writer
// stops. The caller must hold mu.
func (t *SharedTable[T]) takeOver(places []retired) {
	if len(places) == 0 {
		return
	}
	// All these values were removed in the current epoch or earlier.
	b := retiredBatch{make([]uint32, 0, len(places)), t.epochs.now.Load()}
	for _, r := range places {
		b.places = append(b.places, r.place)
	}
	t.waiting = append(t.waiting, b)
}

// commitValues commits memory for the first n places.
func (t *SharedTable[T]) commitValues(op operation, n int) error {
	need, committed := n*t.plan.sizeElement, t.valueSpan.Committed()
	if need <= committed {
		return nil
	}
	ahead := min(max(need, committed+t.plan.stepFrom(committed)), t.valueSpan.Size())
	return op.commitAhead(need, ahead, t.valueSpan.grow)
}

// freed returns a place that no reader can access any more. With the build tag invariants it poisons the
// place.
func (t *SharedTable[T]) freed(place uint32) uint32 {
	if invariants.Enabled {
		v := t.value(t.offset(place))
		invariants.Poison(unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)))
	}
	return place
}

// full returns the error of a table that has fewer than n free places for values.
func (t *SharedTable[T]) full(op operation, n int) *vm.Error {
	return &vm.Error{Op: op.String(), Purpose: t.plan.name, Bytes: n * t.plan.sizeElement,
		Err: vm.ErrCapacity,
		Detail: fmt.Sprintf("%d more places for values are needed, and %d are free; the table has %d places "+
			"for %d entries; %d readers and writers are inside a look or an Update, and replaced values are "+
			"freed only afterwards: keep looks and Updates short, and Close unused writers",
			n, len(t.spare)+int(t.maxPlaces-t.used), t.maxPlaces-1, t.plan.capacity, t.epochs.inside())}
}
