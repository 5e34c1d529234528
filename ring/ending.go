package ring

import "sync/atomic"

// ending is the end of the stream: the error that the reader gets after the last byte, and the position of
// the end.
//
// One goroutine may hand bytes over while another ends the stream. The writer and the reader must agree which
// bytes come before the end. To hand bytes over, the writer first stores its position and then loads the
// ending. The first
// goroutine that loads an ending fixes the position of the end: the writer's position at that moment. If the
// reader loads a position behind the end, it then also loads the ending, because the ending was stored first.
// So the reader gets all bytes before the end, and the writer can determine which of its bytes come after the
// end.
type ending struct {
	err error
	at  atomic.Uint64 // number of bytes before the end, or undecided
}

const undecided = ^uint64(0)

// decided returns the number of bytes before the end. The first call fixes this number.
func (r *Ring) decided(e *ending) uint64 {
	if e.at.Load() == undecided {
		e.at.CompareAndSwap(undecided, r.writer.at.Load())
	}
	return e.at.Load()
}

// written returns the number of bytes that were handed over. Bytes after the end of the stream do not count.
func (r *Ring) written() uint64 {
	at := r.writer.at.Load()
	if e := r.ended.Load(); e != nil {
		return r.decided(e)
	}
	return at
}

// hand gives n bytes to the reader. It reports whether the bytes come before the end of the stream.
func (r *Ring) hand(n int) bool {
	s := &r.writer
	r.advance(s, &r.reader, n)
	e := r.ended.Load()
	return e == nil || s.position <= r.decided(e)
}
