package ring

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

const (
	saysWriter = "is written to in the middle of another Write or ReadFrom: write from one goroutine"
	saysReader = "is read from in the middle of another Read or WriteTo: read from one goroutine"
)

// calls are the calls that the source of a ReadFrom or the destination of a WriteTo makes on the same ring.
var calls = []struct {
	name     string
	inSource string // text of the panic in a source; empty if the call does not panic there
	inSink   string // text of the panic in a destination; empty if the call does not panic there
	call     func(t *testing.T, r *Ring)
}{
	{"Write", saysWriter, "", func(t *testing.T, r *Ring) {
		if n, err := r.Write([]byte("x")); n != 1 || err != nil {
			t.Errorf("Write returns %d, %v", n, err)
		}
	}},
	{"Write of nothing", saysWriter, "", func(t *testing.T, r *Ring) { r.Write(nil) }},
	{"WriteByte", saysWriter, "", func(t *testing.T, r *Ring) {
		if err := r.WriteByte('x'); err != nil {
			t.Error(err)
		}
	}},
	{"ReadFrom", saysWriter, "", func(t *testing.T, r *Ring) {
		if n, err := r.ReadFrom(strings.NewReader("x")); n != 1 || err != nil {
			t.Errorf("ReadFrom returns %d, %v", n, err)
		}
	}},
	{"Reserve and Commit", saysWriter, "", func(t *testing.T, r *Ring) {
		b, err := r.Reserve(1)
		if len(b) != 1 || err != nil {
			t.Fatalf("Reserve returns %q, %v", b, err)
		}
		b[0] = 'x'
		r.Commit(1)
	}},
	{"Commit", saysWriter, "which has 0 reserved bytes", func(t *testing.T, r *Ring) { r.Commit(1) }},
	{"Read", "", saysReader, func(t *testing.T, r *Ring) {
		b := make([]byte, 1)
		if n, err := r.Read(b); n != 1 || err != nil || b[0] != 'a' {
			t.Errorf("Read returns %d, %v, %q", n, err, b)
		}
	}},
	{"Read of nothing", "", saysReader, func(t *testing.T, r *Ring) { r.Read(nil) }},
	{"ReadByte", "", saysReader, func(t *testing.T, r *Ring) {
		if b, err := r.ReadByte(); b != 'a' || err != nil {
			t.Errorf("ReadByte returns %q, %v", b, err)
		}
	}},
	{"WriteTo", "", saysReader, func(t *testing.T, r *Ring) {
		r.SetReadDeadline(past)
		var b bytes.Buffer
		if n, err := r.WriteTo(&b); n != 3 || err == nil || b.String() != "abc" {
			t.Errorf("WriteTo returns %d, %v, %q", n, err, b.String())
		}
	}},
	{"Discard", "", saysReader, func(t *testing.T, r *Ring) { r.Discard(1) }},
	{"Peek", "", "", func(t *testing.T, r *Ring) {
		if b, err := r.Peek(3); string(b) != "abc" || err != nil {
			t.Errorf("Peek returns %q, %v", b, err)
		}
	}},
	{"PeekContext", "", "", func(t *testing.T, r *Ring) {
		if b, err := r.PeekContext(context.Background(), 2); string(b) != "ab" || err != nil {
			t.Errorf("PeekContext returns %q, %v", b, err)
		}
	}},
	{"Len and Free", "", "", func(t *testing.T, r *Ring) {
		if r.Len() != 3 || r.Free() != r.size-3 {
			t.Errorf("length %d, free %d", r.Len(), r.Free())
		}
	}},
}

