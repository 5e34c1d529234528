package vast

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vastgo/vast/internal/atwork"
)

func init() { atwork.Mark((*visits).admit) }

// ErrClosed is what [World.Visit] returns when the world is closed.
var ErrClosed = errors.New("vast: the world is closed")

// visits are what other goroutines want to see of a world.
type visits struct {
	waiting atomic.Int32 // visitors, for Admit to look at without the lock

	mu     sync.Mutex
	queue  []*visitor
	bells  []*bell
	closed bool
}

// visitor is a call of Visit.
type visitor struct {
	look  func() (done bool)
	gone  bool          // it no longer waits; read and written with the lock held
	inner any           // what look panicked with
	err   error         // why look is not called any more
	ended chan struct{} // closed when it will not be called again
}

// bell is a channel that is told of visitors.
type bell struct{ c chan<- struct{} }

// Visit has look called on the goroutine that the world belongs to, between whatever else is done with the world there: at
// the next [World.Admit]. A sched.Schedule admits visitors between its ticks. look may do what the world's owner may, but
// must not take long: it returns false to be called again, in this Admit or a later one, until it returns true. So it looks
// at as much as is done in some tenths of a millisecond, and remembers where it was.
//
// Visit may be called from any goroutine at any time that the owner does not wait for. What the owner calls
// must not call it: a system, a hook, the body of a loop, look itself. They would wait for themselves, and
// can do at once what look would do. Visit panics where it sees that, in a schedule and in look, while no
// other world is at work; elsewhere it waits. It returns nil when look has returned true, the context's error
// when that ends sooner, and [ErrClosed] when the world is closed; look is not running then, and will not be
// called again. It panics with what look panics with.
func (w *World) Visit(ctx context.Context, look func() (done bool)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if atwork.Inside(w) {
		panic(fmt.Sprintf("vast: World.Visit was called by what the owner of world %q is at, such as a system, a hook or a look, "+
			"and would wait for itself: do there what look would do, or call it on a goroutine that the owner does not wait for",
			w.options.Name))
	}
	v := &visitor{look: look, ended: make(chan struct{})}
	if !w.visits.add(v) {
		return ErrClosed
	}
	select {
	case <-v.ended:
	case <-ctx.Done():
		if w.visits.withdraw(v) {
			return ctx.Err()
		}
		<-v.ended // it was in the middle of look
		if v.err == errGone {
			v.err = ctx.Err()
		}
	}
	if v.inner != nil {
		panic(v.inner)
	}
	return v.err
}

// Admit lets those in who wait in [World.Visit], for about so long: it calls them in turn until none is left or the time is
// over, but at least one. It reports whether some still wait. Call it on the goroutine that the world belongs to, where the
// structure may be changed, such as once a tick. Without visitors it costs one look at a number.
func (w *World) Admit(most time.Duration) (more bool) {
	if w.visits.waiting.Load() == 0 {
		return false
	}
	atwork.Enter(w)
	defer atwork.Leave(w)
	return w.visits.admit(most)
}

// NotifyVisits has c sent to, without waiting, whenever somebody begins to wait in [World.Visit], until stop is called: so
// that an owner who has nothing to do wakes up to [World.Admit] them. Give it a channel with room for one.
func (w *World) NotifyVisits(c chan<- struct{}) (stop func()) {
	b := &bell{c}
	v := &w.visits
	v.mu.Lock()
	defer v.mu.Unlock()
	v.bells = append(v.bells, b)
	if len(v.queue) > 0 {
		b.ring()
	}
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		for i := range v.bells {
			if v.bells[i] == b {
				v.bells = append(v.bells[:i:i], v.bells[i+1:]...)
				return
			}
		}
	}
}

func (b *bell) ring() {
	select {
	case b.c <- struct{}{}:
	default: // it rings already
	}
}

// add lets a visitor wait, unless the world is closed.
func (v *visits) add(one *visitor) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return false
	}
	v.queue = append(v.queue, one)
	v.waiting.Add(1)
	for _, b := range v.bells {
		b.ring()
	}
	return true
}

// withdraw takes a visitor out of the queue and reports whether it was there. One whose look is running is not, and will
// not be called again.
func (v *visits) withdraw(one *visitor) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	one.gone = true
	for i, other := range v.queue {
		if other == one {
			v.queue = append(v.queue[:i:i], v.queue[i+1:]...)
			v.waiting.Add(-1)
			return true
		}
	}
	return false
}

func (v *visits) admit(most time.Duration) (more bool) {
	for start := time.Now(); ; {
		one := v.next()
		if one == nil {
			return false
		}
		done := false
		func() {
			defer func() {
				if !done {
					// It panicked, or ended the goroutine: that is the visitor's affair.
					if one.inner = recover(); one.inner == nil {
						one.err = errGoexit
					}
					close(one.ended)
				}
			}()
			finished := one.look()
			done = true
			if finished || !v.again(one) {
				close(one.ended)
			}
		}()
		if time.Since(start) >= most {
			return v.waiting.Load() > 0
		}
	}
}

// errGone is for a visitor that left while it was looking.
var errGone = errors.New("vast: the visitor has gone")

// errGoexit is for a visitor that called runtime.Goexit.
var errGoexit = errors.New("vast: the function given to World.Visit ended the goroutine that called it")

// next takes a visitor out of the queue.
func (v *visits) next() *visitor {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.queue) == 0 {
		return nil
	}
	one := v.queue[0]
	v.queue[0] = nil
	v.queue = v.queue[1:]
	v.waiting.Add(-1)
	return one
}

// again lets a visitor wait once more, unless it has gone or the world was closed.
func (v *visits) again(one *visitor) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if one.gone {
		one.err = errGone
		return false
	}
	if v.closed {
		one.err = ErrClosed
		return false
	}
	v.queue = append(v.queue, one)
	v.waiting.Add(1)
	return true
}

// close sends all visitors away.
func (v *visits) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	for _, one := range v.queue {
		one.err = ErrClosed
		close(one.ended)
	}
	v.queue = nil
	v.waiting.Store(0)
}
