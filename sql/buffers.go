package vastsql

import (
	"slices"
	"sync"
	"unsafe"
)

// buffers keeps the memory of copies for later statements, because the first write to a page of new memory
// takes longer than the copy of a page.
type buffers struct {
	mu   sync.Mutex
	free [][]uint64
	kept int // bytes in free
	most int // limit of kept
}

// lease is the memory that one statement has taken.
type lease struct {
	from  *buffers
	taken [][]uint64
}

// take returns n bytes of arbitrary content, aligned to 8 bytes.
func (l *lease) take(n int) unsafe.Pointer {
	if n == 0 {
		return nil
	}
	b := l.from.take((n + 7) / 8)
	l.taken = append(l.taken, b)
	return unsafe.Pointer(unsafe.SliceData(b))
}

// release gives the memory back. The memory must no longer be used.
func (l *lease) release() {
	for _, b := range l.taken {
		l.from.give(b)
	}
	l.taken = nil
}

// take returns a kept buffer of n to 2n words, or a new buffer of n words.
func (s *buffers) take(n int) []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	best := -1
	for i, b := range s.free {
		if len(b) >= n && len(b) <= 2*n && (best < 0 || len(b) < len(s.free[best])) {
			best = i
		}
	}
	if best < 0 {
		return make([]uint64, n)
	}
	b := s.free[best]
	s.free = slices.Delete(s.free, best, best+1)
	s.kept -= 8 * len(b)
	return b
}

func (s *buffers) give(b []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if 8*len(b) > s.most {
		return
	}
	for s.kept+8*len(b) > s.most {
		s.kept -= 8 * len(s.free[0])
		s.free = slices.Delete(s.free, 0, 1)
	}
	s.free = append(s.free, b)
	s.kept += 8 * len(b)
}
