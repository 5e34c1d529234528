package ring

import "sync/atomic"

// ending is the end of the stream: the error that the reader gets after the last byte, and the position of
// the end.
//
// One goroutine may hand bytes over while another ends the stream. Both sides must agree on the order. The
// writer first moves its position and then looks for an ending. The first goroutine that finds an ending
// decides the position of the ending: the writer's position at that moment. A reader that sees a later
// position also sees the ending, which was set before. So all bytes before the end can be read, and the
// writer knows which of its bytes come after the end.
type ending struct {
	err error
	at  atomic.Uint64 // number of bytes before the end, or undecided
}

const undecided = ^uint64(0)

// decided returns the number of bytes before the end.
func (r *Ring) decided(e *ending) uint64 {
	if e.at.Load() == undecided {
		e.at.CompareAndSwap(undecided, r.writer.at.Load())
	}
	return e.at.Load()
}

// written returns the number of bytes handed over since the ring was made.
func (r *Ring) written() uint64 {
	at := r.writer.at.Load()
	if e := r.ended.Load(); e != nil {
		return r.decided(e)
	}
	return at
}

// hand gives n bytes to the reader. It reports false if the stream had ended before.
func (r *Ring) hand(n int) bool {
	s := &r.writer
	r.advance(s, &r.reader, n)
	e := r.ended.Load()
	return e == nil || s.position <= r.decided(e)
}
