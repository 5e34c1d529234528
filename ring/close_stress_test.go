package ring

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// sent is the result of a writer.
type sent struct {
	total      uint64 // number of bytes that the writer's calls handed over
	lastCommit uint64 // bytes of Commit if it was the last call that handed over bytes; otherwise 0
	err        error
}

// writeUntilEnded writes until a call fails. If copying is set, it uses only methods that copy.
func writeUntilEnded(r *Ring, rnd *rand.Rand, copying bool) (s sent) {
	buffer := make([]byte, 2*r.Cap())
	for s.err == nil {
		if rnd.IntN(4) == 0 {
			runtime.Gosched() // on one thread the writer and the reader would starve other goroutines
		}
		b := buffer[:piece(rnd, len(buffer))]
		numbered(b, s.total)
		n, committed := 0, 0
		switch rnd.IntN(5) {
		case 0:
			var n64 int64
			n64, s.err = r.ReadFrom(bytes.NewReader(b))
			n = int(n64)
		case 1:
			if s.err = r.WriteByte(b[0]); s.err == nil {
				n = 1
			}
		case 2, 3:
			if !copying {
				var room []byte
				if room, s.err = r.Reserve(min(len(b), r.Cap()/2)); s.err == nil {
					committed = copy(room, b)
					if rnd.IntN(2) == 0 {
						runtime.Gosched()
					}
					r.Commit(committed)
				}
				break
			}
			fallthrough
		default:
			n, s.err = r.Write(b)
		}
		if n+committed > 0 {
			s.total += uint64(n + committed)
			s.lastCommit = uint64(committed)
		}
	}
	return s
}

// readUntilEnded reads and verifies bytes until a call fails. If copying is set, it uses only methods that
// copy.
func readUntilEnded(t *testing.T, r *Ring, rnd *rand.Rand, copying bool) (at uint64, err error) {
	buffer := make([]byte, r.Cap())
	for err == nil {
		n := 0
		switch rnd.IntN(5) {
		case 0:
			sink := &stressSink{t, at, at + uint64(piece(rnd, 2*r.Cap()))}
			var n64 int64
			n64, err = r.WriteTo(sink)
			if n = int(n64); err == nil {
				err = io.EOF
			} else if err == io.ErrShortBuffer {
				err = nil
			}
		case 1:
			var b byte
			if b, err = r.ReadByte(); err == nil {
				n, buffer[0] = 1, b
				verify(t, buffer[:1], at)
			}
		case 2, 3:
			if !copying {
				var b []byte
				if b, err = r.Peek(piece(rnd, r.Cap()/2)); err == io.ErrUnexpectedEOF {
					err = nil // io.EOF follows
				}
				verify(t, b, at)
				n = len(b)
				r.Discard(n)
				break
			}
			fallthrough
		default:
			n, err = r.Read(buffer[:piece(rnd, len(buffer))])
			verify(t, buffer[:n], at)
		}
		at += uint64(n)
	}
	return at, err
}

func waitRandomTime(rnd *rand.Rand, r *Ring) {
	switch rnd.IntN(3) {
	case 0:
		for range rnd.IntN(30) {
			runtime.Gosched()
		}
	case 1:
		for position := uint64(rnd.IntN(4 * r.size)); r.writer.published.Load() < position && !r.over(); {
			runtime.Gosched()
		}
	default:
		side := &r.writer
		if rnd.IntN(2) == 0 {
			side = &r.reader
		}
		for tries := 0; side.target.Load() == 0 && tries < 1000; tries++ { // the side may never wait
			runtime.Gosched()
		}
	}
}

func closeRounds() int {
	if !longtest.Enabled() || vm.HeapStandIn() {
		return 150
	}
	return 1500
}

