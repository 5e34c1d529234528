package bench

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"

	"github.com/vastgo/vast/ring"
)

// bytesHeader is the size of the header before each frame: the frame's length in little-endian order.
const bytesHeader = 4

// framesOf returns n frames of 1 to 1,000 bytes with their headers, and the total of their frameSum.
func framesOf(n int) (frames []byte, sum uint64) {
	rnd := rand.New(rand.NewPCG(seedOrder, 0))
	for range n {
		length := 1 + rnd.IntN(1000)
		frames = binary.LittleEndian.AppendUint32(frames, uint32(length))
		for i := range length {
			frames = append(frames, byte(i*5+length))
		}
		sum += frameSum(frames[len(frames)-length:])
	}
	return frames, sum
}

func frameSum(b []byte) uint64 { return uint64(b[0]) + uint64(b[len(b)-1])<<8 + uint64(len(b)) }

// repeatedFrames is a reader that delivers its frames several times.
type repeatedFrames struct {
	frames    []byte
	next      int // the index of the next byte to deliver
	timesLeft int
}

// bytesSegment is the largest number of bytes that one Read delivers, a typical number for a socket.
const bytesSegment = 32 << 10

func (f *repeatedFrames) Read(p []byte) (int, error) {
	if f.timesLeft == 0 {
		return 0, io.EOF
	}
	n := copy(p, f.frames[f.next:min(len(f.frames), f.next+bytesSegment)])
	if f.next += n; f.next == len(f.frames) {
		f.next, f.timesLeft = 0, f.timesLeft-1
	}
	return n, nil
}

// framesRepeated is the number of frames that the works repeat.
const framesRepeated = 1000

// ringFrames returns the sides of the work ring-frames: read about n frames from a repeatedFrames.
func ringFrames(n int) (sides []side, done func()) {
	frames, sum := framesOf(framesRepeated)
	times := max(1, n/framesRepeated)
	check := func(name string, got uint64) { mustBe(name, got, uint64(times)*sum) }
	return []side{
		{"vast", func(m *meter) {
			r := newRing()
			var got uint64
			m.run(func() { got = framesFromSource(r, &repeatedFrames{frames: frames, timesLeft: times}) })
			check("vast", got)
			mustSucceed(r.Close())
		}},
		{"bufio-peek", func(m *meter) {
			var got uint64
			b := bufio.NewReaderSize(&repeatedFrames{frames: frames, timesLeft: times}, bytesRing)
			m.run(func() { got = framesPeeked(b) })
			check("bufio-peek", got)
		}},
		{"bufio-readfull", func(m *meter) {
			var got uint64
			b := bufio.NewReaderSize(&repeatedFrames{frames: frames, timesLeft: times}, bytesRing)
			m.run(func() { got = framesRead(b) })
			check("bufio-readfull", got)
		}},
	}, nil
}

//go:noinline
func framesFromSource(r *ring.Ring, src io.Reader) (sum uint64) {
	for {
		n, err := src.Read(made(r.Reserve(r.Free())))
		r.Commit(n)
		if err == io.EOF {
			return sum
		}
		mustSucceed(err)
		b := made(r.Peek(r.Len()))
		rest := b
		for len(rest) >= bytesHeader {
			length := int(binary.LittleEndian.Uint32(rest))
			if len(rest)-bytesHeader < length {
				break
			}
			sum += frameSum(rest[bytesHeader : bytesHeader+length])
			rest = rest[bytesHeader+length:]
		}
		r.Discard(len(b) - len(rest))
	}
}

//go:noinline
func framesPeeked(b *bufio.Reader) (sum uint64) {
	for {
		header, err := b.Peek(bytesHeader)
		if err == io.EOF && len(header) == 0 {
			return sum
		}
		mustSucceed(err)
		length := int(binary.LittleEndian.Uint32(header))
		frame := made(b.Peek(bytesHeader + length))
		sum += frameSum(frame[bytesHeader:])
		made(b.Discard(bytesHeader + length))
	}
}

//go:noinline
func framesRead(b *bufio.Reader) (sum uint64) {
	buffer := make([]byte, 0, 1000)
	var header [bytesHeader]byte
	for {
		if _, err := io.ReadFull(b, header[:]); err == io.EOF {
			return sum
		} else if err != nil {
			mustSucceed(err)
		}
		frame := buffer[:binary.LittleEndian.Uint32(header[:])]
		made(io.ReadFull(b, frame))
		sum += frameSum(frame)
	}
}

//go:noinline
func framesOfRing(r *ring.Ring) (sum uint64) {
	for {
		header, err := r.Peek(bytesHeader)
		if err == io.EOF {
			return sum
		}
		mustSucceed(err)
		length := int(binary.LittleEndian.Uint32(header))
		frame := made(r.Peek(bytesHeader + length))
		sum += frameSum(frame[bytesHeader:])
		r.Discard(bytesHeader + length)
	}
}

// ringSocket returns the sides of the works ring-socket and ring-socket-alone: receive about n frames over a
// loopback TCP connection, and parse the frames. One goroutine receives and parses in turn. If parserApart is
// true, the side vast parses on a second goroutine.
func ringSocket(n int, parserApart bool) ([]side, func()) {
	frames, sum := framesOf(framesRepeated)
	times := max(1, n/framesRepeated)
	listener := made(net.Listen("tcp", "127.0.0.1:0"))
	over := func(name string, receive func(net.Conn) uint64) side {
		return side{name, func(m *meter) {
			var wg sync.WaitGroup
			wg.Go(func() { sendFrames(listener, frames, times) })
			c := made(net.Dial("tcp", listener.Addr().String()))
			var got uint64
			m.run(func() { got = receive(c) })
			wg.Wait()
			mustSucceed(c.Close())
			mustBe(name, got, uint64(times)*sum)
		}}
	}
	return []side{
		over("vast", func(c net.Conn) (sum uint64) {
			r := newRing()
			defer func() { mustSucceed(r.Close()) }()
			if !parserApart {
				return framesFromSource(r, c)
			}
			atTheSameTime(func() {
				_, err := r.ReadFrom(c)
				r.CloseWithError(err)
			}, func() { sum = framesOfRing(r) })
			return sum
		}),
		over("bufio-peek", func(c net.Conn) uint64 {
			return framesPeeked(bufio.NewReaderSize(c, bytesRing))
		}),
		over("bufio-readfull", func(c net.Conn) uint64 {
			return framesRead(bufio.NewReaderSize(c, bytesRing))
		}),
	}, func() { mustSucceed(listener.Close()) }
}

func sendFrames(listener net.Listener, frames []byte, times int) {
	c, err := listener.Accept()
	for i := 0; i < times && err == nil; i++ {
		_, err = c.Write(frames)
	}
	if err == nil {
		err = c.Close()
	}
	if err != nil {
		panic(fmt.Sprintf("bench: sending frames: %v", err))
	}
}
