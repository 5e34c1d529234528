package ring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

func TestGapless(t *testing.T) {
	for _, pages := range pageKinds {
		r := newRing(t, Options{Capacity: vm.PageSize(), Pages: pages})
		size := r.Cap()
		for range 5 {
			b, err := r.Reserve(size - 10)
			if err != nil || len(b) != size-10 {
				t.Fatalf("reserved %d, %v", len(b), err)
			}
			numbered(b, r.writer.position)
			r.Commit(len(b))
			p, err := r.Peek(size - 10)
			want := make([]byte, size-10)
			numbered(want, r.reader.position)
			if err != nil || !bytes.Equal(p, want) {
				t.Fatalf("at position %d: %d bytes, %v", r.reader.position, len(p), err)
			}
			r.Discard(len(p))
		}
		if r.reader.offset == 0 || r.reader.position < uint64(4*size) {
			t.Errorf("offset %d, position %d", r.reader.offset, r.reader.position)
		}
	}
}

func TestReader(t *testing.T) {
	for _, pages := range pageKinds {
		r := newRing(t, Options{Capacity: 1000, Pages: pages})
		content := make([]byte, 3*r.Cap()+7)
		numbered(content, 0)
		go func() {
			for i := 0; i < len(content); i += 1000 {
				r.Write(content[i:min(i+1000, len(content))])
			}
			r.CloseWrite()
		}()
		if err := iotest.TestReader(r, content); err != nil {
			t.Error(err)
		}
	}
}

func TestSizes(t *testing.T) {
	unit := vm.PageSize()
	for _, pages := range pageKinds {
		for _, n := range []int{1, unit, unit + 1, 10*unit - 1} {
			if r := newRing(t, Options{Capacity: n, Pages: pages}); r.Cap() < n || r.Cap()%unit != 0 {
				t.Errorf("a ring with Capacity %d has Cap %d", n, r.Cap())
			}
		}
		var e *vm.Error
		_, err := New(Options{Capacity: math.MaxInt, Pages: pages})
		if !errors.Is(err, vm.ErrSize) || !errors.As(err, &e) || e.Purpose != "ring.Ring" {
			t.Errorf("a ring with Capacity math.MaxInt: %v", err)
		}
		if r := newRing(t, Options{Pages: pages}); r.Cap() != max(64<<10, unit) {
			t.Errorf("a ring with the default capacity has Cap %d", r.Cap())
		}
		limit := vm.NewLimit(16 * unit)
		if _, err := New(Options{Capacity: 32 * unit, Pages: pages, Limit: limit,
			Name: "frames"}); !errors.Is(err, vm.ErrLimit) || limit.Used() != 0 {
			t.Errorf("beyond the limit: %v, %d used", err, limit.Used())
		}
	}
}

