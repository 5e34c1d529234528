package ring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

// errOwn is a writer's own reason for ending the stream. It is also the cause of cancelled contexts.
var errOwn = errors.New("the source went away")

// endings are the ways to end a stream.
var endings = []struct {
	name   string
	end    func(*Ring) error
	endErr error // the reader's error after the last byte; nil if only Close ends the stream
	closes bool  // whether end closes the ring
}{
	{"CloseWrite", func(r *Ring) error { r.CloseWrite(); return nil }, io.EOF, false},
	{"CloseWithError", func(r *Ring) error { r.CloseWithError(errOwn); return nil }, errOwn, false},
	{"CloseWithError(nil), CloseWithError", func(r *Ring) error {
		r.CloseWithError(nil)
		r.CloseWithError(errOwn)
		return nil
	}, io.EOF, false},
	{"CloseWithError, CloseWrite", func(r *Ring) error {
		r.CloseWithError(errOwn)
		r.CloseWrite()
		return nil
	}, errOwn, false},
	{"Close", (*Ring).Close, nil, true},
	{"Close, Close", func(r *Ring) error { return errors.Join(r.Close(), r.Close()) }, nil, true},
	{"CloseWrite, Close", func(r *Ring) error { r.CloseWrite(); return r.Close() }, io.EOF, true},
	{"Close, CloseWithError", func(r *Ring) error {
		err := r.Close()
		r.CloseWithError(errOwn)
		return err
	}, errOwn, true},
}

// closeStep is one call of an exchange.
type closeStep struct{ op, n int }

const (
	closeOps     = 16
	maxCloseStep = 24
)

// closeSteps decodes an exchange of at most maxCloseStep calls.
func closeSteps(data []byte, size int) (steps []closeStep) {
	for s := modeltest.NewStream(data); s.More() && len(steps) < maxCloseStep; {
		op := s.Byte() % closeOps
		steps = append(steps, closeStep{op, s.Below(size + 2)})
	}
	return steps
}

// exchange is a ring and its model: a plain slice of the unread bytes.
type exchange struct {
	t        *testing.T
	what     string // the test case, for messages
	r        *Ring
	unread   []byte
	written  uint64
	reserved int
	endErr   error // the error after the last byte; nil before CloseWrite and CloseWithError
	closed   bool
	trace    []string // results of the calls; must be equal on all kinds of memory
}

func (x *exchange) writesFail() bool { return x.closed || x.endErr != nil }

func (x *exchange) free() int { return x.r.size - len(x.unread) }

func (x *exchange) nextBytes(n int) []byte {
	b := make([]byte, n)
	numbered(b, x.written)
	return b
}

func (x *exchange) addUnread(n int) {
	x.unread = append(x.unread, x.nextBytes(n)...)
	x.written += uint64(n)
}

func (x *exchange) expect(call string, n, got, want int, err, wantErr error) {
	x.t.Helper()
	if got != want || !errors.Is(err, wantErr) || wantErr == nil && err != nil {
		x.t.Fatalf("%s: %s(%d) with %d unread bytes in a ring of %d: got %d, %v; want %d, %v", x.what, call,
			n, len(x.unread), x.r.size, got, err, want, wantErr)
	}
	x.trace = append(x.trace, fmt.Sprint(call, n, got, errors.Is(err, vm.ErrCapacity) || err == wantErr))
}

// wantWrite returns the expected result of a write of n bytes. The ring may take a part of the bytes.
func (x *exchange) wantWrite(n int) (int, error) {
	switch {
	case x.writesFail():
		return 0, io.ErrClosedPipe
	case n > x.free():
		return x.free(), os.ErrDeadlineExceeded
	}
	return n, nil
}

// wantRead returns the expected result of a read of n bytes. wait is the error of a read that would have to
// wait.
func (x *exchange) wantRead(n int, wait error) (int, error) {
	switch {
	case x.closed:
		return 0, io.ErrClosedPipe
	case n > x.r.size:
		return 0, vm.ErrCapacity
	case len(x.unread) >= n:
		return n, nil
	case x.endErr == nil:
		return 0, wait
	case x.endErr == io.EOF && len(x.unread) > 0:
		return len(x.unread), io.ErrUnexpectedEOF
	}
	return len(x.unread), x.endErr
}

