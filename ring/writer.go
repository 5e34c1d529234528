package ring

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Reserve waits until there is room for n bytes and returns the room as one slice, whose content is
// undefined. Fill the slice, then call Commit. The slice is valid until the next call of the writer, or
// Close.
//
// Reserve returns [io.ErrClosedPipe] after Close or CloseWrite, [os.ErrDeadlineExceeded] if there is no room
// at the deadline, or a [*vm.Error] wrapping [vm.ErrCapacity] if n exceeds the ring's capacity. Reserve
// panics when n is negative.
func (r *Ring) Reserve(n int) ([]byte, error) {
	s := &r.writer
	if uint(n) > uint(r.size-int(s.position-s.seen)) {
		s.seen = r.reader.published.Load()
	}
	if uint(n) <= uint(r.size-int(s.position-s.seen)) && !r.over() {
		s.reserved = n
		return r.bytes(s.offset, n)[:n:n], nil
	}
	return r.reserve(context.Background(), n)
}

// ReserveContext is like Reserve, but stops waiting when ctx is done, and returns the context's cause.
func (r *Ring) ReserveContext(ctx context.Context, n int) ([]byte, error) { return r.reserve(ctx, n) }

func (r *Ring) reserve(ctx context.Context, n int) ([]byte, error) {
	if n < 0 {
		panic(fmt.Sprintf("ring: Reserve(%d) on %s: a number of bytes is zero or more", n, r.name))
	}
	r.writer.reserved = 0
	if n > r.size && !r.over() {
		return nil, r.tooLarge("reserve in a ring", n)
	}
	if _, err := r.room(ctx, n, n); err != nil {
		return nil, err
	}
	r.writer.reserved = n
	return r.bytes(r.writer.offset, n)[:n:n], nil
}

// room returns the number of free bytes, which is at least minRoom. If it must wait, it waits until target
// bytes are free, or until minRoom bytes are free and the reader waits too.
func (r *Ring) room(ctx context.Context, minRoom, target int) (int, error) {
	s := &r.writer
	for {
		if r.over() {
			return 0, io.ErrClosedPipe
		}
		if free := r.size - int(s.position-s.seen); free >= minRoom {
			return free, nil
		}
		s.seen = r.reader.published.Load()
		if free := r.size - int(s.position-s.seen); free >= minRoom {
			return free, nil
		}
		full := s.position - uint64(r.size) // the reader's position at which the ring is full
		if err := r.await(ctx, s, &r.reader, full+uint64(minRoom), full+uint64(target)); err != nil {
			return 0, err
		}
	}
}

// Commit hands the first n reserved bytes to the reader and ends the reservation. The bytes are lost if the
// stream has ended or the ring was closed since Reserve. Commit panics when n is negative or larger than the
// reservation.
func (r *Ring) Commit(n int) {
	s := &r.writer
	if uint(n) > uint(s.reserved) || s.busy.Load() {
		r.mustNotCommit(n)
	}
	s.reserved = 0
	// The ring may have been closed since Reserve, and its memory given back.
	if r.copied && r.enter(s) {
		r.mirror.Written(s.offset, n)
		r.leave(s)
	}
	r.advance(s, &r.reader, n)
}

//go:noinline
func (r *Ring) mustNotCommit(n int) {
	if r.writer.busy.Load() {
		r.mustNotBeIn(&r.writer)
	}
	panic(fmt.Sprintf("ring: Commit(%d) on %s, which has %d reserved bytes: call Reserve before each "+
		"Commit, for at least as many bytes", n, r.name, r.writer.reserved))
}

// Write copies p into the ring, and waits while there is no room. p may be larger than the ring. Write
// returns the number of bytes written, and fails as [Ring.Reserve] does.
func (r *Ring) Write(p []byte) (int, error) {
	if !r.enter(&r.writer) {
		return 0, io.ErrClosedPipe
	}
	defer r.leave(&r.writer) // also after a fault while reading p
	total := 0
	for {
		free, err := r.room(context.Background(), min(len(p), 1), min(len(p), r.size/2))
		if err != nil {
			return total, err
		}
		if free < len(p) {
			free = r.allRoom()
		}
		n := copy(r.bytes(r.writer.offset, free), p)
		if !r.put(n) {
			return total, io.ErrClosedPipe
		}
		total += n
		if p = p[n:]; len(p) == 0 {
			return total, nil
		}
	}
}

// allRoom loads the reader's position and returns the number of free bytes.
func (r *Ring) allRoom() int {
	r.writer.seen = r.reader.published.Load()
	return r.size - int(r.writer.position-r.writer.seen)
}

// put hands n bytes to the reader, in a call between enter and leave. It reports whether the bytes come
// before the end of the stream.
func (r *Ring) put(n int) bool {
	if r.copied {
		r.mirror.Written(r.writer.offset, n)
	}
	return r.hand(n)
}

// WriteByte writes one byte as Write does.
func (r *Ring) WriteByte(b byte) error {
	_, err := r.Write([]byte{b})
	return err
}

// maxEmptyReads is the number of consecutive reads without bytes or an error after which ReadFrom fails.
const maxEmptyReads = 100

// ReadFrom fills the ring from src until src ends, without an extra copy. It waits while there is no room,
// and offers src all free room. src must not write to the ring: this panics. ReadFrom does not end the
// stream: see [Ring.CloseWrite].
//
// ReadFrom returns the number of bytes that it handed to the reader. It fails as [Ring.Reserve] does, with
// the error of src, or with [io.ErrNoProgress].
func (r *Ring) ReadFrom(src io.Reader) (total int64, err error) {
	if !r.enter(&r.writer) {
		return 0, io.ErrClosedPipe
	}
	defer r.leave(&r.writer)
	for empty := 0; empty < maxEmptyReads; empty++ {
		if _, err := r.room(context.Background(), 1, r.size/2); err != nil {
			return total, err
		}
		free := r.allRoom()
		n, err := src.Read(r.bytes(r.writer.offset, free)[:free:free])
		if n < 0 || n > free {
			panic(fmt.Sprintf("ring: ReadFrom on %s: the source reports %d bytes read into %d bytes of room",
				r.name, n, free))
		}
		if n > 0 {
			if !r.put(n) {
				return total, io.ErrClosedPipe
			}
			total += int64(n)
			empty = -1
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
	return total, io.ErrNoProgress
}

// CloseWrite ends the stream: the reader gets the remaining bytes, and then [io.EOF]. CloseWrite wakes
// waiting calls. Writes return [io.ErrClosedPipe] after the end. A running Write or ReadFrom also returns the
// number of bytes before the end. Bytes that the source of a ReadFrom returns after the end are lost.
func (r *Ring) CloseWrite() { r.CloseWithError(nil) }

// CloseWithError is [Ring.CloseWrite] with err in place of io.EOF. A nil err stands for io.EOF. Only the
// first call of CloseWrite or CloseWithError has an effect.
func (r *Ring) CloseWithError(err error) {
	if err == nil {
		err = io.EOF
	}
	e := &ending{err: err}
	e.position.Store(undecided)
	r.ended.CompareAndSwap(nil, e)
	r.decided(r.ended.Load()) // later bytes come after the end
	r.writer.rouse()
	r.reader.rouse()
}

// SetWriteDeadline sets the time after which the writer no longer waits. A call that waits or would wait then
// returns [os.ErrDeadlineExceeded]. Bytes that fit can still be written. The zero time removes the deadline.
func (r *Ring) SetWriteDeadline(t time.Time) { r.writer.deadline.set(t) }
