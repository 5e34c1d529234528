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

// ErrPassed is the error for a position whose byte was released.
var ErrPassed = errors.New("the position has been released")

// EndlessOptions configure an endless buffer. The zero value works.
type EndlessOptions struct {
	// Name is the purpose under which [vm.Snapshot] counts the buffer's bytes. Errors name it too.
	// Default: "ring.Endless".
	Name string
	// Capacity is the largest number of kept bytes. NewEndless reserves more than eight times as many bytes
	// of addresses. Default: 16 GiB, or 1 MiB if the buffer lies on the Go heap ([vm.PagesHeap] or
	// [vm.HeapStandIn]), where addresses take memory.
	Capacity int
	// Step is the number of bytes to commit or decommit at a time, rounded up to whole pages. Default: a huge
	// page, or 1 MiB if the system has no huge pages, but at most an eighth of Capacity.
	Step int
	// Limit is a budget of committed memory, shared with other containers. Default: [vm.DefaultLimit].
	Limit *vm.Limit
	// Pages is the page policy. Default: huge pages if Step is a multiple of their size.
	Pages vm.Pages
}

// Endless is a stream of bytes that keeps its last part. Each byte has a position: its distance from the
// beginning of the stream. [Endless.At] finds kept bytes by their position and returns them as one slice. The
// buffer takes about as much memory as it keeps bytes.
//
// Only one goroutine may call Append, Write, ReadFrom, Reserve and Commit. Only one goroutine, the same one
// or another one, may call Release. Any number of goroutines may call At, ReadAt, Start, End and Len at the
// same time. A reader must stop using its bytes before they are released.
//
// The address range has two laps, each four times as long as the capacity. At the end of a lap the kept bytes
// are copied to the beginning of the other lap, and the stream continues there, so its length has no limit.
// At most a third of all appended bytes is copied, usually almost nothing. Slices into the old lap stay valid
// until their bytes are released.
type Endless struct {
	region   *vm.Region
	name     string
	capacity int
	lapSize  int
	step     int
	lap      atomic.Pointer[lap] // the current lap; nil after Close

	_   cpu.CacheLinePad
	end atomic.Int64 // position after the last byte

	// These fields belong to the appending goroutine.
	committed int64 // position up to which memory is committed
	reserved  int   // number of bytes that Commit may append
	filling   bool  // whether the source of a ReadFrom is writing to the room at the end

	_     cpu.CacheLinePad
	start atomic.Int64 // position of the first kept byte

	// This field belongs to the releasing goroutine.
	trimmed int64 // position up to which memory was given back

	_       cpu.CacheLinePad
	mu      sync.Mutex // guards the next two fields
	laps    [2]lapMemory
	current int // index of the current lap
}

// lap converts positions to addresses.
type lap struct {
	base  unsafe.Pointer // address of the lap's first byte
	first int64          // position of the lap's first byte
}

// lapMemory describes a lap, whose bytes [lo, hi) are committed.
type lapMemory struct {
	first  int64 // position of the lap's first byte
	lo, hi int
}

// lapCapacities is the length of a lap as a multiple of the capacity. Copied bytes fill at most one capacity
// at the beginning of a lap.
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
		panic(fmt.Sprintf("ring: NewEndless with Capacity %d and Step %d: leave them zero for the defaults",
			o.Capacity, o.Step))
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
			Detail: fmt.Sprintf("ask for a capacity, and steps, of at most %d bytes",
				math.MaxInt/8/lapCapacities)}
	}
	if o.Step == 0 {
		o.Step = min(max(defaultStep, vm.HugePageSize()), o.Capacity/8)
	}
	step := max(1, (o.Step+page-1)/page) * page
	lapSize := (o.Capacity*lapCapacities + step - 1) / step * step
	// The extra page at the end is never committed. It makes the address after the last byte part of the
	// region. Otherwise that address could belong to an unused part of Go's heap, and the garbage collector
	// stops the process when it finds such a pointer.
	r, err := vm.Reserve(2*lapSize+page, vm.Options{Name: o.Name, Limit: o.Limit, Pages: o.Pages})
	if err != nil {
		return nil, err
	}
	r.Label(0, r.Size(), vm.Label{What: o.Name, Advice: "use bytes before their position is released"})
	if huge := vm.HugePageSize(); huge > 0 && step%huge == 0 {
		_ = r.Huge(0, r.Size()) // an optimisation: a failure is harmless
	}
	e := &Endless{region: r, name: o.Name, capacity: o.Capacity, lapSize: lapSize, step: step}
	e.lap.Store(&lap{base: r.Base()})
	return e, nil
}

// Start returns the position of the first kept byte.
func (e *Endless) Start() int64 { return e.start.Load() }

// End returns the position of the next appended byte.
func (e *Endless) End() int64 { return e.end.Load() }

// Len returns the number of kept bytes.
func (e *Endless) Len() int {
	start := e.start.Load()
	return int(e.end.Load() - start)
}

// opened returns the current lap. It panics after Close.
func (e *Endless) opened() *lap {
	l := e.lap.Load()
	if l == nil {
		panic("ring: " + e.name + " is used after Close: keep it open as long as its bytes are in use")
	}
	return l
}

