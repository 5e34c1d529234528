package soak

import (
	"errors"
	"io"
	"math/rand/v2"

	"github.com/vastgo/vast/ring"
)

// rings opens a new ring in each round, and passes bytes through it from one goroutine to another. It also
// appends bytes to an endless buffer that stays open, and releases old bytes.
func rings(t *tally) churn {
	var (
		lasting *ring.Endless
		end     int64
	)
	return churn{name: "rings", round: func(r *rand.Rand) {
		// The smallest capacity, 8192, has room for a chunk of the writer and a chunk of the reader.
		buffer := mustReturn(ring.New(ring.Options{Capacity: 1 << (13 + r.IntN(4))}))
		total, seed := 100_000+r.IntN(100_000), r.Uint64()
		var goroutines together
		goroutines.run(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			defer buffer.CloseWrite()
			for sent := 0; sent < total; {
				chunk := mustReturn(buffer.Reserve(1 + r.IntN(min(4000, total-sent))))
				for i := range chunk {
					chunk[i] = byte((sent + i) % 251)
				}
				buffer.Commit(len(chunk))
				sent += len(chunk)
			}
		})
		goroutines.run(func() {
			r, received := rand.New(rand.NewPCG(seed, 2)), 0
			for {
				chunk, err := buffer.Peek(1 + r.IntN(4000))
				for i, v := range chunk {
					must(v == byte((received+i)%251), "byte %d is %d", received+i, v)
				}
				buffer.Discard(len(chunk))
				received += len(chunk)
				if err != nil {
					ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
					must(received == total && ended, "the reader got %d of %d bytes and then the error %v",
						received, total, err)
					return
				}
			}
		})
		goroutines.wait()
		mustSucceed(buffer.Close())

		if lasting == nil {
			lasting = mustReturn(ring.NewEndless(ring.EndlessOptions{Capacity: mebibyte}))
		}
		for range 200 {
			p := make([]byte, 1+r.IntN(4000))
			for i := range p {
				p[i] = byte((end + int64(i)) % 251)
			}
			at := mustReturn(lasting.Append(p))
			must(at == end, "appended at %d, not %d", at, end)
			end += int64(len(p))
			if lasting.Len() > mebibyte/2 {
				mustSucceed(lasting.Release(lasting.End() - mebibyte/4))
			}
			from := lasting.Start() + r.Int64N(int64(lasting.Len()))
			for i, v := range mustReturn(lasting.At(from, min(100, int(end-from)))) {
				must(v == byte((from+int64(i))%251), "the byte at %d is %d", from+int64(i), v)
			}
		}
		t.operations.Add(400)
	}, close: func() { mustSucceed(lasting.Close()) }}
}
