package bench

import (
	"encoding/binary"
	"io"
	"sync"

	"github.com/vastgo/vast/ring"
)

const (
	bytesBlock   = 64 << 10
	bytesRing    = 4 * bytesBlock
	bytesMessage = 64
	// bytesOffset is the offset of the first block in the work ring-blocks. Because of this offset, one block
	// in four wraps around the end of the buffer.
	bytesOffset = bytesBlock/2 + 1000
)

func ringWorks() []work {
	return []work{
		{"ring-blocks", nil, func(n int) ([]side, func()) { return ringBlocks(max(1, n/1000)) }},
		{"ring-blocks-between", nil, func(n int) ([]side, func()) {
			return ringBlocksBetween(max(1, n/1000))
		}},
		{"ring-messages", nil, func(n int) ([]side, func()) { return ringMessages(max(1, n/10)) }},
		{"ring-endless", nil, func(n int) ([]side, func()) { return ringEndless(max(1, n/10)) }},
		{"ring-frames", nil, func(n int) ([]side, func()) { return ringFrames(max(1, n/2)) }},
		{"ring-socket", nil, func(n int) ([]side, func()) { return ringSocket(max(1, n/10), true) }},
		{"ring-socket-alone", nil, func(n int) ([]side, func()) { return ringSocket(max(1, n/10), false) }},
	}
}

// pipe passes bytes from a writer to a reader. Write and Read copy the bytes.
type pipe interface {
	io.Reader
	io.Writer
	CloseWrite()
}

type ioPipe struct {
	*io.PipeReader
	*io.PipeWriter
}

func newIOPipe() ioPipe {
	r, w := io.Pipe()
	return ioPipe{r, w}
}

func (p ioPipe) CloseWrite() { p.PipeWriter.Close() }

func (p ioPipe) Close() error { return p.PipeReader.Close() }

// receive stands for a system call that fills b.
//
//go:noinline
func receive(b, block []byte) { copy(b, block) }

// parseBlock reads one word of each cache line of b and returns the sum of the words.
//
//go:noinline
func parseBlock(b []byte) (sum uint64) {
	for ; len(b) >= 64; b = b[64:] {
		sum += binary.LittleEndian.Uint64(b)
	}
	return sum
}

// blockOf returns a block and its sum from parseBlock.
func blockOf() (block []byte, sum uint64) {
	block = make([]byte, bytesBlock)
	for i := range block {
		block[i] = byte(i*7 + i>>8)
	}
	return block, parseBlock(block)
}

// ringBlocks returns the sides of the work ring-blocks: one goroutine passes n blocks through a buffer, one
// block at a time. The side vast receives and parses blocks in place. The other sides copy each block into
// the buffer and out of the buffer.
func ringBlocks(n int) (sides []side, done func()) {
	block, sum := blockOf()
	through := func(name string, newPipe func() pipe) side {
		return side{name, func(m *meter) {
			var got uint64
			p := newPipe()
			m.run(func() { got = copyBlocks(p, block, n) })
			mustBe(name, got, uint64(n)*sum)
		}}
	}
	return []side{
		{"vast", func(m *meter) {
			r := newRing()
			var got uint64
			m.run(func() { got = placeBlocks(r, block, n) })
			mustBe("vast", got, uint64(n)*sum)
			mustSucceed(r.Close())
		}},
		through("locked-ring", func() pipe { return newLockedRing(bytesRing) }),
		through("lock-free-ring", func() pipe { return newLockFreeRing(bytesRing) }),
	}, nil
}

func newRing() *ring.Ring { return made(ring.New(ring.Options{Name: "bench", Capacity: bytesRing})) }

//go:noinline
func placeBlocks(r *ring.Ring, block []byte, n int) (sum uint64) {
	made(r.Write(block[:bytesOffset]))
	r.Discard(bytesOffset)
	for range n {
		receive(made(r.Reserve(len(block))), block)
		r.Commit(len(block))
		sum += parseBlock(made(r.Peek(len(block))))
		r.Discard(len(block))
	}
	return sum
}

//go:noinline
func copyBlocks(p pipe, block []byte, n int) (sum uint64) {
	in, out := make([]byte, len(block)), make([]byte, len(block))
	made(p.Write(block[:bytesOffset]))
	made(io.ReadFull(p, out[:bytesOffset]))
	for range n {
		receive(in, block)
		made(p.Write(in))
		made(io.ReadFull(p, out))
		sum += parseBlock(out)
	}
	return sum
}

