package store

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/state"
)

// stage is memory that takes a copy of a world at one moment, so that the world can go on while the copy is
// written to a file. A stage is used again for each checkpoint.
type stage struct {
	memory *bulk.Array[byte]
	blocks []staged
	total  int // bytes that the blocks have in memory
}

// staged is a block of the copy. Its bytes lie in the stage's memory, or in own.
type staged struct {
	block
	own   []byte
	at, n int          // bytes in the stage's memory
	array *state.Array // until the bytes are copied
	whole bool
}

// copyOf copies a world. The copy is valid until the next call.
func (s *stage) copyOf(p *picture) error {
	s.blocks, s.total = s.blocks[:0], 0
	if err := p.write(s); err != nil {
		return err
	}
	if s.memory == nil {
		var err error
		if s.memory, err = bulk.NewArray[byte](bulk.Options{Name: "checkpoint"}); err != nil {
			return err
		}
	}
	if more := s.total - s.memory.Len(); more > 0 {
		if _, err := s.memory.AppendN(more); err != nil {
			return err
		}
	}
	memory := s.memory.Slice()
	parallel(len(s.blocks), func(i int) {
		b := &s.blocks[i]
		if b.array == nil {
			return
		}
		to := memory[b.at : b.at+b.n]
		copy(to, b.array.Bytes(int(b.first), int(b.first+b.count)))
		if !b.whole {
			clearOthers(to, b.array, int(b.first))
		}
		b.array = nil
	})
	return nil
}

// write is the method of a sink.
func (s *stage) write(b block, bytes []byte) error {
	s.blocks = append(s.blocks, staged{block: b, own: slices.Clone(bytes)})
	return nil
}

// elements is the method of a sink. The bytes are copied later, by all processors.
func (s *stage) elements(b block, a *state.Array, whole bool) error {
	n := int(b.count) * int(a.Type.Size())
	s.blocks = append(s.blocks, staged{block: b, at: s.total, n: n, array: a, whole: whole})
	s.total += n
	return nil
}

// writeTo writes the copy as the blocks of a file.
func (s *stage) writeTo(out *blockWriter) error {
	for i := range s.blocks {
		b := &s.blocks[i]
		bytes := b.own
		if bytes == nil && b.n > 0 {
			bytes = s.memory.Slice()[b.at : b.at+b.n]
		}
		if err := out.write(b.block, bytes); err != nil {
			return err
		}
	}
	return out.close()
}

// close gives the memory back.
func (s *stage) close() error {
	if s.memory == nil {
		return nil
	}
	return s.memory.Close()
}

// parallel calls f for each i below n, on as many goroutines as there are processors.
func parallel(n int, f func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers < 2 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	group.Wait()
}
