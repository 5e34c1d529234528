package ring

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Reserve waits until there is room for n bytes and returns it, as one slice, to be filled and then
// committed. What it holds is undefined. The slice is good until Commit, the next call of Reserve, Write or
// ReadFrom, or Close.
//
// It returns [io.ErrClosedPipe] after Close or CloseWrite, [os.ErrDeadlineExceeded], or a [*vm.Error]
// wrapping [vm.ErrCapacity] where n is more than the ring holds. It panics when n is negative.
func (r *Ring) Reserve(n int) ([]byte, error) {
	s := &r.writer
	if uint(n) > uint(r.size-int(s.position-s.seen)) {
		s.seen = r.reader.at.Load()
	}
	if uint(n) <= uint(r.size-int(s.position-s.seen)) && !r.over() {
		s.reserved = n
		return r.bytes(s.offset, n)[:n:n], nil
	}
	return r.reserve(context.Background(), n)
}

// ReserveContext is Reserve that stops waiting when ctx is done, with the cause of that as error.
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

// room waits until there is room for least bytes, and for enough unless the reader sleeps, and returns how much there is.
func (r *Ring) room(ctx context.Context, least, enough int) (int, error) {
	s := &r.writer
	for {
		if r.over() {
			return 0, io.ErrClosedPipe
		}
		if free := r.size - int(s.position-s.seen); free >= least {
			return free, nil
		}
		s.seen = r.reader.at.Load()
		if free := r.size - int(s.position-s.seen); free >= least {
			return free, nil
		}
		empty := s.position - uint64(r.size) // the reader's position at which there would be no room
		if err := r.await(ctx, s, &r.reader, empty+uint64(least), empty+uint64(enough)); err != nil {
			return 0, err
		}
	}
}

// Commit hands the first n bytes of what Reserve returned to the reader. The rest is not reserved any more.
// Nothing is handed over where the stream was ended or the ring closed since. It panics when n is more than
// was reserved, or negative.
func (r *Ring) Commit(n int) {
	s := &r.writer
	if uint(n) > uint(s.reserved) || s.busy.Load() {
		r.mustNotCommit(n)
	}
	s.reserved = 0
	// The ring may be closed by now, and the memory gone.
	if r.copied && r.enter(s) {
		r.mirror.Written(s.offset, n)
		r.leave(s)
	}
	r.advance(s, &r.reader, n) // where the stream was ended meanwhile, behind its end
}

// mustNotCommit panics because there is no reservation of n bytes.
//
//go:noinline
func (r *Ring) mustNotCommit(n int) {
	if r.writer.busy.Load() {
		r.mustNotBeIn(&r.writer)
	}
	panic(fmt.Sprintf("ring: Commit(%d) on %s, of which %d bytes are reserved: Reserve comes before each Commit",
		n, r.name, r.writer.reserved))
}

// Write copies p into the ring and waits for room where there is none; p may be larger than the ring. It fails as
// [Ring.Reserve] does, and returns how many bytes it has written.
func (r *Ring) Write(p []byte) (int, error) {
	if !r.enter(&r.writer) {
		return 0, io.ErrClosedPipe
	}
	defer r.leave(&r.writer) // also where p cannot be read
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

// allRoom looks anew for how many bytes there is room.
func (r *Ring) allRoom() int {
	r.writer.seen = r.reader.at.Load()
	return r.size - int(r.writer.position-r.writer.seen)
}

// put is hand within a call that has entered.
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

// mostEmptyReads is how often in a row a source may give no bytes and no error.
const mostEmptyReads = 100

// ReadFrom fills the ring from src, without a copy of its own, until src ends; it returns how many bytes
// came. It waits for room where there is none, and gives src all the room there is. It does not end the ring:
// see [Ring.CloseWrite]. Writing to the ring panics while src is called. It fails as [Ring.Reserve] does,
// with the error of src, or with [io.ErrNoProgress].
func (r *Ring) ReadFrom(src io.Reader) (total int64, err error) {
	if !r.enter(&r.writer) {
		return 0, io.ErrClosedPipe
	}
	defer r.leave(&r.writer)
	for empty := 0; empty < mostEmptyReads; empty++ {
		if _, err := r.room(context.Background(), 1, r.size/2); err != nil {
			return total, err
		}
		free := r.allRoom()
		n, err := src.Read(r.bytes(r.writer.offset, free)[:free:free])
		if n < 0 || n > free {
			panic(fmt.Sprintf("ring: ReadFrom on %s: the source says that it read %d bytes into %d", r.name, n, free))
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

// CloseWrite says that nothing more will be written: the reader gets what was handed over before, then io.EOF
// for good. A writer that waits is woken, and writing returns [io.ErrClosedPipe] from then on. A Write or
// ReadFrom that is under way returns how many bytes came before the end; what a source has given after it is
// lost.
func (r *Ring) CloseWrite() { r.CloseWithError(nil) }

// CloseWithError is CloseWrite with what the reader gets in place of io.EOF: why nothing more comes. The first call
// counts; nil stands for io.EOF.
func (r *Ring) CloseWithError(err error) {
	if err == nil {
		err = io.EOF
	}
	e := &ending{err: err}
	e.at.Store(undecided)
	r.ended.CompareAndSwap(nil, e)
	r.decided(r.ended.Load()) // so that nothing that is handed over from now on comes before the end
	r.writer.rouse()
	r.reader.rouse()
}

// SetWriteDeadline sets the time from which on the writer does not wait: a call that would wait, or does, returns
// [os.ErrDeadlineExceeded]. What there is room for can be written all the same. The zero time is no deadline.
func (r *Ring) SetWriteDeadline(t time.Time) { r.writer.deadline.set(t) }