// checkBytes compares the bytes of a read with the model. If out is set, checkBytes removes the bytes from
// the model.
func (x *exchange) checkBytes(call string, b []byte, out bool) {
	x.t.Helper()
	if !bytes.Equal(b, x.unread[:len(b)]) {
		x.t.Fatalf("%s: %s returns bytes that differ from those written", x.what, call)
	}
	if out {
		x.unread = x.unread[len(b):]
	}
}

// withoutDeadline calls f while the ring has no deadline. Only the cancelled context ends a wait in f.
func (x *exchange) withoutDeadline(f func(ctx context.Context)) {
	x.r.SetDeadline(time.Time{})
	defer x.r.SetDeadline(past)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errOwn)
	f(ctx)
}

// step makes one call. The source or the destination of the call, if there is one, calls inCallback, which
// may be nil.
func (x *exchange) step(s closeStep, inCallback func()) {
	x.t.Helper()
	r, n := x.r, s.n
	switch s.op {
	case 0, 1:
		want, wantErr := x.wantWrite(n)
		x.reserved = 0
		got, err := r.Write(x.nextBytes(n))
		x.expect("Write", n, got, want, err, wantErr)
		x.addUnread(got)
	case 2:
		want, wantErr := x.wantWrite(1)
		x.reserved = 0
		err := r.WriteByte(numberedByte(x.written))
		x.expect("WriteByte", 1, want, want, err, wantErr)
		x.addUnread(want)
	case 3, 4:
		wait := os.ErrDeadlineExceeded
		reserve := func() ([]byte, error) { return r.Reserve(n) }
		if n%4 == 0 {
			wait = errOwn
			reserve = func() (b []byte, err error) {
				x.withoutDeadline(func(ctx context.Context) { b, err = r.ReserveContext(ctx, n) })
				return b, err
			}
		}
		want, wantErr := n, error(nil)
		switch {
		case x.writesFail():
			want, wantErr = 0, io.ErrClosedPipe
		case n > r.size:
			want, wantErr = 0, vm.ErrCapacity
		case n > x.free():
			want, wantErr = 0, wait
		}
		b, err := reserve()
		x.expect("Reserve", n, len(b), want, err, wantErr)
		numbered(b, x.written)
		x.reserved = len(b)
	case 5, 6:
		if n %= r.size + 1; n > x.reserved {
			text := modeltest.PanicText(func() { r.Commit(n) })
			if !strings.Contains(text, "call Reserve before each Commit") {
				x.t.Fatalf("%s: Commit(%d) with %d reserved bytes panics with %q", x.what, n, x.reserved,
					text)
			}
			return
		}
		r.Commit(n)
		x.reserved = 0
		if x.endErr == nil {
			x.addUnread(n) // also after Close, when no reader can get the bytes
		}
	case 7:
		x.readFrom(n, inCallback)
	case 8, 9:
		want, wantErr := x.wantRead(n, os.ErrDeadlineExceeded)
		b, err := r.Peek(n)
		x.expect("Peek", n, len(b), want, err, wantErr)
		x.checkBytes("Peek", b, false)
	case 10:
		x.withoutDeadline(func(ctx context.Context) {
			want, wantErr := x.wantRead(n, errOwn)
			b, err := r.PeekContext(ctx, n)
			x.expect("PeekContext", n, len(b), want, err, wantErr)
			x.checkBytes("PeekContext", b, false)
		})
	case 11, 12:
		if n > len(x.unread) {
			text := modeltest.PanicText(func() { r.Discard(n) })
			if !strings.Contains(text, "discard at most the bytes that Peek returned") {
				x.t.Fatalf("%s: Discard(%d) with %d unread bytes panics with %q", x.what, n,
					len(x.unread), text)
			}
			return
		}
		r.Discard(n)
		x.unread = x.unread[n:]
	case 13:
		b := make([]byte, n)
		want, wantErr := 0, error(nil)
		if n > 0 || x.closed {
			if want, wantErr = x.wantRead(1, os.ErrDeadlineExceeded); wantErr == nil {
				want = min(n, len(x.unread))
			}
		}
		got, err := r.Read(b)
		x.expect("Read", n, got, want, err, wantErr)
		x.checkBytes("Read", b[:got], true)
	case 14:
		want, wantErr := x.wantRead(1, os.ErrDeadlineExceeded)
		b, err := r.ReadByte()
		x.expect("ReadByte", 1, want, want, err, wantErr)
		x.checkBytes("ReadByte", []byte{b}[:want], true)
	case 15:
		x.writeTo(inCallback)
	}
}

