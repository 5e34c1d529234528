package ring

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// Options configure a ring. The zero value works.
type Options struct {
	// Name is the purpose under which [vm.Snapshot] counts the ring's bytes. Errors name it too.
	// Default: "ring.Ring".
	Name string
	// Capacity is the number of bytes that the ring holds, rounded up to whole pages (on Windows to 64 KiB).
	// Default: 64 KiB.
	Capacity int
	// Limit is a budget of committed memory, shared with other containers. Default: [vm.DefaultLimit].
	Limit *vm.Limit
	// Pages is [vm.PagesHeap] for a ring on Go's heap; other policies change nothing. Default: the system's
	// pages.
	Pages vm.Pages
}

// Ring is a buffer of a fixed size between one goroutine that writes and one goroutine that reads. One
// goroutine may do both. All bytes in the ring form one slice. All free room forms one slice, too. Reads and
// writes that need not wait take no mutex.
//
// Reserve, ReserveContext, Commit, Write, WriteByte and ReadFrom belong to the writer. Peek, PeekContext,
// Discard, Read, ReadByte and WriteTo belong to the reader. Another goroutine may become the writer or the
// reader after a synchronisation, such as a message on a channel. All other methods may be called from any
// goroutine at any time.
type Ring struct {
	mirror *vm.Mirror
	base   unsafe.Pointer // address of the first of 2 × size bytes
	size   int            // bytes
	copied bool           // whether writes must copy their bytes to the other half of the 2 × size bytes
	name   string
	closed atomic.Bool
	ended  atomic.Pointer[ending] // the end of the stream; nil before
	done   chan struct{}          // closed by Close
	patience

	mu       sync.Mutex
	released bool // whether the memory was given back

	_      cpu.CacheLinePad
	writer side
	_      cpu.CacheLinePad
	reader side
	_      cpu.CacheLinePad
}

// side is the state of the writer or the reader.
type side struct {
	published atomic.Uint64 // copy of position for the other side
	_         cpu.CacheLinePad

	// Only this side's goroutine writes to the cache lines of these fields.
	position uint64 // number of bytes that this side has written or discarded since the ring was made
	offset   int    // position modulo size
	seen     uint64 // position of the other side when this side last loaded it
	reserved int    // number of bytes that Commit may hand over; 0 in the reader
	busy     atomic.Bool
	_        cpu.CacheLinePad

	parking
}

// defaultRing is the default capacity in bytes. A pipe on Linux has the same capacity.
const defaultRing = 64 << 10

// New makes an empty ring. A page of the ring takes memory when it is first written to.
//
// New returns an error as [vm.ReserveMirror] does, and panics when Options.Capacity is negative.
func New(o Options) (*Ring, error) {
	if o.Capacity < 0 {
		panic(fmt.Sprintf("ring: New with Capacity %d: leave it zero for the default", o.Capacity))
	}
	if o.Capacity == 0 {
		o.Capacity = defaultRing
	}
	if o.Name == "" {
		o.Name = "ring.Ring"
	}
	m, err := vm.ReserveMirror(o.Capacity, vm.Options{Name: o.Name, Limit: o.Limit, Pages: o.Pages})
	if err != nil {
		return nil, err
	}
	r := &Ring{mirror: m, base: m.Base(), size: m.Size(), copied: m.Refused() != nil, name: o.Name,
		done:     make(chan struct{}),
		patience: defaultPatience}
	r.writer.parking.init()
	r.reader.parking.init()
	return r, nil
}

// Cap returns the number of bytes that the ring can hold.
func (r *Ring) Cap() int { return r.size }

// Len returns the number of bytes to read. Only the reader's calls can reduce this number.
func (r *Ring) Len() int {
	read := r.reader.published.Load()
	n := int(r.written() - read)
	// A writer may sleep until more room is free than it needs. If the reader polls Len instead of reading,
	// that room never becomes free. So Len wakes the writer if the present room is enough for the writer.
	r.writer.nudge(read)
	// In a third goroutine n may exceed the size, because both sides may move between the two loads.
	return min(n, r.size)
}

// Free returns the number of free bytes. Only the writer's calls can reduce this number.
func (r *Ring) Free() int {
	written := r.written()
	return r.size - int(min(max(int64(written-r.reader.published.Load()), 0), int64(r.size)))
}

// Refused returns nil if the ring's memory is mapped twice. Otherwise it returns the reason why the ring must
// copy each byte once more; see [vm.Mirror.Refused].
func (r *Ring) Refused() error { return r.mirror.Refused() }

