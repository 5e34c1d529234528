package bench

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// lockedRing is the usual circular buffer: a mutex, two condition variables, and copies in two parts.
type lockedRing struct {
	mu              sync.Mutex
	readable, empty sync.Cond
	buffer          []byte
	first, length   int
	ended           bool
}

func newLockedRing(bytes int) *lockedRing {
	r := &lockedRing{buffer: make([]byte, bytes)}
	r.readable.L, r.empty.L = &r.mu, &r.mu
	return r
}

func (r *lockedRing) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	total := len(p)
	for len(p) > 0 {
		for r.length == len(r.buffer) {
			r.empty.Wait()
		}
		n := min(len(p), len(r.buffer)-r.length)
		at := (r.first + r.length) % len(r.buffer)
		k := copy(r.buffer[at:], p[:n])
		copy(r.buffer, p[k:n])
		r.length += n
		p = p[n:]
		r.readable.Signal()
	}
	return total, nil
}

func (r *lockedRing) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.length == 0 {
		if r.ended {
			return 0, io.EOF
		}
		r.readable.Wait()
	}
	n := min(len(p), r.length)
	k := copy(p[:n], r.buffer[r.first:])
	copy(p[k:n], r.buffer)
	r.first = (r.first + n) % len(r.buffer)
	r.length -= n
	r.empty.Signal()
	return n, nil
}

func (r *lockedRing) CloseWrite() {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.readable.Signal()
}

// lockFreeRing is a circular buffer between one writer and one reader. It has two positions, each on its own
// cache line, and copies in two parts. A writer or reader that must wait yields and tries again.
type lockFreeRing struct {
	buffer  []byte
	_       [64]byte
	written atomic.Uint64
	read0   uint64 // the value of read that the writer last loaded
	_       [64]byte
	read    atomic.Uint64
	wrote0  uint64 // the value of written that the reader last loaded
	_       [64]byte
	ended   atomic.Bool
}

// newLockFreeRing makes a ring of a size that must be a power of two, so that positions become offsets
// without a division.
func newLockFreeRing(bytes int) *lockFreeRing { return &lockFreeRing{buffer: make([]byte, bytes)} }

func (r *lockFreeRing) Write(p []byte) (int, error) {
	total, size := len(p), uint64(len(r.buffer))
	at := r.written.Load()
	for len(p) > 0 {
		for at-r.read0 == size {
			if r.read0 = r.read.Load(); at-r.read0 == size {
				runtime.Gosched()
			}
		}
		n := min(len(p), int(size-(at-r.read0)))
		k := copy(r.buffer[at&(size-1):], p[:n])
		copy(r.buffer, p[k:n])
		at += uint64(n)
		r.written.Store(at)
		p = p[n:]
	}
	return total, nil
}

func (r *lockFreeRing) Read(p []byte) (int, error) {
	size := uint64(len(r.buffer))
	at := r.read.Load()
	for r.wrote0 == at {
		ended := r.ended.Load()
		if r.wrote0 = r.written.Load(); r.wrote0 == at {
			if ended {
				return 0, io.EOF
			}
			runtime.Gosched()
		}
	}
	n := min(len(p), int(r.wrote0-at))
	k := copy(p[:n], r.buffer[at&(size-1):])
	copy(p[k:n], r.buffer)
	r.read.Store(at + uint64(n))
	return n, nil
}

func (r *lockFreeRing) CloseWrite() { r.ended.Store(true) }
