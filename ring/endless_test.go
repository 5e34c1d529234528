package ring

import (
	"bytes"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

func newEndless(t testing.TB, o EndlessOptions) *Endless {
	t.Helper()
	e, err := NewEndless(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// held is a slice that At returned. Its bytes must not change.
type held struct {
	position int64
	bytes    []byte
}

// playEndless makes the calls encoded in data on a buffer and on its model, a plain slice of the kept bytes.
func playEndless(t *testing.T, pages vm.Pages, data []byte) {
	s := modeltest.NewStream(data)
	capacity := 1 + s.Below(3*vm.PageSize())
	limit := vm.NewLimit(8*vm.PageSize() + 2*capacity) // at a change of lap both laps hold the kept bytes
	e, err := NewEndless(EndlessOptions{Capacity: capacity, Step: s.Below(2 * vm.PageSize()), Limit: limit,
		Pages: pages})
	if err != nil {
		t.Fatal(err)
	}
	var model []byte
	var start int64
	var slices []held
	end := func() int64 { return start + int64(len(model)) }
	made := func(n int) []byte {
		b := make([]byte, n)
		numbered(b, uint64(end()))
		return b
	}
	// succeeded checks the error of a call that needs room for n bytes.
	succeeded := func(n int, err error) bool {
		t.Helper()
		if errors.Is(err, vm.ErrLimit) && limit.Used() > 4*vm.PageSize() {
			return false
		}
		if (err == nil) != (n <= capacity-len(model)) || err != nil && !errors.Is(err, vm.ErrCapacity) {
			t.Fatalf("append of %d bytes with %d kept, capacity %d: %v", n, len(model), capacity, err)
		}
		return err == nil
	}
	for s.More() {
		n := s.Below(capacity + 2)
		switch op := s.Byte() % 10; op {
		case 0, 1, 2:
			position, err := e.Append(made(n))
			if succeeded(n, err) {
				if position != end() {
					t.Fatalf("appended at %d, want %d", position, end())
				}
				model = append(model, made(n)...)
			}
		case 3:
			b, err := e.Reserve(n)
			if succeeded(n, err) {
				numbered(b, uint64(end()))
				take := s.Below(n + 1)
				e.Commit(take)
				model = append(model, made(take)...)
			}
		case 4:
			got, err := e.ReadFrom(iotest.HalfReader(bytes.NewReader(made(n))))
			model = append(model, made(int(got))...)
			if err != nil && !errors.Is(err, vm.ErrCapacity) && !errors.Is(err, vm.ErrLimit) || err == nil &&
				int(got) != n {
				t.Fatalf("ReadFrom of %d bytes: got %d, %v", n, got, err)
			}
		case 5, 6, 7:
			position := start + int64(s.Below(capacity+2)) - int64(s.Below(8))
			b, err := e.At(position, n)
			copied := make([]byte, n)
			read, errRead := e.ReadAt(copied, position)
			var want []byte
			var wantErr error
			switch {
			case position < start:
				wantErr = ErrPassed
			case position > end():
				wantErr = io.EOF
			default:
				from := int(position - start)
				to := min(from+n, len(model))
				if want = model[from:to]; to < from+n {
					wantErr = io.EOF
				}
			}
			if !bytes.Equal(b, want) || cap(b) != len(b) || !errors.Is(err, wantErr) ||
				!bytes.Equal(copied[:read], want) || !errors.Is(errRead, wantErr) {
				t.Fatalf("At(%d, %d) with positions %d to %d kept: got %d bytes, %v; want %d, %v", position,
					n, start, end(), len(b), err, len(want), wantErr)
			}
			if len(b) > 0 {
				slices = append(slices, held{position, b})
			}
		case 8, 9:
			n = min(n, len(model))
			if err = e.Release(start + int64(n)); err != nil {
				t.Fatal(err)
			}
			model, start = model[n:], start+int64(n)
		}
		if e.Start() != start || e.End() != end() || e.Len() != len(model) {
			t.Fatalf("positions %d to %d are kept, want %d to %d", e.Start(), e.End(), start, end())
		}
		kept := slices[:0]
		for _, h := range slices {
			if h.position >= start {
				verify(t, h.bytes, uint64(h.position))
				kept = append(kept, h)
			}
		}
		slices = kept[max(0, len(kept)-20):]
	}
	if err := e.Close(); err != nil || limit.Used() != 0 {
		t.Fatalf("Close: %v, %d used", err, limit.Used())
	}
}

func TestEndlessAgainstModel(t *testing.T) {
	rounds := longtest.Pick(10, 40)
	for range rounds {
		data := modeltest.RandomBytes(t, 2000)
		for _, pages := range pageKinds {
			playEndless(t, pages, data)
		}
	}
}

func TestEndlessLaps(t *testing.T) {
	page, want := vm.PageSize(), 30
	if !longtest.Enabled() {
		want = 10
	}
	for _, pages := range pageKinds {
		for _, keep := range []int{0, 1, page, 3 * page} {
			e := newEndless(t, EndlessOptions{Capacity: 4 * page, Step: page, Pages: pages})
			b := make([]byte, page/6+17) // divides neither a page nor a lap
			laps := make(map[*lap]bool)
			var old held
			for e.End() < int64(want*e.lapSize) {
				numbered(b, uint64(e.End()))
				if _, err := e.Append(b); err != nil {
					t.Fatal(err)
				}
				if e.Len() > keep {
					if old.position >= e.Start() {
						verify(t, old.bytes, uint64(old.position))
					}
					if err := e.Release(e.End() - int64(keep)); err != nil {
						t.Fatal(err)
					}
					if keep > 0 {
						p, err := e.At(e.Start(), keep)
						if err != nil || len(p) != keep {
							t.Fatal(err)
						}
						verify(t, p, uint64(e.Start()))
						if old.position < e.Start() {
							old = held{e.End() - 1, p[keep-1:]}
						}
					}
				}
				if previous := e.laps[1-e.current]; previous.hi > previous.lo &&
					e.Start() >= previous.first+int64(previous.hi+e.step) {
					t.Fatalf("%d bytes of the previous lap are still committed at position %d",
						previous.hi-previous.lo, e.Start())
				}
				laps[e.lap.Load()] = true
				if used := e.region.Committed(); used > 2*keep+4*page+4*len(b) {
					t.Fatalf("%d bytes are committed for %d kept bytes", used, keep)
				}
			}
			if len(laps) < want-1 {
				t.Errorf("the stream has only %d laps", len(laps))
			}
		}
	}
}

func TestEndlessMisuse(t *testing.T) {
	e := newEndless(t, EndlessOptions{Name: "log", Capacity: 100})
	if _, err := e.Append([]byte("abcdef")); err != nil {
		t.Fatal(err)
	}
	e.Release(2)
	for want, f := range map[string]func(){
		"At(0, -1) on log":                        func() { e.At(0, -1) },
		"Reserve(-1) on log":                      func() { e.Reserve(-1) },
		"Commit(1) on log, which has 0 reserved":  func() { e.Commit(1) },
		"Release(7) on log, which ends at 6":      func() { e.Release(7) },
		"NewEndless with Capacity -1 and Step 0":  func() { NewEndless(EndlessOptions{Capacity: -1}) },
		"NewEndless with Capacity 0 and Step -10": func() { NewEndless(EndlessOptions{Step: -10}) },
		"the source reports -1 bytes read":        func() { e.ReadFrom(liar(-1)) },
	} {
		if text := modeltest.PanicText(f); !strings.Contains(text, want) {
			t.Errorf("panics with %q, want %q", text, want)
		}
	}
	for _, position := range []int64{0, 1, -1, math.MinInt64} {
		if _, err := e.At(position, 1); !errors.Is(err, ErrPassed) ||
			!strings.Contains(err.Error(), "oldest kept position is 2") {
			t.Errorf("At(%d): %v", position, err)
		}
		if err := e.Release(position); err != nil || e.Start() != 2 {
			t.Errorf("Release(%d): %v, start %d", position, err, e.Start())
		}
	}
	for _, position := range []int64{7, math.MaxInt64} {
		if b, err := e.At(position, math.MaxInt); len(b) != 0 || err != io.EOF {
			t.Errorf("At(%d): %q, %v", position, b, err)
		}
	}
	if b, err := e.At(3, math.MaxInt); string(b) != "def" || err != io.EOF {
		t.Errorf("%q, %v", b, err)
	}
	if n, err := e.ReadFrom(liar(0)); n != 0 || err != io.ErrNoProgress {
		t.Errorf("%d, %v", n, err)
	}
	var failure *vm.Error
	if n, err := e.Write(make([]byte, 97)); n != 0 || !errors.As(err, &failure) || failure.Purpose != "log" ||
		failure.Bytes != 97 {
		t.Errorf("%d, %v", n, err)
	}
	for _, o := range []EndlessOptions{{Capacity: math.MaxInt}, {Step: math.MaxInt}} {
		if _, err := NewEndless(o); !errors.Is(err, vm.ErrSize) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"At": func() { e.At(3, 1) }, "Append": func() { e.Append(nil) }, "Release": func() { e.Release(3) },
		"Commit": func() { e.Commit(0) },
		"ReadAt": func() { e.ReadAt(nil, 0) }, "Reserve": func() { e.Reserve(0) },
	} {
		if text := modeltest.PanicText(f); !strings.Contains(text, "log is used after Close") {
			t.Errorf("%s after Close panics with %q", name, text)
		}
	}
}

func TestEndlessLimit(t *testing.T) {
	page := vm.PageSize()
	for _, pages := range pageKinds {
		limit := vm.NewLimit(10 * page)
		e := newEndless(t, EndlessOptions{Capacity: 100 * page, Step: 4 * page, Limit: limit, Pages: pages})
		b := make([]byte, 100)
		appended := 0
		for {
			numbered(b, uint64(e.End()))
			if _, err := e.Append(b); err != nil {
				if !errors.Is(err, vm.ErrLimit) {
					t.Fatal(err)
				}
				break
			}
			appended += len(b)
		}
		if appended < 10*page-len(b) || e.Len() != appended || limit.Used() != 10*page {
			t.Errorf("appended %d bytes under a limit of %d; %d bytes are committed", appended, 10*page,
				limit.Used())
		}
		p, err := e.At(0, appended)
		if err != nil {
			t.Fatal(err)
		}
		verify(t, p, 0)
		if err := e.Release(int64(4 * page)); err != nil || limit.Used() != 6*page {
			t.Errorf("Release: %v, %d used", err, limit.Used())
		}
		if _, err := e.Append(make([]byte, page)); err != nil {
			t.Error(err)
		}
	}
}

// TestEndlessStress: one goroutine appends, two read everything, and a fourth releases the bytes that both
// have read.
func TestEndlessStress(t *testing.T) {
	page := vm.PageSize()
	total := int64(16 << 20)
	if !longtest.Enabled() || vm.HeapStandIn() {
		total = 2 << 20
	}
	e := newEndless(t, EndlessOptions{Capacity: 16 * page, Step: page})
	var read [2]atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		b := make([]byte, 3*page)
		for e.End() < total {
			n := int(min(total-e.End(), 1+e.End()%int64(len(b))))
			numbered(b[:n], uint64(e.End()))
			if _, err := e.Append(b[:n]); err != nil {
				if !errors.Is(err, vm.ErrCapacity) {
					t.Error(err)
					return
				}
				runtime.Gosched()
			}
		}
	})
	for i := range read {
		wg.Go(func() {
			for at := int64(0); at < total; {
				b, err := e.At(at, 1000*(i+1))
				if err != nil && err != io.EOF {
					t.Error(err)
					return
				}
				verify(t, b, uint64(at))
				at += int64(len(b))
				read[i].Store(at)
				if len(b) == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	for at := int64(0); at < total; {
		if at = min(read[0].Load(), read[1].Load()); e.Release(at) != nil || t.Failed() {
			break
		}
		runtime.Gosched()
	}
	wg.Wait()
	if e.Start() != total || e.Len() != 0 {
		t.Errorf("positions %d to %d are kept", e.Start(), e.End())
	}
}

func TestEndlessUnderFaults(t *testing.T) {
	page := vm.PageSize()
	for _, pages := range pageKinds {
		calls := faulttest.EachCall(t, func() (lastErr error) {
			e, err := NewEndless(EndlessOptions{Capacity: 2 * page, Step: page, Pages: pages})
			if err != nil {
				return err
			}
			b := make([]byte, page/2)
			for e.End() < int64(3*e.lapSize) {
				numbered(b, uint64(e.End()))
				end := e.End()
				if _, err := e.Append(b); err != nil {
					if lastErr = err; e.End() != end {
						t.Errorf("a failed append moved the end from %d to %d", end, e.End())
					}
				}
				p, err := e.At(e.Start(), e.Len())
				if err != nil {
					t.Error(err)
				}
				verify(t, p, uint64(e.Start()))
				start := e.Start()
				if err := e.Release(max(start, e.End()-int64(page))); err != nil {
					lastErr = err
				}
				if e.Start() != max(start, e.End()-int64(page)) {
					t.Errorf("Release moved the start to %d; the end is %d", e.Start(), e.End())
				}
			}
			if err := e.Close(); err != nil {
				lastErr = err
				if again := e.Close(); again != nil {
					t.Errorf("the second Close: %v", again)
				}
			}
			return lastErr
		})
		if calls < 40 {
			t.Errorf("%v: only %d calls could fail", pages, calls)
		}
	}
}

func FuzzEndless(f *testing.F) {
	f.Add([]byte{200, 50, 9, 100, 0, 200, 9, 1, 50, 8, 40, 0, 5, 30, 10, 5, 200, 40, 9, 200, 40, 3, 100})
	f.Add([]byte{1, 0, 1, 0, 0, 6, 1, 8, 1, 2, 1, 8, 1, 4, 1, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			playEndless(t, pages, data)
		}
	})
}
