package ring

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/fault"
	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

// closing is a way to close a buffer.
type closing int

const (
	closedBetween closing = iota // between two calls
	closedTwice
	closedRefused // the first Close fails
	closedInside  // by the source of a ReadFrom
	closings      // number of ways
)

// modelled is an endless buffer and its model, a plain slice.
type modelled struct {
	t        *testing.T
	what     string // test case, for messages
	e        *Endless
	capacity int
	model    []byte
	start    int64
	reserved int
}

func (k *modelled) end() int64 { return k.start + int64(len(k.model)) }

func (k *modelled) nextBytes(n int) []byte {
	b := make([]byte, n)
	numbered(b, uint64(k.end()))
	return b
}

func (k *modelled) step(s closeStep) {
	k.t.Helper()
	e, n, err := k.e, s.n, error(nil)
	fits := n <= k.capacity-len(k.model)
	switch s.op % 8 {
	case 0, 1:
		var position int64
		if position, err = e.Append(k.nextBytes(n)); err == nil && position != k.end() {
			k.t.Fatalf("%s: appended at %d, want %d", k.what, position, k.end())
		}
		k.appended(n, fits, err)
	case 2:
		var b []byte
		b, err = e.Reserve(n)
		if (err == nil) != fits || len(b) != n && fits {
			k.t.Fatalf("%s: Reserve(%d) with %d bytes kept: got %d, %v", k.what, n, len(k.model), len(b), err)
		}
		k.reserved = len(b)
		numbered(b, uint64(k.end()))
	case 3:
		n = min(n, k.reserved)
		e.Commit(n)
		k.model, k.reserved = append(k.model, k.nextBytes(n)...), 0
	case 4, 5:
		if err = e.Release(k.start + int64(min(n, len(k.model)))); err == nil {
			n = min(n, len(k.model))
			k.model, k.start = k.model[n:], k.start+int64(n)
		}
	case 6:
		b := make([]byte, n)
		got, err := e.ReadAt(b, k.start)
		if want := min(n, len(k.model)); got != want || !bytes.Equal(b[:got], k.model[:got]) ||
			(err == io.EOF) != (want < n) {
			k.t.Fatalf("%s: ReadAt of %d bytes with %d kept: got %d, %v", k.what, n, len(k.model), got, err)
		}
	case 7:
		n = min(n, k.capacity-len(k.model), maxRead)
		if n == 0 {
			return
		}
		var got int64
		got, err = e.ReadFrom(io.LimitReader(bytes.NewReader(k.nextBytes(n)), int64(n)))
		k.appended(int(got), true, nil)
		if int(got) != n || err != nil && (!errors.Is(err, vm.ErrCapacity) || len(k.model) < k.capacity) {
			k.t.Fatalf("%s: ReadFrom of %d bytes: got %d, %v", k.what, n, got, err)
		}
	}
	k.check()
}

func (k *modelled) appended(n int, fits bool, err error) {
	k.t.Helper()
	if (err == nil) != fits || err != nil && !errors.Is(err, vm.ErrCapacity) {
		k.t.Fatalf("%s: append of %d bytes with %d kept, capacity %d: %v", k.what, n, len(k.model),
			k.capacity, err)
	}
	if err == nil {
		k.model = append(k.model, k.nextBytes(n)...)
	}
	k.reserved = 0
}

func (k *modelled) check() {
	k.t.Helper()
	b, err := k.e.At(k.start, len(k.model))
	if err != nil || !bytes.Equal(b, k.model) || k.e.Start() != k.start || k.e.End() != k.end() ||
		k.e.Len() != len(k.model) {
		k.t.Fatalf("%s: positions %d to %d are kept, %v; want %d to %d", k.what, k.e.Start(), k.e.End(), err,
			k.start, k.end())
	}
}

