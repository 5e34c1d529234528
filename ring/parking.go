package ring

import (
	"context"
	"os"
	"runtime"
	"sync/atomic"
)

// parking lets a side, the writer or the reader, sleep.
//
// A side that must wait stores its target, loads the other side's position once more, and sleeps. The other
// side publishes its new position, and then loads the target. Each side stores before it loads, and Go's
// atomic operations have one total order. So at least one side sees the store of the other side, and no
// wake-up is lost.
type parking struct {
	// target is the position at which the other side wakes this side, or 0 if this side does not sleep.
	target atomic.Uint64
	// minTarget is the smallest position of the other side at which this side can continue. A larger target
	// saves wake-ups. But before the other side sleeps, it wakes this side if minTarget is reached.
	minTarget atomic.Uint64
	wake      chan struct{}
	deadline  deadline
}

func (p *parking) init() {
	p.wake = make(chan struct{}, 1)
	p.deadline.init()
}

// rouse wakes the side if it sleeps. A spurious wake-up is harmless: the side checks the position and sleeps
// again.
func (p *parking) rouse() {
	if p.target.Swap(0) != 0 {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
}

// nudge wakes the side if it can continue when the other side is at the given position.
func (p *parking) nudge(position uint64) {
	if p.target.Load() != 0 && position >= p.minTarget.Load() {
		p.rouse()
	}
}

// patience is the number of polls before a side sleeps.
type patience struct {
	spins  int // polls without a pause
	yields int // later polls, each after a call of runtime.Gosched
}

// defaultPatience takes about as long as waking a sleeping goroutine.
var defaultPatience = patience{spins: 100, yields: 10}

// await waits until the other side's position reaches target or the ring is over. If the other side sleeps,
// or wakes this side, await returns at minTarget already. It returns an error if the deadline or the context
// ends the wait.
func (r *Ring) await(ctx context.Context, me, other *side, minTarget, target uint64) error {
	for i := range r.patience.spins + r.patience.yields {
		if other.published.Load() >= target || r.over() {
			return nil
		}
		if i >= r.patience.spins {
			runtime.Gosched()
		}
	}
	passed := me.deadline.channel()
	for {
		me.minTarget.Store(minTarget)
		me.target.Store(target)
		position := other.published.Load()
		if position >= target || r.over() || position >= minTarget && other.target.Load() != 0 {
			me.target.Store(0)
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
		me.target.Store(0)
		if err != nil || other.published.Load() >= minTarget {
			return err
		}
	}
}

// over reports whether the ring is closed or the stream has ended. If so, the writer must stop, and no side
// may sleep.
func (r *Ring) over() bool { return r.closed.Load() || r.ended.Load() != nil }
