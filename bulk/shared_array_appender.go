package bulk

import "github.com/vastgo/vast/internal/layout"

// Appender appends to a [SharedArray] for one goroutine. It collects elements in a buffer of its own and puts
// them into the array together, so that goroutines synchronize once per buffer instead of once per element.
//
// Elements in the buffer have no index, and no other goroutine sees them. Call Flush to publish them, at the
// latest when the goroutine ends: an appender that is dropped loses its buffer. Make an appender for each
// goroutine.
type Appender[T any] struct {
	buffer []T // of fixed capacity
	array  *SharedArray[T]
}

// bytesBuffer is the size of an appender's buffer. The buffer holds many elements of usual sizes, and takes a
// small part of the first-level cache.
const bytesBuffer = 8 << 10

// Appender returns a new appender with an empty buffer of 8 KiB, or of one element if that is larger.
func (a *SharedArray[T]) Appender() *Appender[T] {
	a.mustBeOpen()
	return &Appender[T]{buffer: make([]T, 0, max(1, bytesBuffer/layout.Size[T]())), array: a}
}

// Append adds v to the buffer. If the buffer is full, Append flushes it first. If the flush fails, Append
// panics with the [*vm.Error] of [Appender.Flush], and the buffer is unchanged.
func (a *Appender[T]) Append(v T) {
	n := len(a.buffer)
	if n == cap(a.buffer) {
		a.mustFlush()
		n = 0
	}
	a.buffer = a.buffer[:n+1]
	a.buffer[n] = v
}

func (a *Appender[T]) mustFlush() {
	if _, _, err := a.Flush(); err != nil {
		panic(err)
	}
}

// Flush puts the elements of the buffer into the array, side by side in the order in which they were added.
// It returns the index of the first element, and the elements, as [SharedArray.AppendSlice] does. If it
// fails, the elements stay in the buffer, and Flush may be called again.
func (a *Appender[T]) Flush() (index int, elements []T, err error) {
	index, elements, err = a.array.AppendSlice(a.buffer)
	if err == nil {
		a.buffer = a.buffer[:0]
	}
	return index, elements, err
}

// Buffered returns the number of elements in the buffer.
func (a *Appender[T]) Buffered() int { return len(a.buffer) }
