package ring

import (
	"context"
	"os"
	"runtime"
	"sync/atomic"
)

// parking lets a side sleep.
//
// A side that must wait stores the position that it waits for, checks the other side's position once more,
// and sleeps. The other side stores its new position, and then checks for a sleeper. Each side stores before
// it loads, and Go's atomic operations have one total order. So at least one side sees the store of the other
// side, and no wake-up is lost.
type parking struct {
	until atomic.Uint64 // the other side's position that wakes this side; 0 if this side does not sleep
	// minimum is the smallest position of the other side at which this side can continue. The position in
	// until may be larger, so that this side is woken less often. Before the other side sleeps, it wakes this
	// side if minimum is reached.
	minimum  atomic.Uint64
	wake     chan struct{}
	deadline deadline
}

func (p *parking) init() {
	p.wake = make(chan struct{}, 1)
	p.deadline.init()
}

// rouse wakes the side if it sleeps. A spurious wake-up is harmless: the side checks the position, and sleeps
// again.
func (p *parking) rouse() {
	if p.until.Swap(0) != 0 {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
}

// nudge wakes the side if it can continue while the other side waits at the given position.
func (p *parking) nudge(position uint64) {
	if p.until.Load() != 0 && position >= p.minimum.Load() {
		p.rouse()
	}
}

// patience is the number of polls before a side sleeps. spins counts the first polls, which follow each other
// without a pause. yields counts the further polls; other goroutines run before each of these polls.
type patience struct{ spins, yields int }

// defaultPatience takes about as long as waking a sleeping goroutine.
var defaultPatience = patience{spins: 100, yields: 10}

// await returns nil in three cases: the other side's position has reached target; that position has reached
// minimum, and the other side sleeps too or this side was woken; or the ring is over, which the caller
// checks. await returns an error if the deadline or the context ends the wait.
func (r *Ring) await(ctx context.Context, me, other *side, minimum, target uint64) error {
	for i := range r.patience.spins + r.patience.yields {
		if other.at.Load() >= target || r.over() {
			return nil
		}
		if i >= r.patience.spins {
			runtime.Gosched()
		}
	}
	passed := me.deadline.channel()
	for {
		me.minimum.Store(minimum)
		me.until.Store(target)
		at := other.at.Load()
		if at >= target || r.over() || at >= minimum && other.until.Load() != 0 {
			me.until.Store(0)
			return nil
		}
		other.nudge(me.position)
		var err error
		select {
		case <-me.wake:
		case <-r.done:
		case <-passed:
			err = os.ErrDeadlineExceeded
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		me.until.Store(0)
		if err != nil || other.at.Load() >= minimum {
			return err
		}
	}
}

// over reports whether the ring is closed or the stream has ended. After either, the writer must stop, and no
// side may sleep.
func (r *Ring) over() bool { return r.closed.Load() || r.ended.Load() != nil }
