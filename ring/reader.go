package ring

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/vastgo/vast/internal/invariants"
)

// Peek waits until there are n bytes to read and returns them in place, as one slice. The bytes stay in the
// ring. The slice is read-only, and valid until its bytes are discarded or the ring is closed. Peek(r.Len())
// returns all bytes. n may be an unchecked length from a message, but Peek panics when n is negative.
//
// If fewer than n bytes are left at the end of the stream, Peek returns them with [io.ErrUnexpectedEOF], or
// [io.EOF] if no byte is left. If [Ring.CloseWithError] ended the stream with an error, Peek returns this
// error instead.
//
// Other errors come without bytes: [io.ErrClosedPipe] after Close, [os.ErrDeadlineExceeded] after the
// deadline, or a [*vm.Error] wrapping [vm.ErrCapacity] if n exceeds the ring's capacity.
func (r *Ring) Peek(n int) ([]byte, error) {
	s := &r.reader
	if uint(n) > uint(s.seen-s.position) {
		s.seen = r.written()
	}
	if uint(n) <= uint(s.seen-s.position) && !r.closed.Load() {
		return r.bytes(s.offset, n)[:n:n], nil
	}
	return r.peek(context.Background(), n)
}

// PeekContext is like Peek, but stops waiting when ctx is done, and returns the context's cause.
func (r *Ring) PeekContext(ctx context.Context, n int) ([]byte, error) { return r.peek(ctx, n) }

func (r *Ring) peek(ctx context.Context, n int) ([]byte, error) {
	if n < 0 {
		panic(fmt.Sprintf("ring: Peek(%d) on %s: a number of bytes is zero or more", n, r.name))
	}
	if n > r.size && !r.closed.Load() {
		return nil, r.tooLarge("peek", n)
	}
	have, err := r.readable(ctx, n)
	if err != nil && have == 0 {
		return nil, err
	}
	n = min(n, have)
	return r.bytes(r.reader.offset, n)[:n:n], err
}

// readable waits until there are n bytes to read. It returns the number of bytes that the reader knows of, at
// least n; there may be more. If the stream ends earlier, it returns the number of remaining bytes and an
// error. With any other error it returns 0.
func (r *Ring) readable(ctx context.Context, n int) (have int, err error) {
	s := &r.reader
	for {
		if r.closed.Load() {
			return 0, io.ErrClosedPipe
		}
		if have := int(s.seen - s.position); have >= n {
			return have, nil
		}
		// The end is loaded first: if it is not nil, written returns the final number of bytes.
		end := r.ended.Load()
		s.seen = r.written()
		if have := int(s.seen - s.position); have >= n || end != nil {
			switch {
			case have >= n:
				return have, nil
			case have > 0 && end.err == io.EOF:
				return have, io.ErrUnexpectedEOF
			}
			return have, end.err
		}
		target := s.position + uint64(n)
		if err := r.await(ctx, s, &r.writer, target, target); err != nil {
			return 0, err
		}
	}
}

// Discard removes the first n bytes, so that their room can be written again. It panics when the ring holds
// fewer than n bytes, when n is negative, and in the middle of a Read or WriteTo.
func (r *Ring) Discard(n int) {
	s := &r.reader
	if uint(n) > uint(s.seen-s.position) || s.busy.Load() {
		r.mustHold(n)
	}
	if invariants.Enabled && r.enter(s) {
		r.poison(n)
		r.leave(s)
	}
	r.advance(s, &r.writer, n)
}

//go:noinline
func (r *Ring) mustHold(n int) {
	if r.reader.busy.Load() {
		r.mustNotBeIn(&r.reader)
	}
	if have := r.all(); uint(n) > uint(have) {
		panic(fmt.Sprintf("ring: Discard(%d) on %s, which holds %d bytes: discard at most the bytes "+
			"that Peek returned", n, r.name, have))
	}
}

func (r *Ring) poison(n int) {
	invariants.Poison(r.bytes(r.reader.offset, n))
	r.mirror.Written(r.reader.offset, n)
}

// Read waits until there is a byte to read, and moves at most len(p) bytes to p. It fails as [Ring.Peek] does
// for one byte. If p is empty, Read does not wait and returns 0.
func (r *Ring) Read(p []byte) (int, error) {
	if !r.enter(&r.reader) {
		return 0, io.ErrClosedPipe
	}
	defer r.leave(&r.reader) // also after a memory fault of p
	if len(p) == 0 {
		return 0, nil
	}
	have, err := r.readable(context.Background(), 1)
	if err != nil {
		return 0, err
	}
	if have < len(p) {
		have = r.all()
	}
	n := copy(p, r.bytes(r.reader.offset, have))
	r.take(n)
	return n, nil
}

// all loads the writer's position and returns the number of bytes to read.
func (r *Ring) all() int {
	r.reader.seen = r.written()
	return int(r.reader.seen - r.reader.position)
}

// take discards n bytes, in a call between enter and leave.
func (r *Ring) take(n int) {
	if invariants.Enabled {
		r.poison(n)
	}
	r.advance(&r.reader, &r.writer, n)
}

// ReadByte reads one byte as Read does.
func (r *Ring) ReadByte() (byte, error) {
	var b [1]byte
	_, err := r.Read(b[:])
	return b[0], err
}

// WriteTo moves all bytes to w until the end of the stream. Each call of w.Write gets all bytes in the ring.
// w.Write must not keep its slice. If it calls Read, ReadByte, WriteTo or Discard, that call panics.
//
// WriteTo returns the number of bytes that w has taken. Its error is nil at the end of the stream. Otherwise
// it fails as [Ring.Read] does, or with the error of w, or with [io.ErrShortWrite] if w takes only a part of
// the bytes without an error.
func (r *Ring) WriteTo(w io.Writer) (total int64, err error) {
	if !r.enter(&r.reader) {
		return 0, io.ErrClosedPipe
	}
	defer r.leave(&r.reader)
	for {
		_, err := r.readable(context.Background(), 1)
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		have := r.all()
		n, err := w.Write(r.bytes(r.reader.offset, have)[:have:have])
		if n < 0 || n > have {
			panic(fmt.Sprintf("ring: WriteTo on %s: the destination reports that it took %d of %d bytes",
				r.name, n, have))
		}
		r.take(n)
		total += int64(n)
		if err == nil && n < have {
			err = io.ErrShortWrite
		}
		if err != nil {
			return total, err
		}
	}
}

// SetReadDeadline sets the time after which the reader no longer waits. After that time, a call that waits
// or would wait returns [os.ErrDeadlineExceeded]. Bytes in the ring can still be read. The zero time removes
// the deadline.
func (r *Ring) SetReadDeadline(t time.Time) { r.reader.deadline.set(t) }