// bytes returns the n bytes that begin at offset, which is in [0, size). The slice is sound because n is at
// most size, and 2 × size bytes are committed until the ring is closed. The bytes hold no Go pointers.
func (r *Ring) bytes(offset, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(r.base, offset)), n)
}

// advance moves a side by n bytes and publishes its position. It wakes the other side if the position has
// reached the other side's target.
func (r *Ring) advance(me, other *side, n int) {
	me.position += uint64(n)
	if me.offset += n; me.offset >= r.size {
		me.offset -= r.size
	}
	me.published.Store(me.position)
	if target := other.target.Load(); target != 0 && me.position >= target {
		other.rouse()
	}
	r.checkInvariants(me)
}

// enter begins a call that uses the ring's memory. It returns false if the ring is closed: then the caller
// must not use the memory. It panics if another call of the side is running, because that call relies on the
// bytes or the room that it has found.
func (r *Ring) enter(s *side) bool {
	if s.busy.Swap(true) {
		if r.closed.Load() {
			return false
		}
		r.mustNotBeIn(s)
	}
	if r.closed.Load() {
		r.leave(s)
		return false
	}
	return true
}

func (r *Ring) mustNotBeIn(s *side) {
	if s == &r.writer {
		panic("ring: " + r.name + " is written to in the middle of another Write or ReadFrom: write from " +
			"one goroutine, and let the source of ReadFrom only fill the slice it gets")
	}
	panic("ring: " + r.name + " is read from in the middle of another Read or WriteTo: read from one " +
		"goroutine, and let the destination of WriteTo return the number of bytes it took")
}

// leave ends a call that enter has begun. It also ends the side's reservation. After Close, the last running
// call gives the memory back.
func (r *Ring) leave(s *side) {
	s.reserved = 0
	s.busy.Store(false)
	if r.closed.Load() {
		_ = r.release() // after an error the program can call Close again
	}
}

// Close ends the ring for both sides. It wakes waiting calls. They and all later reads and writes return
// [io.ErrClosedPipe].
//
// Slices from Peek and Reserve must not be used after Close. Therefore call Close when both sides are done,
// or when both sides use only methods that copy. [Ring.CloseWithError] stops both sides and keeps the memory.
//
// Close gives the memory back. If calls of Read, Write, ReadFrom or WriteTo are running, the last of them
// gives the memory back, and Close does not wait for it. Close does not interrupt the source of a ReadFrom or
// the destination of a WriteTo. A second Close does nothing. Close returns an error as [vm.Mirror.Close]
// does. After an error, Close may be called again.
func (r *Ring) Close() error {
	if !r.closed.Swap(true) {
		close(r.done)
		r.writer.deadline.end()
		r.reader.deadline.end()
	}
	return r.release()
}

// release gives the memory back if no call uses it. A side stores busy and then loads closed. Close stores
// closed, and then release loads busy. So release finds the side busy, or the side finds the ring closed.
func (r *Ring) release() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.released || r.writer.busy.Load() || r.reader.busy.Load() {
		return nil
	}
	err := r.mirror.Close()
	r.released = err == nil
	return err
}

// SetDeadline sets the deadlines of the reader and the writer.
func (r *Ring) SetDeadline(t time.Time) {
	r.SetReadDeadline(t)
	r.SetWriteDeadline(t)
}

// tooLarge returns the error for a piece that the ring can never hold.
func (r *Ring) tooLarge(op string, n int) error {
	return &vm.Error{Op: op, Purpose: r.name, Bytes: n, Err: vm.ErrCapacity,
		Detail: fmt.Sprintf("the ring holds %s: raise Options.Capacity, or take the piece in parts",
			vm.Bytes(r.size))}
}

// checkInvariants panics if the side's offset does not match its position, or if s is the reader and finds
// more bytes than the ring can hold.
func (r *Ring) checkInvariants(s *side) {
	if !invariants.Enabled {
		return
	}
	// The other side may move between the two loads, but only forwards.
	read := r.reader.published.Load()
	written := r.written()
	if s == &r.reader && written-read > uint64(r.size) || s.offset != int(s.position%uint64(r.size)) {
		panic(fmt.Sprintf("ring: %s: %d bytes written and %d discarded in a ring of %d bytes; the side has "+
			"offset %d at position %d", r.name, written, read, r.size, s.offset, s.position))
	}
}
