package store

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"sync"
	"unsafe"
)

// sourceOf returns the source for a stream. If src is a file or another stream with random access, several
// goroutines read the elements, and end moves the stream to the offset where the source stopped reading.
func sourceOf(src io.Reader) (s source, end func() error) {
	if at, ok := src.(interface {
		io.ReaderAt
		io.Seeker
	}); ok {
		if from, err := at.Seek(0, io.SeekCurrent); err == nil {
			p := &places{src: at, offset: from}
			return p, func() error {
				_, err := at.Seek(p.offset, io.SeekStart)
				return err
			}
		}
	}
	if _, ok := src.(io.ByteReader); !ok {
		src = bufio.NewReaderSize(src, 64<<10)
	}
	return stream{src}, func() error { return nil }
}

// stream is the source for a stream without random access.
type stream struct{ src io.Reader }

func (s stream) read(dst []byte) error {
	_, err := io.ReadFull(s.src, dst)
	return whole(err)
}

func (s stream) elements(dst []byte, number uint64, sum uint32) error {
	if err := s.read(dst); err != nil {
		return fmt.Errorf("block %d: %w", number, err)
	}
	return checked(dst, number, sum)
}

func (s stream) wait() error { return nil }

// whole turns io.EOF into io.ErrUnexpectedEOF, because a complete file holds all bytes that a read asks for.
func whole(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// places is the source for a stream with random access, such as a file. Several goroutines read and check
// elements.
//
// Memory is divided into stretches of stretchSize bytes. One goroutine reads successive parts that begin in
// the same stretch. If two goroutines touched a new huge page at the same time, the system would clear a page
// for each of them.
type places struct {
	src    io.ReaderAt
	offset int64 // offset of the next bytes to read
	work   chan []part
	parts  []part // parts of the last stretch, which no goroutine has yet
	group  sync.WaitGroup
	mu     sync.Mutex
	err    error // the first error of a goroutine
}

// stretchSize is the size of a stretch. Huge pages of most systems have 2 MiB.
const stretchSize = 2 << 20

// pieceSize is the number of bytes of a piece. A goroutine reads a piece, and computes its checksum while the
// piece is in the processor's cache.
const pieceSize = 128 << 10

// part is a block of elements that a goroutine reads.
type part struct {
	dst    []byte
	offset int64
	number uint64
	sum    uint32
}

func (p *places) read(dst []byte) error {
	err := readAt(p.src, dst, p.offset)
	p.offset += int64(len(dst))
	return err
}

func readAt(src io.ReaderAt, dst []byte, offset int64) error {
	if n, err := src.ReadAt(dst, offset); n < len(dst) {
		return whole(err)
	}
	return nil
}

func (p *places) elements(dst []byte, number uint64, sum uint32) error {
	p.later(part{dst, p.offset, number, sum})
	p.offset += int64(len(dst))
	return nil
}

// later adds a part to the work of the goroutines.
func (p *places) later(one part) {
	if p.work == nil {
		workers := runtime.GOMAXPROCS(0)
		p.work = make(chan []part, workers)
		for range workers {
			p.group.Go(p.readParts)
		}
	}
	if len(p.parts) > 0 && stretch(p.parts[0].dst) != stretch(one.dst) {
		p.handOver()
	}
	p.parts = append(p.parts, one)
}

// stretch returns the number of the stretch of memory in which b begins.
func stretch(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) / stretchSize }

// handOver gives the parts of a stretch to a goroutine.
func (p *places) handOver() {
	p.work <- p.parts
	p.parts = nil
}

// readParts reads parts until wait closes the channel.
func (p *places) readParts() {
	for parts := range p.work {
		for _, one := range parts {
			if err := one.read(p.src); err != nil {
				p.mu.Lock()
				if p.err == nil {
					p.err = err
				}
				p.mu.Unlock()
			}
		}
	}
}

func (one *part) read(src io.ReaderAt) error {
	sum := uint32(0)
	for at := 0; at < len(one.dst); at += pieceSize {
		piece := one.dst[at:min(at+pieceSize, len(one.dst))]
		if err := readAt(src, piece, one.offset+int64(at)); err != nil {
			return fmt.Errorf("block %d: %w", one.number, err)
		}
		sum = crc32.Update(sum, castagnoli, piece)
	}
	return matching(sum, one.number, one.sum)
}

func (p *places) wait() error {
	if p.work != nil {
		p.handOver()
		close(p.work)
		p.group.Wait()
		p.work = nil
	}
	err := p.err
	p.err = nil
	return err
}
