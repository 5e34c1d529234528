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
// and sleeps. The other side moves its position, and then checks for a sleeper. Both store before they load,
// and Go's atomic operations have one total order. So at least one of them sees the other's store, and no
// wake-up is lost.
type parking struct {
	until atomic.Uint64 // the other side's position that wakes this side; 0 if this side does not sleep
	// least is the other side's position from which on this side can continue. To be woken less often, this
	// side sleeps until a later position, but not while the other side sleeps too.
	least    atomic.Uint64
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

// nudge wakes the side if it can continue while the other side waits at position at.
func (p *parking) nudge(at uint64) {
	if p.until.Load() != 0 && at >= p.least.Load() {
		p.rouse()
	}
}

// patience counts the polls of a side before it sleeps: first looks polls without a pause, then yields polls,
// each after a yield to other goroutines.
type patience struct{ looks, yields int }

// defaultPatience takes about as long as waking a sleeping goroutine.
var defaultPatience = patience{looks: 100, yields: 10}

// await returns nil in three cases: the other side has reached enough; the other side has reached least, and
// either the other side sleeps itself or this side was woken; or the ring has ended, which the caller checks.
// await returns an error if the deadline or the context ends the wait.
func (r *Ring) await(ctx context.Context, me, other *side, least, enough uint64) error {
	for i := range r.patience.looks + r.patience.yields {
		if other.at.Load() >= enough || r.over() {
			return nil
		}
		if i >= r.patience.looks {
			runtime.Gosched()
		}
	}
	passed := me.deadline.channel()
	for {
		me.least.Store(least)
		me.until.Store(enough)
		at := other.at.Load()
		if at >= enough || r.over() || at >= least && other.until.Load() != 0 {
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
		if err != nil || other.at.Load() >= least {
			return err
		}
	}
}

// over reports whether the ring is closed or the stream has ended. Then the writer must stop, and no side may
// sleep.
func (r *Ring) over() bool { return r.closed.Load() || r.ended.Load() != nil }