// TestCallsBack checks that each of the calls works, or panics and changes nothing. If the panic ends
// ReadFrom or WriteTo, the ring must work afterwards.
func TestCallsBack(t *testing.T) {
	for _, pages := range pageKinds {
		for _, c := range calls {
			for _, recovers := range []bool{false, true} {
				r := newRing(t, Options{Capacity: 1, Pages: pages, Name: "frames"})
				skip := make([]byte, r.size-2) // lets "abc" cross the end of the memory
				r.Write(skip)
				r.Discard(len(skip))
				r.Write([]byte("abc"))
				panicText := ""
				callRing := func() {
					panicText = modeltest.PanicText(func() { c.call(t, r) })
					if panicText != "" && !recovers {
						panic(panicText)
					}
				}
				escaped := modeltest.PanicText(func() {
					n, err := r.ReadFrom(readerFunc(func(p []byte) (int, error) {
						callRing()
						return copy(p, "def"), io.EOF
					}))
					if n != 3 || err != nil {
						t.Errorf("%s in a source: ReadFrom returns %d, %v", c.name, n, err)
					}
				})
				want := "abcdef"
				switch c.name {
				case "Read", "ReadByte", "Discard":
					want = "bcdef"
				case "WriteTo":
					want = "def"
				}
				if escaped != "" {
					want = strings.TrimSuffix(want, "def")
				}
				checkPanic(t, c.name+" in a source", c.inSource, panicText)
				text := modeltest.PanicText(func() { r.Commit(1) })
				if !strings.Contains(text, "which has 0 reserved bytes") {
					t.Errorf("%s in a source leaves a reservation: Commit panics with %q", c.name, text)
				}
				r.SetDeadline(past)
				got, _ := io.ReadAll(r)
				if string(got) != want || r.Len() != 0 || r.Free() != r.size {
					t.Errorf("%s in a source, recovers: %t: the reader gets %q, want %q", c.name, recovers,
						got, want)
				}

				r.SetDeadline(past)
				r.Write([]byte("abc"))
				panicText, want = "", ""
				var sunk bytes.Buffer
				escaped = modeltest.PanicText(func() {
					called := false
					_, _ = r.WriteTo(writerFunc(func(p []byte) (int, error) {
						if !called {
							called = true
							callRing()
						}
						return sunk.Write(p)
					}))
				})
				checkPanic(t, c.name+" in a destination", c.inSink, panicText)
				if escaped == "" {
					want = "abc"
					switch c.name {
					case "Write", "WriteByte", "ReadFrom", "Reserve and Commit":
						want = "abcx"
					}
				}
				got, _ = io.ReadAll(r)
				if escaped != "" && string(got) != "abc" || escaped == "" &&
					(len(got) != 0 || sunk.String() != want) {
					t.Errorf("%s in a destination, recovers: %t: the destination got %q, and %q is left; "+
						"want %q", c.name, recovers, sunk.String(), got, want)
				}
				if err := r.Close(); err != nil || !r.released {
					t.Errorf("%s: the memory was not given back: %v", c.name, err)
				}
			}
		}
	}
}

func checkPanic(t *testing.T, what, want, got string) {
	t.Helper()
	if (want == "") != (got == "") || !strings.Contains(got, want) || got != "" &&
		!strings.Contains(got, "frames") {
		t.Errorf("%s panics with %q, want %q", what, got, want)
	}
}

// TestPanicOrGoexitInACall checks that the ring can be used after a panic or Goexit in a source or a
// destination. If the source closes the ring first, the memory must be given back.
func TestPanicOrGoexitInACall(t *testing.T) {
	for _, pages := range pageKinds {
		for name, leave := range map[string]func(){
			"panic": func() { panic(errOwn) }, "Goexit": runtime.Goexit,
		} {
			for _, closes := range []bool{false, true} {
				r := newRing(t, Options{Capacity: 1, Pages: pages})
				done := make(chan any)
				call := func(f func()) {
					go func() {
						defer func() { done <- recover() }()
						f()
					}()
					if e := <-done; name == "panic" && e != error(errOwn) || name != "panic" && e != nil {
						t.Errorf("%s: the call panics with %v", name, e)
					}
				}
				again := false
				call(func() {
					r.ReadFrom(readerFunc(func(p []byte) (int, error) {
						if again {
							if closes {
								_ = r.Close()
							}
							leave()
						}
						again = true
						return copy(p, "abc"), nil
					}))
				})
				if closes {
					if !r.released {
						t.Errorf("%s: the memory was not given back", name)
					}
					continue
				}
				if n, err := r.Write([]byte("def")); n != 3 || err != nil {
					t.Errorf("%s: the next Write returns %d, %v", name, n, err)
				}
				call(func() { r.WriteTo(writerFunc(func(p []byte) (int, error) { leave(); return 0, nil })) })
				if b, err := r.Peek(6); string(b) != "abcdef" || err != nil || r.Len() != 6 {
					t.Errorf("%s: Peek returns %q, %v", name, b, err)
				}
				r.CloseWrite()
				if b, err := io.ReadAll(r); string(b) != "abcdef" || err != nil {
					t.Errorf("%s: ReadAll returns %q, %v", name, b, err)
				}
				if err := r.Close(); err != nil || !r.released {
					t.Errorf("%s: the memory was not given back: %v", name, err)
				}
			}
		}
	}
}

