package bench

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// lockedRing is a circular buffer with a mutex and two condition variables. It copies data that wraps around
// the end in two parts.
type lockedRing struct {
	mu                 sync.Mutex
	readable, writable sync.Cond
	buffer             []byte
	first, length      int
	ended              bool
}

func newLockedRing(bytes int) *lockedRing {
	r := &lockedRing{buffer: make([]byte, bytes)}
	r.readable.L, r.writable.L = &r.mu, &r.mu
	return r
}

func (r *lockedRing) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	total := len(p)
	for len(p) > 0 {
		for r.length == len(r.buffer) {
			r.writable.Wait()
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
	r.writable.Signal()
	return n, nil
}

func (r *lockedRing) CloseWrite() {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.readable.Signal()
}

// lockFreeRing is a circular buffer for one writer and one reader. The fields of the writer and of the reader
// are on different cache lines. A writer or reader that must wait yields the processor and tries again.
type lockFreeRing struct {
	buffer       []byte
	_            [64]byte
	bytesWritten atomic.Uint64
	readSeen     uint64 // the last value of bytesRead that the writer has loaded
	_            [64]byte
	bytesRead    atomic.Uint64
	writtenSeen  uint64 // the last value of bytesWritten that the reader has loaded
	_            [64]byte
	ended        atomic.Bool
}

// newLockFreeRing makes a ring. bytes must be a power of two.
func newLockFreeRing(bytes int) *lockFreeRing { return &lockFreeRing{buffer: make([]byte, bytes)} }

func (r *lockFreeRing) Write(p []byte) (int, error) {
	total, size := len(p), uint64(len(r.buffer))
	at := r.bytesWritten.Load()
	for len(p) > 0 {
		for at-r.readSeen == size {
			if r.readSeen = r.bytesRead.Load(); at-r.readSeen == size {
				runtime.Gosched()
			}
		}
		n := min(len(p), int(size-(at-r.readSeen)))
		k := copy(r.buffer[at&(size-1):], p[:n])
		copy(r.buffer, p[k:n])
		at += uint64(n)
		r.bytesWritten.Store(at)
		p = p[n:]
	}
	return total, nil
}

func (r *lockFreeRing) Read(p []byte) (int, error) {
	size := uint64(len(r.buffer))
	at := r.bytesRead.Load()
	for r.writtenSeen == at {
		ended := r.ended.Load()
		if r.writtenSeen = r.bytesWritten.Load(); r.writtenSeen == at {
			if ended {
				return 0, io.EOF
			}
			runtime.Gosched()
		}
	}
	n := min(len(p), int(r.writtenSeen-at))
	k := copy(p[:n], r.buffer[at&(size-1):])
	copy(p[k:n], r.buffer)
	r.bytesRead.Store(at + uint64(n))
	return n, nil
}

func (r *lockFreeRing) CloseWrite() { r.ended.Store(true) }
