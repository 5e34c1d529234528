package ring

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

func TestStress(t *testing.T) {
	total := uint64(20 << 20)
	if !longtest.Enabled() || vm.HeapStandIn() {
		total = 2 << 20
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, processors := range []int{1, 2, 4} {
		for _, pages := range pageKinds {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			r := newRing(t, Options{Capacity: 1, Pages: pages})
			if processors == 4 {
				r.patience = patience{} // sleep without polling
			}
			var wg sync.WaitGroup
			wg.Go(func() { writeStress(t, r, rand.New(rand.NewPCG(seed, 1)), total) })
			readStress(t, r, rand.New(rand.NewPCG(seed, 2)), total)
			wg.Wait()
		}
	}
}

func piece(rnd *rand.Rand, limit int) int {
	if rnd.IntN(4) > 0 {
		return 1 + rnd.IntN(20)
	}
	return 1 + rnd.IntN(limit)
}

func writeStress(t *testing.T, r *Ring, rnd *rand.Rand, total uint64) {
	buffer := make([]byte, 3*r.Cap())
	for at := uint64(0); at < total; {
		left := int(min(total-at, uint64(len(buffer))))
		var n int
		var err error
		switch rnd.IntN(5) {
		case 0:
			// The reader waits for half a ring of bytes at most. If the writer waited for more than half a
			// ring of room, both could wait forever.
			n = min(left, piece(rnd, r.Cap()/2))
			var b []byte
			if b, err = r.Reserve(n); err == nil {
				numbered(b, at)
				r.Commit(n)
			}
		case 1:
			b := buffer[:min(left, piece(rnd, len(buffer)))]
			numbered(b, at)
			var n64 int64
			n64, err = r.ReadFrom(bytes.NewReader(b))
			n = int(n64)
		case 2:
			n, err = 1, r.WriteByte(numberedByte(at))
		default:
			b := buffer[:min(left, piece(rnd, len(buffer)))]
			numbered(b, at)
			n, err = r.Write(b)
		}
		if err != nil {
			t.Errorf("writing at %d: %v", at, err)
			break
		}
		at += uint64(n)
		if rnd.IntN(1000) == 0 {
			runtime.Gosched()
		}
	}
	r.CloseWrite()
}

// stressSink verifies the bytes of WriteTo and stops WriteTo at the position stop.
type stressSink struct {
	t        *testing.T
	at, stop uint64
}

func (s *stressSink) Write(p []byte) (int, error) {
	n := int(min(uint64(len(p)), s.stop-s.at))
	verify(s.t, p[:n], s.at)
	s.at += uint64(n)
	if n < len(p) {
		return n, io.ErrShortBuffer
	}
	return n, nil
}

func verify(t *testing.T, b []byte, at uint64) {
	rest := at % 251
	for i, v := range b {
		if want := byte(rest) ^ byte((at+uint64(i))>>13); v != want {
			t.Fatalf("byte %d is %d, want %d", at+uint64(i), v, want)
		}
		if rest++; rest == 251 {
			rest = 0
		}
	}
}

func readStress(t *testing.T, r *Ring, rnd *rand.Rand, total uint64) {
	buffer := make([]byte, r.Cap())
	at := uint64(0)
	for {
		var n int
		var err error
		switch rnd.IntN(5) {
		case 0, 1:
			var b []byte
			b, err = r.Peek(piece(rnd, r.Cap()/2))
			verify(t, b, at)
			n = len(b)
			if n > 0 && rnd.IntN(3) == 0 {
				n = rnd.IntN(n + 1)
			}
			r.Discard(n)
			if err == io.ErrUnexpectedEOF {
				err = nil
			}
		case 2:
			sink := &stressSink{t, at, at + uint64(piece(rnd, 2*r.Cap()))}
			var n64 int64
			n64, err = r.WriteTo(sink)
			n = int(n64)
			if err == io.ErrShortBuffer {
				err = nil
			} else if err == nil {
				err = io.EOF
			}
		case 3:
			if n = r.Len(); n > 0 {
				var b []byte
				b, err = r.Peek(n)
				verify(t, b, at)
				r.Discard(n)
			}
		default:
			n, err = r.Read(buffer[:piece(rnd, len(buffer))])
			verify(t, buffer[:n], at)
		}
		at += uint64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("reading at %d: %v", at, err)
		}
	}
	if at != total {
		t.Errorf("the reader got %d of %d bytes", at, total)
	}
}