func TestTooLarge(t *testing.T) {
	r := newRing(t, Options{Capacity: 1, Name: "frames"})
	r.Write([]byte("abc"))
	for _, n := range []int{r.Cap() + 1, math.MaxInt} {
		_, errPeek := r.Peek(n)
		_, errReserve := r.Reserve(n)
		for _, err := range []error{errPeek, errReserve} {
			var e *vm.Error
			if !errors.Is(err, vm.ErrCapacity) || !errors.As(err, &e) || e.Purpose != "frames" ||
				e.Bytes != n {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
	}
	if b, err := r.Peek(3); string(b) != "abc" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}

func TestMisuse(t *testing.T) {
	r := newRing(t, Options{Capacity: 1, Name: "frames"})
	r.Write([]byte("abc"))
	for want, f := range map[string]func(){
		"Peek(-1) on frames":                        func() { r.Peek(-1) },
		"Reserve(-1) on frames":                     func() { r.Reserve(-1) },
		"New with Capacity -1":                      func() { New(Options{Capacity: -1}) },
		"Discard(4) on frames, which holds 3 bytes": func() { r.Discard(4) },
		"Discard(-1) on frames":                     func() { r.Discard(-1) },
		"which has 5 reserved bytes":                func() { r.Commit(6) },
		"Commit(-1) on frames":                      func() { r.Commit(-1) },
		"took 9 of 3 bytes":                         func() { r.WriteTo(liar(9)) },
		"reports -1 bytes read into":                func() { r.ReadFrom(liar(-1)) },
	} {
		_, _ = r.Reserve(5)
		if text := modeltest.PanicText(f); !strings.Contains(text, want) {
			t.Errorf("panics with %q, want %q", text, want)
		}
	}
	_, _ = r.Reserve(5)
	r.Write(nil)
	if text := modeltest.PanicText(func() { r.Commit(5) }); !strings.Contains(text,
		"which has 0 reserved bytes") {
		t.Errorf("Commit after Write panics with %q", text)
	}
	if b, err := r.Peek(3); string(b) != "abc" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}

// liar is the number of bytes that a source or a destination claims to have moved.
type liar int

func (l liar) Read([]byte) (int, error) { return int(l), nil }

func (l liar) Write([]byte) (int, error) { return int(l), nil }

func TestSourcesAndDestinationsThatFail(t *testing.T) {
	r := newRing(t, Options{Capacity: 1})
	failure := errors.New("failed")
	if n, err := r.ReadFrom(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(failure))); n != 3 ||
		err != failure {
		t.Errorf("a source that fails: %d, %v", n, err)
	}
	if n, err := r.ReadFrom(liar(0)); n != 0 || err != io.ErrNoProgress {
		t.Errorf("a source without progress: %d, %v", n, err)
	}
	if n, err := r.WriteTo(liar(1)); n != 1 || err != io.ErrShortWrite {
		t.Errorf("a destination that takes less: %d, %v", n, err)
	}
	pr, pw := io.Pipe()
	pr.CloseWithError(failure)
	if n, err := r.WriteTo(pw); n != 0 || err != failure {
		t.Errorf("a destination that fails: %d, %v", n, err)
	}
	r.CloseWithError(failure)
	r.CloseWrite()
	if b, err := r.Peek(4); string(b) != "bc" || err != failure {
		t.Errorf("with the writer's error: %q, %v", b, err)
	}
	if n, err := r.Write([]byte("d")); n != 0 || err != io.ErrClosedPipe {
		t.Errorf("after the end: %d, %v", n, err)
	}
}

// waits are the calls that can wait.
var waits = map[string]struct {
	full bool // whether the call waits in a full ring, not in an empty ring
	call func(*Ring, context.Context) error
}{
	"Peek": {false, func(r *Ring, _ context.Context) error {
		_, err := r.Peek(1)
		return err
	}},
	"PeekContext": {false, func(r *Ring, ctx context.Context) error {
		_, err := r.PeekContext(ctx, 1)
		return err
	}},
	"Read": {false, func(r *Ring, _ context.Context) error {
		_, err := r.Read(make([]byte, 1))
		return err
	}},
	"WriteTo": {false, func(r *Ring, _ context.Context) error {
		_, err := r.WriteTo(io.Discard)
		return err
	}},
	"Reserve": {true, func(r *Ring, _ context.Context) error {
		_, err := r.Reserve(1)
		return err
	}},
	"ReserveContext": {true, func(r *Ring, ctx context.Context) error {
		_, err := r.ReserveContext(ctx, 1)
		return err
	}},
	"Write": {true, func(r *Ring, _ context.Context) error {
		_, err := r.Write(make([]byte, 1))
		return err
	}},
	"ReadFrom": {true, func(r *Ring, _ context.Context) error {
		_, err := r.ReadFrom(strings.NewReader("a"))
		return err
	}},
}

// eachWait starts each call whose name contains part. When the call sleeps, eachWait calls end. check gets
// the error of the call.
func eachWait(t *testing.T, part string, end func(*Ring, context.CancelFunc),
	check func(name string, full bool, err error)) {
	for name, w := range waits {
		if !strings.Contains(name, part) {
			continue
		}
		for _, pages := range pageKinds {
			r := newRing(t, Options{Capacity: 1, Pages: pages})
			s := &r.reader
			if w.full {
				r.Write(make([]byte, r.Cap()))
				s = &r.writer
			}
			ctx, cancel := context.WithCancel(context.Background())
			result := make(chan error)
			go func() { result <- w.call(r, ctx) }()
			for s.target.Load() == 0 {
				time.Sleep(10 * time.Microsecond)
			}
			end(r, cancel)
			check(name, w.full, <-result)
			cancel()
		}
	}
}

func TestCloseWakes(t *testing.T) {
	eachWait(t, "", func(r *Ring, _ context.CancelFunc) { r.Close() }, func(name string, _ bool, err error) {
		if err != io.ErrClosedPipe {
			t.Errorf("%s: %v", name, err)
		}
	})
}

func TestCloseWriteWakes(t *testing.T) {
	eachWait(t, "", func(r *Ring, _ context.CancelFunc) { r.CloseWrite() },
		func(name string, full bool, err error) {
			want := io.EOF
			if full {
				want = io.ErrClosedPipe
			} else if name == "WriteTo" {
				want = nil
			}
			if err != want {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		})
}

func TestDeadlineWakes(t *testing.T) {
	for _, in := range []time.Duration{-time.Hour, 0, 5 * time.Millisecond} {
		eachWait(t, "", func(r *Ring, _ context.CancelFunc) {
			r.SetDeadline(time.Now().Add(time.Hour))
			r.SetDeadline(time.Time{})
			r.SetDeadline(time.Now().Add(in))
		}, func(name string, _ bool, err error) {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestContextWakes(t *testing.T) {
	eachWait(t, "Context", func(_ *Ring, cancel context.CancelFunc) { cancel() },
		func(name string, _ bool, err error) {
			if err != context.Canceled {
				t.Errorf("%s: %v", name, err)
			}
		})
}

func TestDeadlineIsForWaiting(t *testing.T) {
	r := newRing(t, Options{Capacity: 1})
	r.SetDeadline(past)
	if n, err := r.Write([]byte("abc")); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := r.Peek(4); err != os.ErrDeadlineExceeded {
		t.Errorf("got %v", err)
	}
	if b, err := r.Peek(3); string(b) != "abc" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	r.SetDeadline(time.Now().Add(time.Hour))
	go r.Write([]byte("d"))
	if b, err := r.Peek(4); string(b) != "abcd" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	r.SetReadDeadline(time.Now().Add(time.Millisecond))
	time.Sleep(3 * time.Millisecond)
	if _, err := r.Peek(5); err != os.ErrDeadlineExceeded {
		t.Errorf("got %v", err)
	}
}

func TestAfterClose(t *testing.T) {
	for _, pages := range pageKinds {
		r := newRing(t, Options{Capacity: 1, Pages: pages})
		r.Write([]byte("abc"))
		r.Peek(2)
		_, _ = r.Reserve(2)
		if err := errors.Join(r.Close(), r.Close()); err != nil {
			t.Fatal(err)
		}
		r.Commit(2)
		r.Discard(2)
		r.CloseWrite()
		r.SetDeadline(past)
		_, _ = r.Len(), r.Free()
		for name, w := range waits {
			if err := w.call(r, context.Background()); err != io.ErrClosedPipe {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestCloseLeavesMemoryToCalls(t *testing.T) {
	for _, pages := range pageKinds {
		name := fmt.Sprint(t.Name(), pages)
		r := newRing(t, Options{Capacity: 1, Name: name, Pages: pages})
		source, began := make(chan string), make(chan bool)
		result := make(chan error)
		go func() {
			_, err := r.ReadFrom(readerFunc(func(p []byte) (int, error) {
				began <- true
				return copy(p, <-source), nil
			}))
			result <- err
		}()
		<-began
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if !open(name) {
			t.Errorf("%v: the memory was given back while a source writes to it", pages)
		}
		source <- "abc"
		if err := <-result; err != io.ErrClosedPipe {
			t.Errorf("%v: %v", pages, err)
		}
		if open(name) {
			t.Errorf("%v: the memory was not given back", pages)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func open(purpose string) bool {
	for _, p := range vm.Snapshot(false).Purposes {
		if p.Purpose == purpose {
			return true
		}
	}
	return false
}

func TestDiscardedBytesArePoisoned(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("only with the tag invariants")
	}
	for _, pages := range pageKinds {
		r := newRing(t, Options{Capacity: 1, Pages: pages})
		r.Write([]byte("abc"))
		b, _ := r.Peek(3)
		r.Discard(2)
		if b[0] != invariants.PoisonByte || b[1] != invariants.PoisonByte || b[2] != 'c' {
			t.Errorf("%v: %q", pages, b)
		}
	}
}

func TestRingUnderFaults(t *testing.T) {
	for _, pages := range pageKinds {
		calls := faulttest.EachCall(t, func() error {
			var r *Ring
			met := faulttest.Again(t, "New", func() (err error) {
				r, err = New(Options{Capacity: 1, Pages: pages})
				return err
			}, func() {})
			if _, err := r.Write([]byte("abc")); err != nil {
				t.Error(err)
			}
			if b, err := r.Peek(3); string(b) != "abc" || err != nil {
				t.Errorf("%q, %v", b, err)
			}
			return errors.Join(met, faulttest.Again(t, "Close", r.Close, func() {
				if r.Len() != 3 {
					t.Errorf("%d bytes are in a ring that could not be closed", r.Len())
				}
			}))
		})
		if calls < 3 {
			t.Errorf("%v: only %d calls could fail", pages, calls)
		}
	}
}
