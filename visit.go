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

func init() { atwork.Mark((*visits).call) }

// ErrClosed is the error of [World.Visit] if the world is closed.
var ErrClosed = errors.New("vast: the world is closed")

// visits are the waiting calls of Visit.
type visits struct {
	waiting atomic.Int32 // length of queue, for reads without the lock

	mu     sync.Mutex
	queue  []*visitor
	closed bool
	idle   bool      // whether the owner is in Idle
	inside bool      // whether a visitor runs its function on its own goroutine
	left   sync.Cond // signals to Idle that inside is false
}

// visitor is a call of Visit that waits.
type visitor struct {
	ctx   context.Context    // the context given to Visit
	look  func() (done bool) // the function given to Visit
	inner any                // the value with which look panicked
	err   error              // the result of Visit
	ended chan struct{}      // closed when Admit will not call look again
	enter chan struct{}      // receives an invitation, which may be out of date: see admitted
}

// Visit runs f while the owner of the world is in [World.Admit] or [World.Idle]. Admit calls f on the owner's
// goroutine. During Idle, Visit calls f on the goroutine of Visit. A sched.Schedule admits visitors between
// its ticks. Visit returns when f has returned true. f may do everything that the world's owner may do, but
// must not take long. For long work, f works for some tenths of a millisecond, stores its progress, and
// returns false. f is then called again, until f returns true.
//
// Any goroutine may call Visit at any time, unless the owner waits for the goroutine. Code that the owner
// runs (a system, a hook, the body of a loop, or f itself) must not call Visit, because the call would wait
// for itself. Such code can do the work of f directly. Visit panics if a schedule or a visitor's function
// runs such code, unless another world is in a tick or runs a visitor's function. In other cases, Visit does
// not detect the mistake, and waits until the context ends.
//
// Visit returns nil if f has returned true, the context's error if the context ends first, [ErrClosed] if the
// world is closed, and another error if Admit calls f and f ends the goroutine of Admit. When Visit returns,
// f is not running and will not be called again. If f panics, Visit panics with the same value.
func (w *World) Visit(ctx context.Context, f func() (done bool)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if atwork.Inside(w) {
		panic(fmt.Sprintf("vast: World.Visit was called by code that the owner of world %q runs, such as a "+
			"system, a hook or a visitor, so the call would wait for itself: do the work directly, or call "+
			"Visit on a goroutine that the owner does not wait for", w.options.Name))
	}
	for {
		v, err := w.visits.add(ctx, f)
		if err != nil {
			return err
		}
		if v != nil {
			inside, err := w.visits.wait(v)
			if !inside {
				return err
			}
		}
		if done := w.lookInside(f); done {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// lookInside calls f on the goroutine of a visitor that is inside.
func (w *World) lookInside(f func() (done bool)) (done bool) {
	atwork.Enter(w)
	defer func() {
		atwork.Leave(w)
		w.visits.leave()
	}()
	w.settled()
	return w.visits.call(f)
}

// Idle calls wait, and lets visitors in until wait returns. Meanwhile, each call of [World.Visit] runs its
// function on its own goroutine, one function at a time. Idle returns when wait and the last function have
// returned. Use Idle when the owner waits, for example for the next tick. Before wait, Idle calls one waiting
// function, as Admit(0) does. Call Idle on the goroutine that owns the world, at a point where the world's
// structure may change. wait must not use the world.
func (w *World) Idle(wait func()) {
	w.Admit(0)
	v := &w.visits
	v.open()
	defer v.shut()
	wait()
}

// Admit calls the functions that wait in [World.Visit], in turn, until no function waits or the given time is
// over. Admit calls at least one waiting function, and reports whether functions still wait. Call Admit on
// the goroutine that owns the world, at a point where the world's structure may change, for example once a
// tick. Without visitors, Admit costs one atomic load.
func (w *World) Admit(most time.Duration) (more bool) {
	if w.visits.waiting.Load() == 0 {
		return false
	}
	w.settled()
	atwork.Enter(w)
	defer atwork.Leave(w)
	return w.visits.admit(most)
}

// call calls look. Package atwork finds the method visits.call among the callers of the code that look calls,
// and so recognizes this code.
//
//go:noinline
func (v *visits) call(look func() (done bool)) (done bool) { return look() }

// add lets a visitor in and returns nil, if the owner is in Idle, no visitor is inside, and no visitor waits.
// Otherwise, add queues the visitor and returns it. If the world is closed, add returns ErrClosed.
func (v *visits) add(ctx context.Context, look func() (done bool)) (*visitor, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil, ErrClosed
	}
	if v.idle && !v.inside && len(v.queue) == 0 {
		v.inside = true
		return nil, nil
	}
	one := &visitor{ctx: ctx, look: look, ended: make(chan struct{}), enter: make(chan struct{}, 1)}
	v.queue = append(v.queue, one)
	v.waiting.Add(1)
	v.invite()
	return one, nil
}

// wait waits until the visitor is inside, until Admit has called the visitor's function for the last time, or
// until the context or the world ends.
func (v *visits) wait(one *visitor) (inside bool, err error) {
	for {
		select {
		case <-one.enter:
			if v.admitted(one) {
				return true, nil
			}
			continue
		case <-one.ended:
		case <-one.ctx.Done():
			if v.withdraw(one) {
				return false, one.ctx.Err()
			}
			<-one.ended // Admit is calling the function, or the world is closed
		}
		if one.inner != nil {
			panic(one.inner)
		}
		return false, one.err
	}
}

// open lets visitors in until shut.
func (v *visits) open() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.idle {
		panic("vast: World.Idle was called while another Idle of the world waits: call it only on the " +
			"goroutine that owns the world")
	}
	v.idle = true
	v.invite()
}

// shut lets no more visitors in, and waits for the visitor inside.
func (v *visits) shut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.idle = false
	v.left.L = &v.mu
	for v.inside {
		v.left.Wait()
	}
}

// leave records that the visitor inside has left, and invites the next visitor.
func (v *visits) leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.inside = false
	if !v.idle {
		v.left.Signal()
	}
	v.invite()
}

// invite tells the first visitor in the queue that it may go inside. v.mu must be locked.
func (v *visits) invite() {
	if v.idle && !v.inside && len(v.queue) > 0 {
		select {
		case v.queue[0].enter <- struct{}{}:
		default: // the visitor has not received the previous invitation
		}
	}
}

// admitted lets an invited visitor in and returns true, if the invitation is still valid.
func (v *visits) admitted(one *visitor) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.idle || v.inside || len(v.queue) == 0 || v.queue[0] != one {
		return false // a later invitation or Admit follows
	}
	v.dequeue()
	v.inside = true
	return true
}

// withdraw removes a visitor from the queue, and reports whether the visitor was in the queue. While the
// visitor's look is running, the visitor is not in the queue.
func (v *visits) withdraw(one *visitor) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, other := range v.queue {
		if other == one {
			v.queue = append(v.queue[:i:i], v.queue[i+1:]...)
			v.waiting.Add(-1)
			v.invite()
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
			finished := v.call(one.look)
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

// errGoexit is the error of a visitor whose look called runtime.Goexit.
var errGoexit = errors.New("vast: the function given to World.Visit ended the goroutine that called it")

func (v *visits) next() *visitor {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.queue) == 0 {
		return nil
	}
	return v.dequeue()
}

// dequeue removes the first visitor from the queue. v.mu must be locked.
func (v *visits) dequeue() *visitor {
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
	if one.err = one.ctx.Err(); one.err != nil {
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
