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

// ErrClosed is the error of [World.Visit] if the world is closed.
var ErrClosed = errors.New("vast: the world is closed")

// visits are the waiting calls of Visit, and the channels of NotifyVisits.
type visits struct {
	waiting atomic.Int32 // length of queue, for reads without the lock

	mu     sync.Mutex
	queue  []*visitor
	bells  []*bell
	closed bool
}

// visitor is a call of Visit.
type visitor struct {
	look  func() (done bool) // the function given to Visit
	gone  bool               // Visit's context has ended; guarded by visits.mu
	inner any                // the value with which look panicked
	err   error              // the result of Visit
	ended chan struct{}      // closed when look will not be called again
}

// bell is a channel of NotifyVisits.
type bell struct{ c chan<- struct{} }

// Visit calls f on the goroutine that owns the world, during the next [World.Admit]. Visit returns when f has
// returned true. A sched.Schedule calls Admit between its ticks. f may do everything that the world's owner
// may do, but must not take long. For long work, f works for some tenths of a millisecond, stores its
// progress, and returns false. The current Admit or a later Admit calls f again, until f returns true.
//
// Visit may be called at any time, on any goroutine for which the owner does not wait. Code that the owner
// runs (a system, a hook, the body of a loop, or f itself) must not call Visit, because the call would wait
// for itself. This code can do the work of f directly. Visit detects this mistake and panics if a schedule or
// f runs this code, and no other world is in a tick or in Admit. Otherwise the call waits until its context
// ends.
//
// Visit returns nil if f has returned true, the context's error if the context ends first, [ErrClosed] if the
// world is closed, and another error if f ends its goroutine. When Visit returns, f is not running and will
// not be called again. If f panics, Visit panics with f's value.
func (w *World) Visit(ctx context.Context, f func() (done bool)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if atwork.Inside(w) {
		panic(fmt.Sprintf("vast: World.Visit was called by code that the owner of world %q runs, such as a "+
			"system, a hook or a visitor, so the call would wait for itself: do the work directly, or call "+
			"Visit on a goroutine that the owner does not wait for", w.options.Name))
	}
	v := &visitor{look: f, ended: make(chan struct{})}
	if !w.visits.add(v) {
		return ErrClosed
	}
	select {
	case <-v.ended:
	case <-ctx.Done():
		if w.visits.withdraw(v) {
			return ctx.Err()
		}
		<-v.ended // f is running
		if v.err == errGone {
			v.err = ctx.Err()
		}
	}
	if v.inner != nil {
		panic(v.inner)
	}
	return v.err
}

// Admit calls the functions that wait in [World.Visit], in turn, until no function waits or the given time is
// over. It calls at least one waiting function, and reports whether functions still wait. Call Admit on the
// goroutine that owns the world, at a point where the world's structure may change, for example once a tick.
// Without visitors, Admit costs one atomic load.
func (w *World) Admit(most time.Duration) (more bool) {
	if w.visits.waiting.Load() == 0 {
		return false
	}
	w.settled()
	atwork.Enter(w)
	defer atwork.Leave(w)
	return w.visits.admit(most)
}

// NotifyVisits makes each call of [World.Visit] send to c, without blocking, when the call begins to wait. If
// a call waits already, NotifyVisits also sends to c. The function stop ends these notifications. An idle
// owner receives from c to wake up and call [World.Admit]. Give c a buffer for one value.
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
	default:
	}
}

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

// withdraw removes a visitor from the queue, and reports whether the visitor was in the queue. If the
// visitor's look is running, the visitor is not in the queue, and withdraw prevents further calls of look.
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
					// recover returns nil if look has called runtime.Goexit.
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

// errGone is the error of a visitor whose context ended while its look was running.
var errGone = errors.New("vast: the visitor has gone")

// errGoexit is the error of a visitor whose look called runtime.Goexit.
var errGoexit = errors.New("vast: the function given to World.Visit ended the goroutine that called it")

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

// again queues a visitor once more if its context has not ended and the world is open, and reports whether it
// queued the visitor.
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
