package ring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/vm"
)

var errCancelled = errors.New("the request was cancelled")

// waitingCall is a call that waits for bytes or for room.
type waitingCall struct {
	name    string
	writes  bool
	context bool
	ready   int // number of unread bytes for a reader, of free bytes for a writer; too few for the call
	call    func(r *Ring, ctx context.Context) (n int, err error)
}

var waitingCalls = []waitingCall{
	{"Peek", false, false, 0, peekThree},
	{"Peek of more", false, false, 2, peekThree},
	{"PeekContext", false, true, 2, func(r *Ring, ctx context.Context) (int, error) {
		b, err := r.PeekContext(ctx, 3)
		return len(b), err
	}},
	{"Read", false, false, 0, func(r *Ring, _ context.Context) (int, error) {
		return r.Read(make([]byte, 3))
	}},
	{"ReadByte", false, false, 0, func(r *Ring, _ context.Context) (int, error) {
		_, err := r.ReadByte()
		return 0, err
	}},
	{"WriteTo", false, false, 2, func(r *Ring, _ context.Context) (int, error) {
		n, err := r.WriteTo(io.Discard)
		return int(n), err
	}},
	{"Reserve", true, false, 0, reserveThree},
	{"Reserve of more", true, false, 2, reserveThree},
	{"ReserveContext", true, true, 2, func(r *Ring, ctx context.Context) (int, error) {
		b, err := r.ReserveContext(ctx, 3)
		return len(b), err
	}},
	{"Write", true, false, 2, func(r *Ring, _ context.Context) (int, error) {
		return r.Write(nextBytes(r, 5))
	}},
	{"WriteByte", true, false, 0, func(r *Ring, _ context.Context) (int, error) { return 0, r.WriteByte(1) }},
	{"ReadFrom", true, false, 2, func(r *Ring, _ context.Context) (int, error) {
		n, err := r.ReadFrom(bytes.NewReader(nextBytes(r, 5)))
		return int(n), err
	}},
}

func peekThree(r *Ring, _ context.Context) (int, error) {
	b, err := r.Peek(3)
	return len(b), err
}

func reserveThree(r *Ring, _ context.Context) (int, error) {
	b, err := r.Reserve(3)
	return len(b), err
}

func nextBytes(r *Ring, n int) []byte {
	b := make([]byte, n)
	numbered(b, r.writer.published.Load())
	return b
}

// interruption is an event that ends waiting.
type interruption struct {
	name   string
	happen func(r *Ring, cancel context.CancelCauseFunc) error
	close  bool  // whether the event closes the ring
	ends   error // error of the reader after the last byte; nil for Close, and if the stream continues
	cause  error // error of the waiting call if the stream continues
}

func nothingFails(f func(r *Ring)) func(*Ring, context.CancelCauseFunc) error {
	return func(r *Ring, _ context.CancelCauseFunc) error { f(r); return nil }
}

var interruptions = []interruption{
	{"Close", func(r *Ring, _ context.CancelCauseFunc) error { return r.Close() }, true, nil, nil},
	{"CloseWrite", nothingFails(func(r *Ring) { r.CloseWrite() }), false, io.EOF, nil},
	{"CloseWithError", nothingFails(func(r *Ring) { r.CloseWithError(errOwn) }), false, errOwn, nil},
	{"a deadline in the past", nothingFails(func(r *Ring) { r.SetDeadline(past) }), false, nil,
		os.ErrDeadlineExceeded},
	{"a deadline that comes while the call waits", nothingFails(func(r *Ring) {
		r.SetDeadline(time.Now().Add(time.Microsecond))
	}), false, nil, os.ErrDeadlineExceeded},
	{"a context", func(_ *Ring, cancel context.CancelCauseFunc) error {
		cancel(errCancelled)
		return nil
	}, false, nil, errCancelled},
}

// TestCloseWhileWaiting interrupts each waiting call with each pair of events. Only a call with a context has
// the end of the context as the first event. The unread bytes begin at the first, the last or the second byte
// of the memory.
func TestCloseWhileWaiting(t *testing.T) {
	for _, pages := range pageKinds {
		for _, w := range waitingCalls {
			for _, offset := range []int{0, -1, 1} {
				for first := range interruptions {
					for second := range interruptions {
						if !w.context && interruptions[first].cause == errCancelled {
							continue
						}
						t.Run(fmt.Sprint(pages, w.name, offset, first, second), func(t *testing.T) {
							interrupt(t, pages, w, offset, first, second)
						})
					}
				}
			}
		}
	}
}

