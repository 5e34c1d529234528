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

// sent is the state of a writer when its stream ended.
type sent struct {
	at   uint64 // bytes that the writer has handed over, by its own count
	last uint64 // bytes that the writer's last call handed over, if this call was Commit
	err  error
}

// writeUntilEnded writes with all methods, or only with methods that copy, until a call fails.
func writeUntilEnded(r *Ring, rnd *rand.Rand, copying bool) (s sent) {
	buffer := make([]byte, 2*r.Cap())
	for s.err == nil {
		if rnd.IntN(4) == 0 {
			runtime.Gosched() // without yielding, the two sides would starve other goroutines on one thread
		}
		b := buffer[:piece(rnd, len(buffer))]
		numbered(b, s.at)
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
			s.at += uint64(n + committed)
			s.last = uint64(committed)
		}
	}
	return s
}

// readUntilEnded reads with all methods, or only with methods that copy, and verifies the bytes, until the
// end or an error.
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

// moment lets other goroutines run for a random time.
func moment(rnd *rand.Rand, r *Ring) {
	switch rnd.IntN(3) {
	case 0:
		for range rnd.IntN(30) {
			runtime.Gosched()
		}
	case 1:
		for until := uint64(rnd.IntN(4 * r.size)); r.writer.at.Load() < until && !r.over(); {
			runtime.Gosched()
		}
	default:
		side := &r.writer
		if rnd.IntN(2) == 0 {
			side = &r.reader
		}
		for tries := 0; side.until.Load() == 0 && tries < 1000; tries++ { // give up: the side may never wait
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

// eachExchange runs a writer and a reader, and closers that end the exchange at random moments.
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
					moment(rand.New(rand.NewPCG(seed, uint64(round)<<8|uint64(i)<<2|2)), r)
					if err := end(); err != nil {
						t.Error(err)
					}
				})
			}
			read, err := readUntilEnded(t, r, rand.New(rand.NewPCG(seed, uint64(round)<<2|3)), copying)
			// After the end, the reader's error stays the same. Only Close may change that error.
			behind := func(may ...error) {
				b, again := r.Peek(1)
				n, errRead := r.Read(make([]byte, 1))
				if len(b) != 0 || n != 0 || !slices.Contains(may, again) || !slices.Contains(may, errRead) {
					t.Errorf("after %v, Peek returns %d bytes, %v; Read returns %d bytes, %v",
						err, len(b), again, n, errRead)
				}
			}
			if copying {
				behind(err, io.ErrClosedPipe)
			} else {
				behind(err)
			}
			all.Wait()
			if copying {
				behind(io.ErrClosedPipe)
			} else {
				behind(err)
			}
			check(r, s, read, err)
			if t.Failed() {
				t.Fatalf("round %d, %v: the writer handed %d bytes over, %d by the last Commit: %v; the "+
					"reader got %d: %v", round, pages, s.at, s.last, s.err, read, err)
			}
			if err := r.Close(); err != nil || limit.Used() != 0 {
				t.Fatalf("Close: %v, %d bytes are in use", err, limit.Used())
			}
		}
	}
}

// TestEndAtRandomMoments ends the stream from one or several goroutines. The reader gets all bytes that the
// writer handed over, except that the bytes of a Commit may be lost if the stream ends during the Commit.
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
		if s.err != io.ErrClosedPipe || err != r.ended.Load().err || read != s.at && read != s.at-s.last {
			t.Error("the two sides disagree about the end")
		}
		if r.Len() != 0 || r.Free() != r.size {
			t.Errorf("Len %d, Free %d; want 0, %d", r.Len(), r.Free(), r.size)
		}
	})
}

// TestCloseAtRandomMoments closes the ring from one or several goroutines, while another goroutine may end
// the stream. Both sides get an error, the reader gets a prefix of the stream, and the memory has been given
// back when both sides have returned.
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
			t.Error("a side did not notice that the ring was closed")
		}
		if read > r.writer.at.Load() || err == errOwn && read != s.at {
			t.Error("the reader got more bytes than were written, or too few before the end")
		}
		if err := r.Close(); err != nil || !r.released {
			t.Errorf("the memory was not given back: %v", err)
		}
	})
}
