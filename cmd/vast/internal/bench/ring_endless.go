package bench

import (
	"bytes"

	"github.com/vastgo/vast/ring"
)

const (
	bytesRecord = 1 << 10
	bytesKept   = 16 << 20
)

// ringEndless returns the sides of the work ring-endless: append n records of 1 KiB to a stream that keeps
// the last 16 MiB. Each record is parsed before it is discarded.
func ringEndless(n int) (sides []side, done func()) {
	block, _ := blockOf()
	record := block[:bytesRecord]
	want := uint64(max(0, n-bytesKept/bytesRecord)) * parseBlock(record)
	return []side{
		{"vast", func(m *meter) {
			e := made(ring.NewEndless(ring.EndlessOptions{Name: "bench"}))
			var got uint64
			m.run(func() { got = streamEndless(e, record, n) })
			mustBe("vast", got, want)
			mustSucceed(e.Close())
		}},
		{"bytes.Buffer", func(m *meter) {
			var got uint64
			m.run(func() { got = streamBuffer(record, n) })
			mustBe("bytes.Buffer", got, want)
		}},
		{"slice", func(m *meter) {
			var got uint64
			m.run(func() { got = streamSlice(record, n) })
			mustBe("slice", got, want)
		}},
	}, nil
}

//go:noinline
func streamEndless(e *ring.Endless, record []byte, n int) (sum uint64) {
	for range n {
		made(e.Append(record))
		if e.Len() > bytesKept {
			sum += parseBlock(made(e.At(e.Start(), bytesRecord)))
			mustSucceed(e.Release(e.Start() + bytesRecord))
		}
	}
	return sum
}

//go:noinline
func streamBuffer(record []byte, n int) (sum uint64) {
	var b bytes.Buffer
	for range n {
		b.Write(record)
		if b.Len() > bytesKept {
			sum += parseBlock(b.Next(bytesRecord))
		}
	}
	return sum
}

//go:noinline
func streamSlice(record []byte, n int) (sum uint64) {
	var s []byte
	for range n {
		s = append(s, record...)
		if len(s) > bytesKept {
			sum += parseBlock(s[:bytesRecord])
			s = s[bytesRecord:]
		}
	}
	return sum
}
