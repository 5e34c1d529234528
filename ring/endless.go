package ring

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// ErrPassed is what a position gives that was released: what was there is gone.
var ErrPassed = errors.New("the position has been released")

// EndlessOptions say how an endless buffer is made. The zero value works.
type EndlessOptions struct {
	// Name is the purpose under which the buffer's bytes are counted (see [vm.Snapshot]) and named in errors.
	// Default: "ring.Endless".
	Name string
	// Capacity is how many bytes may lie between the oldest kept one and the end. Eight times as many addresses are
	// reserved, which costs no memory. Default: 16 GiB, or 1 MiB where regions are Go heap memory ([vm.PagesHeap], the
	// race detector, systems without virtual memory).
	Capacity int
	// Step is how many bytes are committed ahead of the writer and decommitted behind the reader at a time, rounded up to
	// whole pages. Default: a huge page, or 1 MiB where the system has none; or an eighth of Capacity where that is less.
	Step int
	// Limit is a budget of committed memory, shared with others. Default: none.
	Limit *vm.Limit
	// Pages is the page policy. Default: huge pages where Step is a whole number of them.
	Pages vm.Pages
}

// Endless is a stream of bytes of which an end part is kept: what is appended has a position, its distance from the
// beginning of the stream, under which it is found in one piece until it is released. Memory is committed ahead of the
// writer and given back behind what is released, so that the buffer takes about as much as is kept.
//
// One goroutine appends (Append, Write, ReadFrom, Reserve and Commit), one releases; both may be the same. Any number
// may read at the same time, with At, ReadAt, Start and End: each must be done with a part before that is released.
//
// The addresses are two laps of four times the capacity. When one lap is written to its end, what is kept is copied to
// the beginning of the other one, and goes on there; at most a third of what was appended, and mostly next to nothing.
// Slices into the old lap stay good until they are released. So positions, and the stream, have no end.
type Endless struct {
	region   *vm.Region
	name     string
	capacity int
	lapSize  int
	step     int
	lap      atomic.Pointer[lap] // where positions are found now; nil after Close

	_   cpu.CacheLinePad
	end atomic.Int64 // what is before it was appended

	// The appending goroutine's own.
	committed int64 // the position up to which memory is committed
	reserved  int
	filling   bool // ReadFrom's source fills the room at the end

	_     cpu.CacheLinePad
	start atomic.Int64 // what is before it was released

	// The releasing goroutine's own.
	trimmed int64 // what is before this position has given its memory back

	_    cpu.CacheLinePad
	mu   sync.Mutex // guards what follows, and changing lap
	laps [2]lapMemory
	now  int // the index in laps of the lap written to
}

// lap says where positions from first on lie.
type lap struct {
	base  unsafe.Pointer
	first int64
}

// lapMemory is the committed part of a lap, from its beginning on in bytes.
type lapMemory struct {
	first  int64 // the position of its first byte
	lo, hi int
}

// lapCapacities is the length of a lap in capacities. The lap is begun with at most one of them copied, so a quarter of
// what it holds.
const lapCapacities = 4

const (
	defaultStep         = 1 << 20
	defaultCapacity     = 16 << 30
	defaultHeapCapacity = 1 << 20
)

// NewEndless makes an empty buffer. It reserves addresses and takes no memory.
//
// It returns an error as [vm.Reserve] does, and panics when an option is negative.
func NewEndless(o EndlessOptions) (*Endless, error) {
	if o.Capacity < 0 || o.Step < 0 {
		panic(fmt.Sprintf("ring: NewEndless with Capacity %d and Step %d: leave them zero for the defaults", o.Capacity, o.Step))
	}
	if o.Name == "" {
		o.Name = "ring.Endless"
	}
	page := vm.PageSize()
	if o.Capacity == 0 {
		o.Capacity = defaultHeapCapacity
		if o.Pages != vm.PagesHeap && !vm.HeapStandIn() {
			capacity := int64(defaultCapacity)
			o.Capacity = int(capacity)
		}
	}
	if o.Capacity > math.MaxInt/8/lapCapacities || o.Step > math.MaxInt/8/lapCapacities {
		return nil, &vm.Error{Op: "reserve", Purpose: o.Name, Bytes: max(o.Capacity, o.Step), Err: vm.ErrSize,
			Detail: fmt.Sprintf("ask for a capacity, and steps, of at most %d bytes", math.MaxInt/8/lapCapacities)}
	}
	if o.Step == 0 {
		o.Step = min(max(defaultStep, vm.HugePageSize()), o.Capacity/8)
	}
	step := max(1, (o.Step+page-1)/page) * page
	lapSize := (o.Capacity*lapCapacities + step - 1) / step * step
	// A page behind the laps stays reserved, so that the address behind the last byte lies in the region too: the
	// collector stops the process when it meets a pointer into a part of its own heap that is not in use.
	r, err := vm.Reserve(2*lapSize+page, vm.Options{Name: o.Name, Limit: o.Limit, Pages: o.Pages})
	if err != nil {
		return nil, err
	}
	r.Label(0, r.Size(), vm.Label{What: o.Name, Advice: "use what is read before it is released"})
	if huge := vm.HugePageSize(); huge > 0 && step%huge == 0 {
		// Huge pages make it faster, not different: without them it works as well.
		_ = r.Huge(0, r.Size())
	}
	e := &Endless{region: r, name: o.Name, capacity: o.Capacity, lapSize: lapSize, step: step}
	e.lap.Store(&lap{base: r.Base()})
	return e, nil
}

// Start returns the oldest position that was not released.
func (e *Endless) Start() int64 { return e.start.Load() }

// End returns the position of what is appended next.
func (e *Endless) End() int64 { return e.end.Load() }

