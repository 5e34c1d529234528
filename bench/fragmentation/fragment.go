package main

import (
	"errors"
	"runtime"

	"github.com/vastgo/vast/heap"
	"github.com/vastgo/vast/internal/measure"
	"modernc.org/memory"
)

type allocator interface {
	alloc(n int) ([]byte, error)
	free(b []byte) error
	close() error
}

type namedAllocator struct {
	name string
	open func() (allocator, error)
}

var allocators = []namedAllocator{
	{"vast/heap", openHeap},
	{"modernc.org/memory", func() (allocator, error) { return &modernc{}, nil }},
	{"go", func() (allocator, error) { return collected{}, nil }},
}

type offHeap struct{ *heap.Heap }

func openHeap() (allocator, error) {
	h, err := heap.New(heap.Options{})
	return offHeap{h}, err
}

func (h offHeap) alloc(n int) ([]byte, error) { return heap.AllocSlice[byte](h.Heap, n, n) }

func (h offHeap) free(b []byte) error {
	heap.FreeSlice(h.Heap, b)
	return nil
}

func (h offHeap) close() error { return h.Close() }

// modernc is a C-style allocator. It takes pieces of 64 KiB or more from the system and divides them into
// blocks.
type modernc struct{ memory.Allocator }

func (m *modernc) alloc(n int) ([]byte, error) { return m.Malloc(n) }

func (m *modernc) free(b []byte) error { return m.Free(b) }

func (m *modernc) close() error { return m.Close() }

// collected is Go's heap. The garbage collector frees its blocks.
type collected struct{}

func (collected) alloc(n int) ([]byte, error) { return make([]byte, n), nil }

func (collected) free([]byte) error { return nil }

func (collected) close() error { return nil }

// fragment allocates count blocks of size bytes, frees every second block, and makes one allocation of half
// of all bytes. After each of these three steps, it measures by how much resident memory has grown since the
// start.
func fragment(a namedAllocator, count, size int) (r row, err error) {
	measure.Settle()
	before, err := measure.Resident()
	if err != nil {
		return r, err
	}
	now := func() int {
		n, e := measure.Resident()
		err = errors.Join(err, e)
		return n - before
	}
	m, err := a.open()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	blocks := make([][]byte, count)
	for i := range blocks {
		if blocks[i], err = m.alloc(size); err != nil {
			return r, err
		}
		write(blocks[i])
	}
	r = row{Allocator: a.name, Allocated: now()}
	for i := 0; i < len(blocks); i += 2 {
		if err := m.free(blocks[i]); err != nil {
			return r, err
		}
		blocks[i] = nil
	}
	runtime.GC()
	r.Freed = now()
	large, e := m.alloc(count / 2 * size)
	if e != nil {
		return r, e
	}
	write(large)
	r.Large = now()
	for i := 1; i < len(blocks); i += 2 {
		if blocks[i][0] != 1 {
			return r, errors.New("the contents of a block have changed")
		}
	}
	runtime.KeepAlive(large)
	return r, err
}

//go:noinline
func write(b []byte) {
	for i := 0; i < len(b); i += 1 << 10 {
		b[i] = 1
	}
}