// ringBlocksBetween returns the sides of the work ring-blocks-between: one goroutine receives n blocks, and
// another goroutine parses them.
func ringBlocksBetween(n int) (sides []side, done func()) {
	block, sum := blockOf()
	through := func(name string, newPipe func() pipe) side {
		return side{name, func(m *meter) {
			var got uint64
			p := newPipe()
			m.run(func() {
				atTheSameTime(func() { receiveAndWrite(p, block, n) },
					func() { got = readAndParse(p, len(block)) })
			})
			mustBe(name, got, uint64(n)*sum)
		}}
	}
	return []side{
		{"vast", func(m *meter) {
			r := newRing()
			var got uint64
			m.run(func() {
				atTheSameTime(func() { receiveInPlace(r, block, n) },
					func() { got = parseInPlace(r, len(block)) })
			})
			mustBe("vast", got, uint64(n)*sum)
			mustSucceed(r.Close())
		}},
		through("locked-ring", func() pipe { return newLockedRing(bytesRing) }),
		through("lock-free-ring", func() pipe { return newLockFreeRing(bytesRing) }),
		through("io.Pipe", func() pipe { return newIOPipe() }),
	}, nil
}

func atTheSameTime(write, read func()) {
	var wg sync.WaitGroup
	wg.Go(write)
	read()
	wg.Wait()
}

//go:noinline
func receiveInPlace(r *ring.Ring, block []byte, n int) {
	for range n {
		receive(made(r.Reserve(len(block))), block)
		r.Commit(len(block))
	}
	r.CloseWrite()
}

//go:noinline
func parseInPlace(r *ring.Ring, size int) (sum uint64) {
	for {
		b, err := r.Peek(size)
		if err == io.EOF {
			return sum
		}
		mustSucceed(err)
		sum += parseBlock(b)
		r.Discard(size)
	}
}

//go:noinline
func receiveAndWrite(p pipe, block []byte, n int) {
	in := make([]byte, len(block))
	for range n {
		receive(in, block)
		made(p.Write(in))
	}
	p.CloseWrite()
}

//go:noinline
func readAndParse(p pipe, size int) (sum uint64) {
	out := make([]byte, size)
	for {
		_, err := io.ReadFull(p, out)
		if err == io.EOF {
			return sum
		}
		mustSucceed(err)
		sum += parseBlock(out)
	}
}

// ringMessages returns the sides of the work ring-messages: pass n messages of 64 bytes from one goroutine to
// another. The reader reads one message at a time.
func ringMessages(n int) (sides []side, done func()) {
	block, _ := blockOf()
	message := block[:bytesMessage]
	want := uint64(n) * parseBlock(message)
	through := func(name string, newPipe func() pipe) side {
		return side{name, func(m *meter) {
			var got uint64
			p := newPipe()
			m.run(func() {
				atTheSameTime(func() { writeMessages(p, message, n) },
					func() { got = readAndParse(p, bytesMessage) })
			})
			mustBe(name, got, want)
		}}
	}
	return []side{
		{"vast", func(m *meter) {
			r := newRing()
			var got uint64
			m.run(func() {
				atTheSameTime(func() { writeToRing(r, message, n) },
					func() { got = parseInPlace(r, bytesMessage) })
			})
			mustBe("vast", got, want)
			mustSucceed(r.Close())
		}},
		through("locked-ring", func() pipe { return newLockedRing(bytesRing) }),
		through("lock-free-ring", func() pipe { return newLockFreeRing(bytesRing) }),
		through("io.Pipe", func() pipe { return newIOPipe() }),
		{"channel", func(m *meter) {
			c := make(chan [bytesMessage]byte, bytesRing/bytesMessage)
			var got uint64
			m.run(func() {
				atTheSameTime(func() { sendMessages(c, message, n) }, func() { got = receiveMessages(c) })
			})
			mustBe("channel", got, want)
		}},
	}, nil
}

//go:noinline
func writeToRing(r *ring.Ring, message []byte, n int) {
	for range n {
		copy(made(r.Reserve(len(message))), message)
		r.Commit(len(message))
	}
	r.CloseWrite()
}

//go:noinline
func writeMessages(p pipe, message []byte, n int) {
	for range n {
		made(p.Write(message))
	}
	p.CloseWrite()
}

//go:noinline
func sendMessages(c chan [bytesMessage]byte, message []byte, n int) {
	for range n {
		c <- [bytesMessage]byte(message)
	}
	close(c)
}

//go:noinline
func receiveMessages(c chan [bytesMessage]byte) (sum uint64) {
	for message := range c {
		sum += parseBlock(message[:])
	}
	return sum
}
