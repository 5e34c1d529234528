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

// Ring is a buffer of a fixed size between a goroutine that writes, the writer, and a goroutine that reads,
// the reader. The writer and the reader may be the same goroutine. On an open ring, a call that does not wait
// takes no lock. All bytes in the ring form one slice. All free room forms one slice, too.
//
// Reserve, ReserveContext, Commit, Write, WriteByte and ReadFrom belong to the writer. Peek, PeekContext,
// Discard, Read, ReadByte and WriteTo belong to the reader. Another goroutine may take over a side after a
// synchronisation, such as a message on a channel. All other methods may be called from any goroutine at any
// time.
type Ring struct {
	mirror *vm.Mirror
	base   unsafe.Pointer // start of 2 × size bytes
	size   int            // bytes
	copied bool           // written bytes must be copied to the other half
	name   string
	closed atomic.Bool
	ended  atomic.Pointer[ending] // set at the end of the stream
	done   chan struct{}          // closed when the ring is closed
	patience

	mu       sync.Mutex
	released bool // the memory was given back

	_      cpu.CacheLinePad
	writer side
	_      cpu.CacheLinePad
	reader side
	_      cpu.CacheLinePad
}

// side is the state of the writer or the reader.
type side struct {
	// at is the number of bytes that this side has written or discarded since the ring was made. The other
	// side loads it.
	at atomic.Uint64
	_  cpu.CacheLinePad

	// Only this side's goroutine writes these fields. No other goroutine writes to their cache lines.
	position uint64 // the same number as the field at
	offset   int    // position modulo size
	seen     uint64 // the other side's position, as this side last loaded it
	reserved int    // bytes that Commit may hand over; 0 in the reader
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

// Len returns the number of bytes to read. The number only grows until the reader discards bytes.
func (r *Ring) Len() int {
	read := r.reader.at.Load()
	n := int(r.written() - read)
	// A reader that polls Len waits for the writer. The writer may sleep until more room is free than it
	// needs. Wake it if the present room is enough.
	r.writer.nudge(read)
	// If a third goroutine calls Len, both sides may move between the two loads, and n may exceed the size.
	return min(n, r.size)
}

// Free returns the number of free bytes. The number only grows until the writer commits bytes.
func (r *Ring) Free() int {
	written := r.written()
	return r.size - int(min(max(int64(written-r.reader.at.Load()), 0), int64(r.size)))
}

// Refused returns nil if the ring's memory is mapped twice. Otherwise it returns the reason why the ring
// copies each byte once more; see [vm.Mirror.Refused].
func (r *Ring) Refused() error { return r.mirror.Refused() }

// bytes returns the n bytes that begin at offset, which is in [0, size). The slice is sound because n is at
// most size, and 2 × size bytes are committed until the ring is closed. They hold no Go pointers.
func (r *Ring) bytes(offset, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(r.base, offset)), n)
}

// advance moves a side by n bytes and publishes its position. It wakes the other side if the other side waits
// for this position.
func (r *Ring) advance(me, other *side, n int) {
	me.position += uint64(n)
	if me.offset += n; me.offset >= r.size {
		me.offset -= r.size
	}
	me.at.Store(me.position)
	if until := other.until.Load(); until != 0 && me.position >= until {
		other.rouse()
	}
	r.checkInvariants(me)
}

// enter begins a call that uses the ring's memory. It returns false if the ring is closed; then the caller
// must not use the memory. It panics inside another call of the same side, because that other call relies on
// a byte count that it has loaded.
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

// mustNotBeIn panics because a side is in a call already.
func (r *Ring) mustNotBeIn(s *side) {
	if s == &r.writer {
		panic("ring: " + r.name + " is written to in the middle of another Write or ReadFrom: write from " +
			"one goroutine, and let the source of ReadFrom only fill the slice it gets")
	}
	panic("ring: " + r.name + " is read from in the middle of another Read or WriteTo: read from one " +
		"goroutine, and let the destination of WriteTo return the number of bytes it took")
}

// leave ends a call that enter has begun, and the side's reservation. After Close, the last running call
// gives the memory back.
func (r *Ring) leave(s *side) {
	s.reserved = 0
	s.busy.Store(false)
	if r.closed.Load() {
		_ = r.release() // if the system refuses, Close may be called again
	}
}

// Close ends the ring for both sides. It wakes waiting calls, and every method that can fail returns
// [io.ErrClosedPipe] from then on. Slices from Peek and Reserve must not be used any more. Therefore close a
// ring only when both sides are done, or when both sides use only methods that copy. [Ring.CloseWithError]
// stops both sides and keeps the memory.
//
// Close gives the memory back, except while calls of Read, Write, ReadFrom or WriteTo run: then the last of
// them gives it back, and Close does not wait for it. It interrupts neither the source of a ReadFrom nor the
// destination of a WriteTo. Closing twice does nothing. Close returns an error as [vm.Mirror.Close] does;
// then Close may be called again.
func (r *Ring) Close() error {
	if !r.closed.Swap(true) {
		close(r.done)
		r.writer.deadline.end()
		r.reader.deadline.end()
	}
	return r.release()
}

// release gives the memory back unless a call uses it. Each side first stores busy and then loads closed.
// Close first stores closed, and release then loads busy. So release finds the side busy, or the side finds
// the ring closed.
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

// SetDeadline sets both deadlines.
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

// checkInvariants panics if the side's offset does not match its position, or if a reader has more bytes to
// read than the ring can hold.
func (r *Ring) checkInvariants(s *side) {
	if !invariants.Enabled {
		return
	}
	// The other side may move between the two loads, but only forwards.
	read := r.reader.at.Load()
	written := r.written()
	if s == &r.reader && written-read > uint64(r.size) || s.offset != int(s.position%uint64(r.size)) {
		panic(fmt.Sprintf("ring: %s: %d bytes written and %d discarded in a ring of %d bytes; the side has "+
			"offset %d at position %d", r.name, written, read, r.size, s.offset, s.position))
	}
}