// readFrom calls ReadFrom with a source that gives min(n, free bytes) bytes in one piece, and ends.
func (x *exchange) readFrom(n int, inCallback func()) {
	x.t.Helper()
	want, wantErr := x.wantWrite(1)
	room, called := want > 0, false
	got, err := x.r.ReadFrom(readerFunc(func(p []byte) (int, error) {
		if called {
			return 0, io.EOF
		}
		called = true
		if len(p) != x.free() {
			x.t.Fatalf("%s: a source gets room for %d bytes while %d are free", x.what, len(p), x.free())
		}
		k := min(n, len(p))
		numbered(p[:k], x.written)
		if inCallback != nil {
			inCallback()
		}
		if want, wantErr = k, nil; x.endErr != nil && k > 0 {
			want, wantErr = 0, io.ErrClosedPipe // inCallback has ended the stream before these bytes
			return k, nil
		}
		x.addUnread(k)
		if x.writesFail() {
			wantErr = io.ErrClosedPipe
		} else if x.free() == 0 {
			wantErr = os.ErrDeadlineExceeded
		}
		return k, nil
	}))
	x.reserved = 0
	x.expect("ReadFrom", n, int(got), want, err, wantErr)
	if called != room {
		x.t.Fatalf("%s: ReadFrom called its source: %t; want %t", x.what, called, room)
	}
}

