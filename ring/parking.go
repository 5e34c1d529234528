package ring

import (
	"context"
	"os"
	"runtime"
	"sync/atomic"
)

// parking is where a side sleeps.
//
// A side that must wait writes down the position of the other side that it waits for, looks once more, and sleeps. The
// other side moves its position, and then looks whether somebody waits. Both write before they look, and Go's atomic
// operations happen in one order: so one of the two sees what the other wrote, and no wake-up is lost.
type parking struct {
	until atomic.Uint64 // the position of the other side that wakes this one; 0: it does not sleep
	// least is the position that this side can do with. It sleeps until a later one only to be woken less often, and
	// not where the other side sleeps too.
	least    atomic.Uint64
	wake     chan struct{}
	deadline deadline
}

func (p *parking) init() {
	p.wake = make(chan struct{}, 1)
	p.deadline.init()
}

// rouse wakes the side where it sleeps. Waking one that has gone on already does no harm: it looks, and sleeps again.
func (p *parking) rouse() {
	if p.until.Swap(0) != 0 {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
}

// nudge wakes the side where it can do with what the other one, which is at a position, is about to wait with.
func (p *parking) nudge(at uint64) {
	if p.until.Load() != 0 && at >= p.least.Load() {
		p.rouse()
	}
}

// patience is how often a side looks, before it sleeps, whether it must: at once, and after letting other goroutines
// run.
type patience struct{ looks, yields int }

// defaultPatience takes about as long as waking a sleeping goroutine.
var defaultPatience = patience{looks: 100, yields: 10}

// await returns nil when the other side has come to enough; when it has come to least and waits itself, or was woken for
// another reason; when the ring has ended, for which the caller looks; or an error because the deadline or the context
// does not allow to wait for it.
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

// over reports whether the ring is closed, or at least for the writer.
func (r *Ring) over() bool { return r.closed.Load() || r.ended.Load() != nil }
