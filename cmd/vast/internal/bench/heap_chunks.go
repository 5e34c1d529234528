package bench

import "slices"

// chunkList is an allocator as programs without one of pages have it: memory is cut off at the end of what is in use, and
// what is freed goes into a list of chunks, sorted and joined, of which the first that is long enough is taken.
type chunkList struct {
	memory []byte
	used   int
	free   []chunk
}

type chunk struct{ at, n int }

func (l *chunkList) alloc(n int) int {
	for i := range l.free {
		if c := &l.free[i]; c.n >= n {
			at := c.at
			if c.at, c.n = c.at+n, c.n-n; c.n == 0 {
				l.free = slices.Delete(l.free, i, i+1)
			}
			return at
		}
	}
	at := l.used
	l.used += n
	return at
}

func (l *chunkList) release(at, n int) {
	i, _ := slices.BinarySearchFunc(l.free, at, func(c chunk, at int) int { return c.at - at })
	if i < len(l.free) && at+n == l.free[i].at {
		n += l.free[i].n
		l.free = slices.Delete(l.free, i, i+1)
	}
	if i > 0 && l.free[i-1].at+l.free[i-1].n == at {
		l.free[i-1].n += n
		return
	}
	l.free = slices.Insert(l.free, i, chunk{at, n})
}
