package ring

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"testing/iotest"
	"time"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

// numbered fills b with the bytes of the test stream that begin at position.
func numbered(b []byte, position uint64) {
	rest := position % 251
	for i := range b {
		b[i] = byte(rest) ^ byte((position+uint64(i))>>13)
		if rest++; rest == 251 {
			rest = 0
		}
	}
}

// numberedByte returns the byte of the test stream at a position. No period of the stream is a power of two.
func numberedByte(position uint64) byte { return byte(position%251) ^ byte(position>>13) }

var pageKinds = []vm.Pages{vm.PagesAuto, vm.PagesHeap}

func newRing(t testing.TB, o Options) *Ring {
	t.Helper()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// past is a deadline that keeps calls from waiting.
var past = time.Unix(1, 0)

// playRing makes the calls encoded in data on a ring and on its model, a plain slice.
func playRing(t *testing.T, o Options, data []byte) {
	s := modeltest.NewStream(data)
	for s.More() {
		o.Capacity = 1 + s.Below(2*vm.PageSize())
		r, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		playUntilClosed(t, s, r)
	}
}

func playUntilClosed(t *testing.T, s *modeltest.Stream, r *Ring) {
	r.SetDeadline(past)
	var model []byte
	written := uint64(0)
	ended := false
	made := func(n int) []byte {
		b := make([]byte, n)
		numbered(b, written)
		return b
	}
	// wrote checks the result of a write of n bytes. If they do not fit, the write must fill the free room,
	// or write nothing if whole is set.
	wrote := func(what string, n, got int, err error, whole bool) {
		t.Helper()
		free := r.size - len(model)
		want, wantErr := n, error(nil)
		switch {
		case ended:
			want, wantErr = 0, io.ErrClosedPipe
		case n > free && whole:
			want, wantErr = 0, os.ErrDeadlineExceeded
		case n > free:
			want, wantErr = free, os.ErrDeadlineExceeded
		}
		if got != want || !errors.Is(err, wantErr) {
			t.Fatalf("%s of %d bytes with %d free in a ring of %d: got %d, %v; want %d, %v", what, n, free,
				r.size, got, err, want, wantErr)
		}
		model = append(model, made(got)...)
		written += uint64(got)
	}
	// wantErr returns the expected error of a read of n bytes.
	wantErr := func(n int) error {
		switch {
		case len(model) >= n:
			return nil
		case ended && len(model) > 0:
			return io.ErrUnexpectedEOF
		case ended:
			return io.EOF
		}
		return os.ErrDeadlineExceeded
	}
	for s.More() {
		n := s.Below(r.size + 1)
		switch op := s.Byte() % 16; op {
		case 0, 1:
			got, err := r.Write(made(n))
			wrote("Write", n, got, err, false)
		case 2, 3:
			b, err := r.Reserve(n)
			if err == nil && (len(b) != n || cap(b) != n) {
				t.Fatalf("Reserve(%d) returned %d bytes", n, len(b))
			}
			if err != nil {
				wrote("Reserve", n, 0, err, true)
				break
			}
			take := s.Below(n + 1)
			numbered(b, written)
			r.Commit(take)
			wrote("Reserve", take, take, nil, true)
		case 4, 5, 6:
			b, err := r.Peek(n)
			want := model[:min(n, len(model))]
			if wantErr(n) == os.ErrDeadlineExceeded {
				want = nil
			}
			if !bytes.Equal(b, want) || err != wantErr(n) {
				t.Fatalf("Peek(%d) with %d bytes in the ring: got %d, %v; want %d, %v", n, len(model), len(b),
					err, len(want), wantErr(n))
			}
		case 7, 8:
			n = min(n, len(model))
			r.Discard(n)
			model = model[n:]
		case 9, 10:
			b := make([]byte, n)
			got, err := r.Read(b)
			want := min(n, len(model))
			if got != want || !bytes.Equal(b[:got], model[:got]) || n > 0 && err != wantErr(1) {
				t.Fatalf("Read of %d bytes with %d in the ring: got %d, %v; want %d, %v", n, len(model),
					got, err, want, wantErr(1))
			}
			model = model[got:]
		case 11:
			free := r.size - len(model)
			var src io.Reader = bytes.NewReader(made(n))
			switch n % 3 {
			case 0:
				src = iotest.HalfReader(src)
			case 1:
				src = iotest.DataErrReader(src)
			}
			got, err := r.ReadFrom(src)
			if n == free && err == nil {
				n = int(got) // the source returned io.EOF with its last byte
			} else if n == free && !ended {
				n++ // ReadFrom needs room for the Read that returns io.EOF
			}
			wrote("ReadFrom", n, int(got), err, false)
		case 12:
			var dst bytes.Buffer
			got, err := r.WriteTo(&dst)
			want := error(nil)
			if !ended {
				want = os.ErrDeadlineExceeded
			}
			if int(got) != len(model) || !bytes.Equal(dst.Bytes(), model) || err != want {
				t.Fatalf("WriteTo of %d bytes: %d, %v", len(model), got, err)
			}
			model = nil
		case 13:
			err := r.WriteByte(numberedByte(written))
			got := 0
			if err == nil {
				got = 1
			}
			wrote("WriteByte", 1, got, err, false)
		case 14:
			b, err := r.ReadByte()
			if err != wantErr(1) || err == nil && b != model[0] {
				t.Fatalf("ReadByte: %d, %v", b, err)
			}
			if err == nil {
				model = model[1:]
			}
		case 15:
			switch {
			case n%8 == 1:
				r.CloseWrite()
				ended = true
			case n%8 == 2:
				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
				if _, err := r.Peek(1); err != io.ErrClosedPipe {
					t.Fatalf("Peek after Close: %v", err)
				}
				return
			}
		}
		if r.Len() != len(model) || r.Free() != r.size-len(model) {
			t.Fatalf("Len %d, Free %d; want %d, %d", r.Len(), r.Free(), len(model), r.size-len(model))
		}
	}
	r.CloseWrite()
	if rest, err := io.ReadAll(r); err != nil || !bytes.Equal(rest, model) {
		t.Fatalf("the reader gets the last %d bytes, %v; want %d", len(rest), err, len(model))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRingAgainstModel(t *testing.T) {
	rounds := longtest.Pick(4, 20)
	for range rounds {
		data := modeltest.RandomBytes(t, 3000)
		for _, pages := range pageKinds {
			playRing(t, Options{Pages: pages}, data)
		}
	}
}

func FuzzRing(f *testing.F) {
	f.Add([]byte{9, 200, 50, 0, 100, 2, 255, 4, 255, 7, 0, 200, 9, 9, 1, 11, 1, 15, 200, 4, 40, 12})
	f.Add([]byte{255, 255, 143, 255, 0, 143, 255, 7, 143, 255, 2, 143, 255, 4, 143, 255, 11, 3, 14, 3, 13})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			playRing(t, Options{Pages: pages}, data)
		}
	})
}
