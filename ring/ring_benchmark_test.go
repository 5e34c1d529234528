package ring

import (
	"fmt"
	"testing"
)

func BenchmarkPlace(b *testing.B) {
	for _, n := range []int{16, 1 << 10, 64 << 10} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := newRing(b, Options{Capacity: 256 << 10})
			b.SetBytes(int64(n))
			b.ResetTimer()
			place(b, r, n, b.N)
		})
	}
}

//go:noinline
func place(b *testing.B, r *Ring, size, n int) {
	for range n {
		in, err := r.Reserve(size)
		if err != nil {
			b.Fatal(err)
		}
		in[0], in[size-1] = 1, 2
		r.Commit(size)
		out, err := r.Peek(size)
		if err != nil || out[0] != 1 || out[size-1] != 2 {
			b.Fatal(out[0], err)
		}
		r.Discard(size)
	}
}

// BenchmarkPingPong sends a byte to another goroutine and waits for its answer.
func BenchmarkPingPong(b *testing.B) {
	there, back := newRing(b, Options{Capacity: 1}), newRing(b, Options{Capacity: 1})
	go func() {
		for {
			v, err := there.ReadByte()
			if err != nil || back.WriteByte(v) != nil {
				return
			}
		}
	}()
	b.ResetTimer()
	pingPong(b, there, back, b.N)
	there.CloseWrite()
}

//go:noinline
func pingPong(b *testing.B, there, back *Ring, n int) {
	for i := range n {
		there.WriteByte(byte(i))
		if v, err := back.ReadByte(); v != byte(i) || err != nil {
			b.Fatal(v, err)
		}
	}
}

func BenchmarkEndless(b *testing.B) {
	e := newEndless(b, EndlessOptions{})
	piece := make([]byte, 1<<10)
	b.SetBytes(int64(len(piece)))
	b.ResetTimer()
	appendAndRelease(b, e, piece, b.N)
}

//go:noinline
func appendAndRelease(b *testing.B, e *Endless, piece []byte, n int) {
	for range n {
		position, err := e.Append(piece)
		if err == nil {
			err = e.Release(max(e.Start(), position-1<<20))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