func interrupt(t *testing.T, pages vm.Pages, w waitingCall, offset, first, second int) {
	limit := vm.NewLimit(1 << 20)
	r := newRing(t, Options{Capacity: 1, Pages: pages, Limit: limit})
	r.patience = patience{}
	skip := (r.size + offset) % r.size
	r.Write(make([]byte, skip))
	r.Discard(skip)
	unread, waiter := w.ready, &r.reader
	if w.writes {
		unread, waiter = r.size-w.ready, &r.writer
	}
	r.Write(nextBytes(r, unread))

	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	type answer struct {
		n   int
		err error
	}
	answers := make(chan answer)
	go func() {
		n, err := w.call(r, ctx)
		answers <- answer{n, err}
	}()
	for waiter.target.Load() == 0 {
		runtime.Gosched()
	}
	closed, ends, allowed := false, error(nil), []error(nil)
	for _, i := range []int{first, second} {
		event := interruptions[i]
		errs := make(chan error)
		go func() { errs <- event.happen(r, cancel) }()
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
		closed = closed || event.close
		if ends == nil {
			ends = event.ends
		}
		switch {
		case event.close || event.ends != nil && w.writes:
			allowed = append(allowed, io.ErrClosedPipe)
		case event.ends == io.EOF && w.name == "WriteTo":
			allowed = append(allowed, nil)
		case event.ends == io.EOF && strings.HasPrefix(w.name, "Peek") && w.ready > 0:
			allowed = append(allowed, io.ErrUnexpectedEOF)
		case event.ends != nil:
			allowed = append(allowed, event.ends)
		case event.cause != errCancelled || w.context:
			allowed = append(allowed, event.cause)
		}
	}
	got := <-answers

	want, moved := 0, 0
	switch w.name {
	case "Write", "ReadFrom", "WriteTo":
		want, moved = w.ready, w.ready
	default:
		if ends != nil && (got.err == io.ErrUnexpectedEOF || got.err == errOwn) &&
			strings.HasPrefix(w.name, "Peek") {
			want = w.ready // the remaining bytes come with the error
		}
	}
	if got.n != want || !slices.Contains(allowed, got.err) {
		t.Fatalf("the call returned %d, %v; want %d and one of %v", got.n, got.err, want, allowed)
	}
	if r.writer.target.Load() != 0 || r.reader.target.Load() != 0 {
		t.Error("the reader or the writer is still marked as sleeping")
	}
	if w.writes {
		unread += moved
	} else {
		unread -= moved
	}
	r.SetDeadline(past)
	if closed {
		if limit.Used() != 0 {
			t.Errorf("%d bytes are in use after Close", limit.Used())
		}
		unread, ends = 0, io.ErrClosedPipe
	} else if ends == nil {
		ends = os.ErrDeadlineExceeded
	}
	from := r.reader.published.Load()
	rest, err := io.ReadAll(r)
	if ends == io.EOF {
		ends = nil
	}
	if len(rest) != unread || err != ends {
		t.Fatalf("the reader gets %d bytes, then %v; want %d, %v", len(rest), err, unread, ends)
	}
	verify(t, rest, from)
}

// TestCloseRefusedInACall: if WriteTo cannot give the memory of a closed ring back, a later Close does so.
func TestCloseRefusedInACall(t *testing.T) {
	for _, pages := range pageKinds {
		calls := faulttest.EachCall(t, func() error {
			r, err := New(Options{Capacity: 1, Pages: pages})
			if err != nil {
				return err
			}
			if n, err := r.Write([]byte("abc")); n != 3 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
			n, err := r.WriteTo(writerFunc(func(p []byte) (int, error) {
				if err := r.Close(); err != nil || string(p) != "abc" {
					t.Errorf("%q, %v", p, err)
				}
				return len(p), nil
			}))
			if n != 3 || err != io.ErrClosedPipe {
				t.Errorf("WriteTo: %d, %v", n, err)
			}
			return errors.Join(r.Close(), r.Close())
		})
		if calls < 3 {
			t.Errorf("%v: only %d calls could fail", pages, calls)
		}
	}
}

func TestCloseWithdrawsDeadlines(t *testing.T) {
	r := newRing(t, Options{Capacity: 1})
	r.SetDeadline(time.Now().Add(time.Hour))
	if r.writer.deadline.timer == nil || r.reader.deadline.timer == nil {
		t.Error("there is no timer")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r.writer.deadline.timer != nil || r.reader.deadline.timer != nil {
			t.Error("a closed ring has a timer")
		}
		r.SetDeadline(time.Now().Add(time.Hour))
	}
}
