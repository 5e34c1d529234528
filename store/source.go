package store

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"sync"
)

// sourceOf returns the source for a stream. If the stream is a file, or another one that can be read at any
// place, several goroutines read the elements. end sets the stream to where the source has come.
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

// stream is the source for a stream that can only be read from its beginning to its end.
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

// whole turns the end of a file inside of a block into an error that says so.
func whole(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// places is the source for a file. Several goroutines read and check elements.
type places struct {
	src    io.ReaderAt
	offset int64 // of what read and elements read next
	work   chan part
	group  sync.WaitGroup
	mu     sync.Mutex
	err    error // the first error of a goroutine
}

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

// readAt reads all of dst.
func readAt(src io.ReaderAt, dst []byte, offset int64) error {
	if n, err := src.ReadAt(dst, offset); n < len(dst) {
		return whole(err)
	}
	return nil
}

func (p *places) elements(dst []byte, number uint64, sum uint32) error {
	if p.work == nil {
		workers := runtime.GOMAXPROCS(0)
		p.work = make(chan part, workers)
		for range workers {
			p.group.Go(p.help)
		}
	}
	p.work <- part{dst, p.offset, number, sum}
	p.offset += int64(len(dst))
	return nil
}

// help reads parts until there are no more.
func (p *places) help() {
	for one := range p.work {
		err := readAt(p.src, one.dst, one.offset)
		if err != nil {
			err = fmt.Errorf("block %d: %w", one.number, err)
		} else {
			err = checked(one.dst, one.number, one.sum)
		}
		if err != nil {
			p.mu.Lock()
			if p.err == nil {
				p.err = err
			}
			p.mu.Unlock()
		}
	}
}

func (p *places) wait() error {
	if p.work != nil {
		close(p.work)
		p.group.Wait()
		p.work = nil
	}
	err := p.err
	p.err = nil
	return err
}