func (k *modelled) checkClosed(limit *vm.Limit) {
	k.t.Helper()
	e := k.e
	if used := limit.Used(); used != 0 || e.region.Committed() != 0 {
		k.t.Fatalf("%s: %d bytes are in use after Close", k.what, used)
	}
	for name, f := range map[string]func(){
		"At": func() { e.At(k.start, 1) }, "ReadAt": func() { e.ReadAt(make([]byte, 1), k.start) },
		"Append": func() { e.Append([]byte("x")) }, "Append of nothing": func() { e.Append(nil) },
		"Write": func() { e.Write([]byte("x")) }, "Reserve": func() { e.Reserve(1) },
		"Commit":   func() { e.Commit(k.reserved) },
		"ReadFrom": func() { e.ReadFrom(strings.NewReader("x")) }, "Release": func() { e.Release(e.End()) },
	} {
		if text := modeltest.PanicText(f); !strings.Contains(text, "log is used after Close: keep it open") {
			k.t.Fatalf("%s: %s after Close panics with %q", k.what, name, text)
		}
	}
	if e.Start() != k.start || e.End() != k.end() || e.Len() != len(k.model) {
		k.t.Fatalf("%s: after Close, positions %d to %d are kept, want %d to %d", k.what, e.Start(), e.End(),
			k.start, k.end())
	}
	if err := e.Close(); err != nil || limit.Used() != 0 {
		k.t.Fatalf("%s: another Close: %v, %d bytes are in use", k.what, err, limit.Used())
	}
}

// playEndlessClose calls Close before the call with the given index. If this Close fails, playEndlessClose
// closes the buffer after the last call. It reports whether the buffer was closed in its second lap: see
// [Endless].
func playEndlessClose(t *testing.T, pages vm.Pages, data []byte, capacity, index int, how closing) bool {
	t.Helper()
	refusing := false
	stop := fault.Inject(func(op string) error {
		if refusing {
			return fmt.Errorf("%s: %w", op, faulttest.Err)
		}
		return nil
	})
	defer stop()
	limit := vm.NewLimit(1 << 20)
	e := newEndless(t, EndlessOptions{Name: "log", Capacity: capacity, Step: 1, Pages: pages, Limit: limit})
	for e.End() < int64(e.lapSize-2*capacity) { // up to nearly the end of the first lap
		if _, err := e.Append(make([]byte, capacity)); err != nil {
			t.Fatal(err)
		}
		if err := e.Release(e.End()); err != nil {
			t.Fatal(err)
		}
	}
	k := &modelled{t: t, e: e, capacity: capacity, start: e.End(),
		what: fmt.Sprintf("%v, closed before call %d (closing %d) of %v, capacity %d", pages, index, how,
			data, capacity)}
	for i, s := range closeSteps(data, capacity) {
		if i != index {
			k.step(s)
			continue
		}
		switch how {
		case closedRefused:
			refusing = true
			err := e.Close()
			refusing = false
			if err == nil { // Close cannot fail on the heap stand-in
				k.checkClosed(limit)
				return e.current != 0
			}
			if !errors.Is(err, faulttest.Err) || !errors.As(err, new(*vm.Error)) {
				t.Fatalf("%s: Close: %v", k.what, err)
			}
			k.check()
			k.step(s)
			continue
		case closedInside:
			text := modeltest.PanicText(func() {
				_, _ = e.ReadFrom(readerFunc(func(p []byte) (int, error) {
					return len(p), errors.Join(e.Close(), io.EOF)
				}))
			})
			if room := capacity - len(k.model); room > 0 &&
				!strings.Contains(text, "log is used after Close") {
				t.Fatalf("%s: ReadFrom panics with %q", k.what, text)
			} else if room == 0 && text != "" {
				t.Fatalf("%s: ReadFrom without room panics with %q", k.what, text)
			}
			k.reserved = 0
		}
		if err := e.Close(); err != nil {
			t.Fatalf("%s: %v", k.what, err)
		}
		if how == closedTwice {
			if err := e.Close(); err != nil {
				t.Fatalf("%s: %v", k.what, err)
			}
		}
		k.checkClosed(limit)
		return e.current != 0
	}
	if err := e.Close(); err != nil {
		t.Fatalf("%s: %v", k.what, err)
	}
	k.checkClosed(limit)
	return e.current != 0
}

func TestEndlessCloseBetweenCalls(t *testing.T) {
	rounds := longtest.Pick(2, 6)
	page, laps := vm.PageSize(), [2]int{}
	// Two rounds nearly always close buffers in both laps; otherwise more rounds follow.
	for round := 0; round < rounds || round < 50 && (laps[0] == 0 || laps[1] == 0); round++ {
		data := modeltest.RandomBytes(t, 2*maxCloseStep)
		for _, capacity := range []int{10, page} {
			for at := range closeSteps(data, capacity) {
				for how := range closings {
					for _, pages := range pageKinds {
						if playEndlessClose(t, pages, data, capacity, at, how) {
							laps[1]++
						} else {
							laps[0]++
						}
					}
				}
			}
		}
	}
	if laps[0] == 0 || laps[1] == 0 {
		t.Errorf("%d buffers were closed in their first lap, %d in their second", laps[0], laps[1])
	}
}
