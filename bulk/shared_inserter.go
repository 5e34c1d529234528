package bulk

import "runtime"

// Inserter inserts into a [SharedPool] for one goroutine. It takes slots from a line that others do not look at, so that
// goroutines write to cache lines of their own, and the elements that one of them inserts lie together.
//
// An inserter keeps nothing from others: its free slots are found when there are no others. Make one for each goroutine;
// Close it when the goroutine ends.
type Inserter[T any] struct {
	pool *SharedPool[T]
	hint insertHint
}

// Inserter returns a new inserter, which has no line yet.
func (p *SharedPool[T]) Inserter() *Inserter[T] {
	p.mustBeOpen()
	return &Inserter[T]{pool: p}
}

// Insert is [SharedPool.Insert].
func (in *Inserter[T]) Insert(v T) (Handle[T], *T) {
	for {
		if h, e := in.pool.insert(&in.hint, &v); e != nil {
			return h, e
		}
		runtime.Gosched() // another goroutine takes a slot of this line because there are no others
	}
}

// Close offers the rest of the inserter's line to others. Inserting takes another line then.
func (in *Inserter[T]) Close() {
	if l := in.hint.line.Swap(0); l != 0 && in.pool.ended == nil {
		l := uint(l - 1)
		in.pool.list(in.pool.chunk(l*slotsPerLine), l)
	}
}