// Len returns how many bytes are kept.
func (e *Endless) Len() int {
	start := e.start.Load()
	return int(e.end.Load() - start)
}

// opened returns the current lap, or panics.
func (e *Endless) opened() *lap {
	l := e.lap.Load()
	if l == nil {
		panic("ring: " + e.name + " is used after Close: keep it open as long as its bytes are in use")
	}
	return l
}

// at views n bytes from a position on, which must be kept or reserved. It is sound because these are committed in the
// lap, in one piece, until they are released or the buffer is closed; they hold no Go pointers.
func (l *lap) at(position int64, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(l.base, int(position-l.first))), n)[:n:n]
}

// At returns the n bytes from a position on, where they lie. They must not be written to, and are good until they are
// released.
//
// Where fewer were appended it returns those, with [io.EOF]. Where the position was released, or is negative, the error
// wraps [ErrPassed]. It panics when n is negative.
func (e *Endless) At(position int64, n int) ([]byte, error) {
	if n < 0 {
		panic(fmt.Sprintf("ring: At(%d, %d) on %s: a number of bytes is zero or more", position, n, e.name))
	}
	// The end first: a lap that holds everything before it is seen then.
	end := e.end.Load()
	l := e.opened()
	if start := e.start.Load(); position < start {
		return nil, fmt.Errorf("ring: position %d of %s: %w; the oldest one kept is %d", position, e.name, ErrPassed, start)
	}
	if position > end {
		return nil, io.EOF
	}
	if int64(n) > end-position {
		return l.at(position, int(end-position)), io.EOF
	}
	return l.at(position, n), nil
}

// ReadAt copies from a position on, as [io.ReaderAt] does. It fails as At does.
func (e *Endless) ReadAt(p []byte, position int64) (int, error) {
	b, err := e.At(position, len(p))
	return copy(p, b), err
}

// Append copies p to the end and returns its position.
//
// It returns a [*vm.Error] wrapping [vm.ErrCapacity], [vm.ErrLimit] or another limit as [vm.Region.Commit] does; then
// nothing was appended, and it can be tried again when something was released.
func (e *Endless) Append(p []byte) (position int64, err error) {
	b, err := e.reserve("append", len(p))
	if err != nil {
		return 0, err
	}
	position = e.end.Load()
	e.commit(copy(b, p))
	return position, nil
}

// Write is Append as an [io.Writer]: it writes all of p or nothing.
func (e *Endless) Write(p []byte) (int, error) {
	if _, err := e.Append(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Reserve makes room for n bytes at the end and returns it, to be filled and then committed. It fails as Append does,
// and panics when n is negative.
func (e *Endless) Reserve(n int) ([]byte, error) {
	if n < 0 {
		panic(fmt.Sprintf("ring: Reserve(%d) on %s: a number of bytes is zero or more", n, e.name))
	}
	b, err := e.reserve("reserve in a buffer", n)
	e.reserved = len(b)
	return b, err
}

// Commit appends the first n bytes of what Reserve returned. It panics when n is more than was reserved, or negative.
func (e *Endless) Commit(n int) {
	e.opened()
	if uint(n) > uint(e.reserved) {
		panic(fmt.Sprintf("ring: Commit(%d) on %s, of which %d bytes are reserved: Reserve comes before each Commit", n,
			e.name, e.reserved))
	}
	e.commit(n)
}

func (e *Endless) commit(n int) {
	e.reserved = 0
	e.end.Store(e.end.Load() + int64(n))
}

// leastRead is the room that ReadFrom offers its source at the least, in bytes.
const leastRead = 64 << 10

// ReadFrom appends what src gives until it ends, without a copy of its own, and returns how many bytes came.
// It fails as Append does, with the error of src, or with [io.ErrNoProgress]; what came before that is
// appended. Appending panics while src is called.
func (e *Endless) ReadFrom(src io.Reader) (total int64, err error) {
	for empty := 0; empty < mostEmptyReads; empty++ {
		// A capacity that is almost used up is used to its end.
		room := max(1, min(leastRead, e.capacity-e.Len()))
		b, err := e.reserve("append", room)
		if err != nil {
			return total, err
		}
		n, err := e.fill(src, b)
		if n > 0 {
			e.commit(n)
			total += int64(n)
			empty = -1
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
	return total, io.ErrNoProgress
}

// fill lets src read into b, the room at the end. Nobody else may append meanwhile: that would take the room
// away.
func (e *Endless) fill(src io.Reader, b []byte) (int, error) {
	e.filling = true
	defer func() { e.filling = false }()
	n, err := src.Read(b)
	e.opened()
	if n < 0 || n > len(b) {
		panic(fmt.Sprintf("ring: ReadFrom on %s: the source says that it read %d bytes into %d", e.name, n, len(b)))
	}
	return n, err
}

// Close gives the memory and the addresses back. It must run alone. The bytes must not be used afterwards;
// using the buffer panics, except that Start, End and Len go on saying what they said. Closing twice does
// nothing. It returns an error as [vm.Region.Close] does; then the buffer is open, and Close may be called
// again.
func (e *Endless) Close() error {
	if err := e.region.Close(); err != nil {
		return err
	}
	e.lap.Store(nil)
	return nil
}

// checkInvariants panics unless what is kept lies in one lap's committed memory.
func (e *Endless) checkInvariants() {
	if !invariants.Enabled {
		return
	}
	m := e.laps[e.now]
	start, end := e.start.Load(), e.end.Load()
	if start > end || start < end && (int(start-m.first) < m.lo || int(end-m.first) > m.hi) || m.hi > e.lapSize {
		panic(fmt.Sprintf("ring: %s: positions %d to %d are kept, and of the lap from %d on bytes %d to %d are committed",
			e.name, start, end, m.first, m.lo, m.hi))
	}
}