func TestFaultsInACall(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("no memory access faults in this build")
	}
	region, err := vm.Reserve(vm.PageSize(), vm.Options{Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = region.Close() }()
	uncommitted := unsafe.Slice((*byte)(region.Base()), vm.PageSize())
	for name, f := range map[string]func(*Ring){
		"Write": func(r *Ring) { r.Write(uncommitted) },
		"Read":  func(r *Ring) { r.Read(uncommitted) },
	} {
		for _, continues := range []bool{false, true} {
			r := newRing(t, Options{Capacity: 1})
			r.Write([]byte("abc"))
			func() {
				defer func() {
					if e, _ := recover().(error); !errors.As(e, new(*vm.Fault)) {
						t.Errorf("%s panics with %v, want a *vm.Fault", name, e)
					}
				}()
				vm.Do(func() { f(r) })
			}()
			if continues {
				if n, err := r.Write([]byte("def")); n != 3 || err != nil {
					t.Errorf("after a fault in %s: Write returns %d, %v", name, n, err)
				}
				b := make([]byte, 10)
				if n, err := r.Read(b); string(b[:n]) != "abcdef" || err != nil {
					t.Errorf("after a fault in %s: Read returns %q, %v", name, b[:n], err)
				}
			}
			if err := r.Close(); err != nil || !r.released {
				t.Errorf("after a fault in %s the memory was not given back: %v", name, err)
			}
		}
	}
}

func TestEndlessCallsBack(t *testing.T) {
	page := vm.PageSize()
	for _, pages := range pageKinds {
		for name, c := range map[string]struct {
			says string // text of the panic; empty if the call works
			call func(e *Endless) error
		}{
			"Append": {"in the middle of ReadFrom", func(e *Endless) error {
				_, err := e.Append([]byte("x"))
				return err
			}},
			"Append of nothing": {"in the middle of ReadFrom", func(e *Endless) error {
				_, err := e.Append(nil)
				return err
			}},
			"Write": {"in the middle of ReadFrom", func(e *Endless) error {
				_, err := e.Write([]byte("x"))
				return err
			}},
			"Reserve": {"in the middle of ReadFrom", func(e *Endless) error {
				_, err := e.Reserve(3 * page)
				return err
			}},
			"ReadFrom": {"in the middle of ReadFrom", func(e *Endless) error {
				_, err := e.ReadFrom(strings.NewReader("x"))
				return err
			}},
			"Commit":  {"which has 0 reserved bytes", func(e *Endless) error { e.Commit(1); return nil }},
			"Release": {"", func(e *Endless) error { return e.Release(e.End()) }},
			"At": {"", func(e *Endless) error {
				b, err := e.At(e.End()-3, 3)
				if string(b) != "abc" {
					t.Errorf("At returns %q", b)
				}
				return err
			}},
		} {
			for _, leaves := range []bool{false, true} {
				limit := vm.NewLimit(1 << 20)
				e := newEndless(t, EndlessOptions{Name: "log", Capacity: 4 * page, Step: page, Pages: pages,
					Limit: limit})
				for e.End() < int64(e.lapSize-4*page) { // move the next bytes to the end of the lap
					if _, err := e.Append(make([]byte, page)); err != nil {
						t.Fatal(err)
					}
					if err := e.Release(e.End()); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := e.Append([]byte("abc")); err != nil {
					t.Fatal(err)
				}
				start, panicText := e.End()-3, ""
				escaped := modeltest.PanicText(func() {
					n, err := e.ReadFrom(readerFunc(func(p []byte) (int, error) {
						n := copy(p, "def")
						panicText = modeltest.PanicText(func() {
							if err := c.call(e); err != nil {
								t.Errorf("%s: %v", name, err)
							}
						})
						if panicText != "" && leaves {
							panic(panicText)
						}
						return n, io.EOF
					}))
					if n != 3 || err != nil {
						t.Errorf("%s in a source: ReadFrom returns %d, %v", name, n, err)
					}
				})
				if (c.says == "") != (panicText == "") || !strings.Contains(panicText, c.says) ||
					panicText != "" && !strings.Contains(panicText, "log") {
					t.Errorf("%s in a source panics with %q, want %q", name, panicText, c.says)
				}
				want := "abcdef"
				switch {
				case name == "Release":
					want = "def"
				case escaped != "":
					want = "abc"
				}
				from := start + int64(6-len(want))
				if escaped != "" {
					from = start
				}
				if b, err := e.At(from, len(want)); string(b) != want || err != nil || e.Start() != from ||
					e.Len() != len(want) {
					t.Errorf("%s in a source: At returns %q from %d on, %v; want %q from %d on", name, b,
						e.Start(), err, want, from)
				}
				if _, err := e.Append(make([]byte, 4*page-len(want)+1)); !errors.Is(err, vm.ErrCapacity) {
					t.Errorf("%s: Append beyond the capacity returns %v", name, err)
				}
				if _, err := e.Append(make([]byte, 4*page-len(want))); err != nil {
					t.Errorf("%s: Append up to the capacity returns %v", name, err)
				}
				if b, err := e.At(from, 4*page); string(b[:len(want)]) != want || len(b) != 4*page ||
					err != nil {
					t.Errorf("%s: At returns %d bytes, %v", name, len(b), err)
				}
				if err := e.Close(); err != nil || limit.Used() != 0 {
					t.Errorf("%s: Close returns %v and leaves %d bytes in use", name, err, limit.Used())
				}
			}
		}
	}
}