// TestNoWakeUpIsLost sends a byte back and forth between two goroutines. Each is asleep, or about to sleep,
// when the other writes.
func TestNoWakeUpIsLost(t *testing.T) {
	rounds := longtest.Pick(10_000, 100_000)
	there, back := newRing(t, Options{Capacity: 1}), newRing(t, Options{Capacity: 1})
	there.patience, back.patience = patience{}, patience{}
	go func() {
		for {
			b, err := there.ReadByte()
			if err != nil {
				back.CloseWrite()
				return
			}
			back.WriteByte(b + 1)
		}
	}()
	for i := range rounds {
		there.WriteByte(byte(i))
		if i%3 == 0 {
			runtime.Gosched()
		}
		if b, err := back.ReadByte(); b != byte(i)+1 || err != nil {
			t.Fatalf("round %d: %d, %v", i, b, err)
		}
	}
	there.CloseWrite()
	if _, err := back.ReadByte(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

// TestReaderWaitsForAll: the reader waits for a full ring while the writer waits for more free room.
func TestReaderWaitsForAll(t *testing.T) {
	for _, pages := range pageKinds {
		r := newRing(t, Options{Capacity: 1, Pages: pages})
		const rings = 50
		go func() {
			b := make([]byte, rings*r.Cap())
			numbered(b, 0)
			r.Write(b)
			r.CloseWrite()
		}()
		at := uint64(0)
		for i := 0; ; i++ {
			n := r.Cap()
			if i%2 == 1 {
				n = 1 // then Discard frees less room than the writer waits for
			}
			b, err := r.Peek(n)
			if err == io.EOF {
				break
			}
			verify(t, b, at)
			n = min(len(b), 1+i%3)
			if i%5 == 0 {
				n = len(b)
			}
			r.Discard(n)
			at += uint64(n)
		}
		if at != uint64(rings*r.Cap()) {
			t.Errorf("the reader got %d bytes", at)
		}
	}
}

func TestNoNeedlessSleep(t *testing.T) {
	r := newRing(t, Options{Capacity: 1})
	r.patience = patience{}
	r.SetDeadline(past)
	r.Write(make([]byte, r.Cap()))
	r.Discard(10)
	ctx, me, other := context.Background(), &r.writer, &r.reader
	if err := r.await(ctx, me, other, 1, 10); err != nil {
		t.Errorf("10 bytes are free, target 10: %v", err)
	}
	if err := r.await(ctx, me, other, 11, 20); err == nil {
		t.Error("10 bytes are free, minTarget 11: the writer does not wait")
	}
	if err := r.await(ctx, me, other, 1, 11); err == nil {
		t.Error("10 bytes are free, minTarget 1, target 11, the reader is awake: the writer does not wait")
	}
	other.target.Store(1 << 40)
	if err := r.await(ctx, me, other, 1, 11); err != nil {
		t.Errorf("10 bytes are free, minTarget 1, target 11, the reader sleeps: %v", err)
	}
	if me.target.Load() != 0 {
		t.Error("the writer is awake and marked as sleeping")
	}
}

// TestPollingWakesWriter: the reader waits for a full ring and does not sleep.
func TestPollingWakesWriter(t *testing.T) {
	r := newRing(t, Options{Capacity: 1})
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Write(make([]byte, 3*r.Cap()))
	}()
	for r.writer.target.Load() == 0 {
		runtime.Gosched()
	}
	r.Discard(1)
	for r.Len() < r.Cap() {
		runtime.Gosched()
	}
	r.CloseWrite()
	<-done
}