// eachExchange runs a writer, a reader and the closers, each on its own goroutine. Each closer waits for a
// random time.
func eachExchange(t *testing.T, copying bool, closers func(rnd *rand.Rand, r *Ring) []func() error,
	check func(r *Ring, s sent, read uint64, err error)) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for round := range closeRounds() {
		for _, pages := range pageKinds {
			rnd := rand.New(rand.NewPCG(seed, uint64(round)))
			limit := vm.NewLimit(1 << 20)
			r := newRing(t, Options{Capacity: 1, Pages: pages, Limit: limit})
			if rnd.IntN(2) == 0 {
				r.patience = patience{} // sleep without polling
			}
			var all sync.WaitGroup
			var s sent
			all.Go(func() {
				s = writeUntilEnded(r, rand.New(rand.NewPCG(seed, uint64(round)<<2|1)),
					copying)
			})
			for i, end := range closers(rnd, r) {
				all.Go(func() {
					waitRandomTime(rand.New(rand.NewPCG(seed, uint64(round)<<8|uint64(i)<<2|2)), r)
					if err := end(); err != nil {
						t.Error(err)
					}
				})
			}
			read, err := readUntilEnded(t, r, rand.New(rand.NewPCG(seed, uint64(round)<<2|3)), copying)
			mustFailWith := func(allowed ...error) {
				b, errPeek := r.Peek(1)
				n, errRead := r.Read(make([]byte, 1))
				if len(b) != 0 || n != 0 || !slices.Contains(allowed, errPeek) ||
					!slices.Contains(allowed, errRead) {
					t.Errorf("after %v, Peek returns %d bytes, %v; Read returns %d bytes, %v",
						err, len(b), errPeek, n, errRead)
				}
			}
			if copying { // the closers call Close
				mustFailWith(err, io.ErrClosedPipe)
				all.Wait()
				mustFailWith(io.ErrClosedPipe)
			} else {
				mustFailWith(err)
				all.Wait()
				mustFailWith(err)
			}
			check(r, s, read, err)
			if t.Failed() {
				t.Fatalf("round %d, %v: the writer handed over %d bytes, %d of them in the last Commit: %v; "+
					"the reader got %d bytes: %v", round, pages, s.total, s.lastCommit, s.err, read, err)
			}
			if err := r.Close(); err != nil || limit.Used() != 0 {
				t.Fatalf("Close: %v, %d bytes are in use", err, limit.Used())
			}
		}
	}
}

// TestEndAtRandomMoments: only the bytes of the last Commit may be lost, because Commit returns no error.
func TestEndAtRandomMoments(t *testing.T) {
	reasons := make([]error, 3)
	for i := range reasons {
		reasons[i] = fmt.Errorf("reason %d", i)
	}
	reasons[0] = io.EOF
	eachExchange(t, false, func(rnd *rand.Rand, r *Ring) (all []func() error) {
		for i := range 1 + rnd.IntN(len(reasons)) {
			all = append(all, func() error { r.CloseWithError(reasons[i]); return nil })
		}
		return all
	}, func(r *Ring, s sent, read uint64, err error) {
		if s.err != io.ErrClosedPipe || err != r.ended.Load().err ||
			read != s.total && read != s.total-s.lastCommit {
			t.Error("the writer and the reader disagree about the end")
		}
		if r.Len() != 0 || r.Free() != r.size {
			t.Errorf("Len %d, Free %d; want 0, %d", r.Len(), r.Free(), r.size)
		}
	})
}

func TestCloseAtRandomMoments(t *testing.T) {
	eachExchange(t, true, func(rnd *rand.Rand, r *Ring) (all []func() error) {
		for range 1 + rnd.IntN(2) {
			all = append(all, r.Close)
		}
		if rnd.IntN(3) == 0 {
			all = append(all, func() error { r.CloseWithError(errOwn); return nil })
		}
		return all
	}, func(r *Ring, s sent, read uint64, err error) {
		if s.err != io.ErrClosedPipe || err != io.ErrClosedPipe && err != errOwn {
			t.Error("the writer or the reader did not notice that the ring was closed")
		}
		if read > r.writer.published.Load() || err == errOwn && read != s.total {
			t.Error("the reader got more bytes than were written, or too few before the end")
		}
		if err := r.Close(); err != nil || !r.released {
			t.Errorf("the memory was not given back: %v", err)
		}
	})
}