// at returns the n kept or reserved bytes that begin at position. The slice is sound because these bytes lie
// in the lap and are committed until they are released or the buffer is closed. They hold no Go pointers.
func (l *lap) at(position int64, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(l.base, int(position-l.first))), n)[:n:n]
}

// At returns the n bytes that begin at position, in place. They are read-only, and valid until they are
// released.
//
// If fewer than n bytes follow, At returns these bytes and [io.EOF]. If the position was released, or is
// negative, the error wraps [ErrPassed]. At panics when n is negative.
func (e *Endless) At(position int64, n int) ([]byte, error) {
	if n < 0 {
		panic(fmt.Sprintf("ring: At(%d, %d) on %s: a number of bytes is zero or more", position, n, e.name))
	}
	// The end is loaded before the lap, so that the lap holds all kept bytes before this end.
	end := e.end.Load()
	l := e.opened()
	if start := e.start.Load(); position < start {
		return nil, fmt.Errorf("ring: position %d of %s: %w; the oldest kept position is %d",
			position, e.name, ErrPassed, start)
	}
	if position > end {
		return nil, io.EOF
	}
	if int64(n) > end-position {
		return l.at(position, int(end-position)), io.EOF
	}
	return l.at(position, n), nil
}

// ReadAt copies the bytes that begin at position, as [io.ReaderAt] does. It fails as At does.
func (e *Endless) ReadAt(p []byte, position int64) (int, error) {
	b, err := e.At(position, len(p))
	return copy(p, b), err
}

// Append copies p to the end and returns the position of the first copied byte.
//
// It returns a [*vm.Error] wrapping [vm.ErrCapacity], [vm.ErrLimit] or another error of [vm.Region.Commit] or
// [vm.Region.Decommit]. After an error nothing is appended, and Append may succeed after [Endless.Release].
func (e *Endless) Append(p []byte) (position int64, err error) {
	b, err := e.reserve("append", len(p))
	if err != nil {
		return 0, err
	}
	position = e.end.Load()
	e.commit(copy(b, p))
	return position, nil
}

// Write is [Endless.Append] for an [io.Writer]: it writes all of p or nothing.
func (e *Endless) Write(p []byte) (int, error) {
	if _, err := e.Append(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Reserve returns room for n bytes at the end. Fill the room, then call Commit. Reserve fails as Append does,
// and panics when n is negative.
func (e *Endless) Reserve(n int) ([]byte, error) {
	if n < 0 {
		panic(fmt.Sprintf("ring: Reserve(%d) on %s: a number of bytes is zero or more", n, e.name))
	}
	b, err := e.reserve("reserve in a buffer", n)
	e.reserved = len(b)
	return b, err
}

// Commit appends the first n reserved bytes. It panics when n is negative or larger than the reservation.
func (e *Endless) Commit(n int) {
	e.opened()
	if uint(n) > uint(e.reserved) {
		panic(fmt.Sprintf("ring: Commit(%d) on %s, which has %d reserved bytes: call Reserve before each "+
			"Commit, for at least as many bytes", n, e.name, e.reserved))
	}
	e.commit(n)
}

func (e *Endless) commit(n int) {
	e.reserved = 0
	e.end.Store(e.end.Load() + int64(n))
}

// maxRead is the largest room in bytes that ReadFrom offers its source.
const maxRead = 64 << 10

// ReadFrom appends the bytes of src until src ends, without an extra copy. It returns the number of appended
// bytes. It fails as Append does, with the error of src, or with [io.ErrNoProgress]. Bytes that were read
// before the failure stay appended. src must not append to the buffer: this panics.
func (e *Endless) ReadFrom(src io.Reader) (total int64, err error) {
	for empty := 0; empty < maxEmptyReads; empty++ {
		room := max(1, min(maxRead, e.capacity-e.Len())) // at least 1: a full buffer makes reserve fail
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

// fill lets src read into b, the room at the end. Appending panics until src returns, because it would write
// to the same room.
func (e *Endless) fill(src io.Reader, b []byte) (int, error) {
	e.filling = true
	defer func() { e.filling = false }()
	n, err := src.Read(b)
	e.opened()
	if n < 0 || n > len(b) {
		panic(fmt.Sprintf("ring: ReadFrom on %s: the source reports %d bytes read into %d bytes of room",
			e.name, n, len(b)))
	}
	return n, err
}

// Close gives the memory and the addresses back. No other method may run at the same time. The bytes must not
// be used afterwards. Start, End and Len keep their last values, and other methods panic. A second Close does
// nothing.
//
// Close returns an error as [vm.Region.Close] does. After an error the buffer is still open, and Close may be
// called again.
func (e *Endless) Close() error {
	if err := e.region.Close(); err != nil {
		return err
	}
	e.lap.Store(nil)
	return nil
}

// checkInvariants panics if a kept byte lies outside the committed memory of the current lap.
func (e *Endless) checkInvariants() {
	if !invariants.Enabled {
		return
	}
	m := e.laps[e.current]
	start, end := e.start.Load(), e.end.Load()
	if start > end || start < end && (int(start-m.first) < m.lo || int(end-m.first) > m.hi) ||
		m.hi > e.lapSize {
		panic(fmt.Sprintf("ring: %s: positions %d to %d are kept, and the lap that begins at position %d "+
			"has committed memory for its bytes %d to %d", e.name, start, end, m.first, m.lo, m.hi))
	}
}
