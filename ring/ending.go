package ring

import "sync/atomic"

// ending is the end of the stream.
//
// The writer may hand bytes over while another goroutine ends the stream, but the writer and the reader must
// agree on the position of the end. Therefore the first goroutine that needs this position fixes it, in the
// method decided: it is a published position of the writer, loaded after the ending was found.
//
// The writer publishes its position before it loads the ending. If it finds no ending, its bytes come before
// the end. The reader loads the writer's position before it loads the ending. If the writer's position lies
// after the end, the writer published it after a goroutine had found the ending. So the reader finds the
// ending, too.
type ending struct {
	err      error         // the reader's error after the last byte
	position atomic.Uint64 // number of bytes before the end, or undecided
}

const undecided = ^uint64(0)

// decided returns the number of bytes before the end. The first call fixes this number.
func (r *Ring) decided(e *ending) uint64 {
	if e.position.Load() == undecided {
		e.position.CompareAndSwap(undecided, r.writer.published.Load())
	}
	return e.position.Load()
}

// written returns the number of bytes that were handed over before the end of the stream.
func (r *Ring) written() uint64 {
	position := r.writer.published.Load()
	if e := r.ended.Load(); e != nil {
		return r.decided(e)
	}
	return position
}

// hand gives n bytes to the reader. It reports whether the bytes come before the end of the stream.
func (r *Ring) hand(n int) bool {
	s := &r.writer
	r.advance(s, &r.reader, n)
	e := r.ended.Load()
	return e == nil || s.position <= r.decided(e)
}
