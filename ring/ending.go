package ring

import "sync/atomic"

// ending is what the reader gets behind the last byte.
//
// Bytes may be handed over while another goroutine ends the stream, and both sides must agree which of the
// two came first. The writer moves its position and looks then whether there is an ending; where there is
// one, the position at which the stream ends is decided once, by whoever comes first, as where the writer is
// at that moment. A reader that sees a later position sees the ending too, because that was there before. So
// what is before the end can be read, and the writer knows of what is behind it that nobody reads it.
type ending struct {
	err error
	at  atomic.Uint64 // how many bytes come before it, or undecided
}

const undecided = ^uint64(0)

// decided returns how many bytes come before the end.
func (r *Ring) decided(e *ending) uint64 {
	if e.at.Load() == undecided {
		e.at.CompareAndSwap(undecided, r.writer.at.Load())
	}
	return e.at.Load()
}

// written returns how many bytes were handed over since the ring was made.
func (r *Ring) written() uint64 {
	at := r.writer.at.Load()
	if e := r.ended.Load(); e != nil {
		return r.decided(e)
	}
	return at
}

// hand gives n bytes to the reader, and reports whether it did: not where the stream was ended before.
func (r *Ring) hand(n int) bool {
	s := &r.writer
	r.advance(s, &r.reader, n)
	e := r.ended.Load()
	return e == nil || s.position <= r.decided(e)
}