// writeTo moves all bytes to a destination.
func (x *exchange) writeTo(inCallback func()) {
	x.t.Helper()
	_, wantErr := x.wantRead(1, os.ErrDeadlineExceeded)
	want := 0
	var dst bytes.Buffer
	got, err := x.r.WriteTo(writerFunc(func(p []byte) (int, error) {
		if len(p) != len(x.unread) {
			x.t.Fatalf("%s: a destination gets %d of %d bytes", x.what, len(p), len(x.unread))
		}
		dst.Write(p)
		x.checkBytes("WriteTo", p, true)
		if inCallback != nil {
			inCallback()
		}
		want += len(p)
		_, wantErr = x.wantRead(1, os.ErrDeadlineExceeded)
		return len(p), nil
	}))
	if wantErr == io.EOF {
		wantErr = nil
	}
	x.expect("WriteTo", 0, int(got), want, err, wantErr)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// playClose plays an exchange and returns the results of all calls. It ends the stream before the call with
// the given index, or, if inside is set, in the callback of that call. If third is set, a goroutine that
// makes no other call ends the stream. The exchange then goes on to its last call.
func playClose(t *testing.T, pages vm.Pages, steps []closeStep, ending, index int, inside, third bool,
) []string {
	t.Helper()
	e, limit := endings[ending], vm.NewLimit(1<<20)
	r, err := New(Options{Capacity: 1, Pages: pages, Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	x := &exchange{t: t, r: r, written: uint64(r.size) - 5, // 5 bytes before the wrap-around
		what: fmt.Sprintf("%v, %s before step %d (inside: %t, third: %t) of %v", pages, e.name, index,
			inside, third, steps)}
	skip := make([]byte, x.written)
	r.Write(skip)
	r.Discard(len(skip))
	r.SetDeadline(past)
	end := func() {
		done := make(chan error, 1)
		if third {
			go func() { done <- e.end(r) }()
		} else {
			done <- e.end(r)
		}
		if err := <-done; err != nil {
			t.Fatalf("%s: %v", x.what, err)
		}
		x.endErr, x.closed = e.endErr, e.closes
	}
	for i, s := range steps {
		switch {
		case i != index:
			x.step(s, nil)
		case inside:
			x.step(s, end)
		default:
			end()
			x.step(s, nil)
		}
		x.check()
	}
	if !x.closed {
		x.drain()
	}
	if err := r.Close(); err != nil {
		t.Fatalf("%s: %v", x.what, err)
	}
	x.closed = true
	for op := range closeOps {
		x.step(closeStep{op, 0}, nil)
		if op != 5 && op != 6 && op != 11 && op != 12 { // Commit and Discard return no error
			x.step(closeStep{op, r.size + 1}, nil)
		}
	}
	if limit.Used() != 0 {
		t.Fatalf("%s: %d bytes are in use after Close", x.what, limit.Used())
	}
	return x.trace
}

func (x *exchange) check() {
	x.t.Helper()
	if x.r.Len() != len(x.unread) || x.r.Free() != x.free() {
		x.t.Fatalf("%s: Len %d, Free %d; want %d, %d", x.what, x.r.Len(), x.r.Free(), len(x.unread), x.free())
	}
}

// drain reads the remaining bytes and checks that the end is final.
func (x *exchange) drain() {
	x.t.Helper()
	if x.endErr == nil {
		x.r.CloseWrite()
		x.endErr = io.EOF
	}
	rest, err := io.ReadAll(x.r)
	if x.endErr == io.EOF && err != nil || x.endErr != io.EOF && err != x.endErr ||
		!bytes.Equal(rest, x.unread) {
		x.t.Fatalf("%s: the reader gets the last %d bytes, then %v; want %d, %v", x.what, len(rest), err,
			len(x.unread), x.endErr)
	}
	x.unread = nil
	for _, op := range []int{5, 8, 13, 14, 15} { // Commit (5) must no longer hand bytes over
		x.step(closeStep{op, x.reserved}, nil)
		x.step(closeStep{8, 1}, nil)
	}
}

// closeEverywhere plays an exchange many times. It ends the stream in each way before each call, and in the
// middle of calls with callbacks.
func closeEverywhere(t *testing.T, data []byte) {
	t.Helper()
	r := newRing(t, Options{Capacity: 1})
	steps := closeSteps(data, r.size)
	for at := range steps {
		for ending := range endings {
			for _, inside := range []bool{false, true} {
				third := (at+ending)%2 == 0
				if inside && steps[at].op != 7 && steps[at].op != 15 {
					continue
				}
				var first []string
				for i, pages := range pageKinds {
					trace := playClose(t, pages, steps, ending, at, inside, third)
					if i > 0 && strings.Join(trace, ";") != strings.Join(first, ";") {
						t.Fatalf("%v: %s before step %d gives %v, and on the other kind of memory %v", steps,
							endings[ending].name, at, trace, first)
					}
					first = trace
				}
			}
		}
	}
}

// closeSeeds are encoded exchanges: see closeSteps.
var closeSeeds = [][]byte{
	// Reserve and Commit, Peek and Discard, Write and Read, across the wrap-around.
	{3, 10, 5, 10, 8, 10, 11, 10, 0, 9, 13, 9},
	// The ring holds many bytes, then none.
	{3, 255, 255, 0, 255, 255, 2, 0, 3, 1, 8, 255, 255, 15, 0, 8, 1, 13, 4, 14, 0},
	// Reservations that other calls end.
	{3, 10, 3, 20, 5, 7, 3, 8, 7, 5, 5, 3, 3, 4, 0, 0, 5, 4},
	// Calls with sources and destinations.
	{7, 30, 8, 5, 11, 3, 7, 255, 255, 10, 255, 255, 15, 0, 7, 9, 15, 1},
	// A mixture of these calls.
	{0, 3, 8, 5, 10, 5, 12, 2, 13, 7, 3, 12, 8, 1, 6, 6, 9, 6, 14, 0, 13, 255, 255},
}

func TestCloseBetweenCalls(t *testing.T) {
	name := t.Name()
	for _, data := range closeSeeds {
		closeEverywhere(t, data)
	}
	rounds := longtest.Pick(2, 12)
	for range rounds {
		closeEverywhere(t, modeltest.RandomBytes(t, 2*maxCloseStep))
	}
	if open(name) {
		t.Error("the memory of a ring was not given back")
	}
}

func FuzzClose(f *testing.F) {
	for i, data := range closeSeeds {
		f.Add(byte(i), byte(2*i), data)
	}
	f.Fuzz(func(t *testing.T, ending, at byte, data []byte) {
		r := newRing(t, Options{Capacity: 1})
		steps := closeSteps(data, r.size)
		if len(steps) == 0 {
			return
		}
		where := int(at>>1) % len(steps)
		inside := at&1 != 0 && (steps[where].op == 7 || steps[where].op == 15)
		for _, pages := range pageKinds {
			playClose(t, pages, steps, int(ending)%len(endings), where, inside, ending >= 128)
		}
	})
}
