package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Times describes the ticks that ran in this process, of all regions together. It leaves out the ticks that a
// takeover runs again.
type Times struct {
	Ticks uint64
	// Tick is the duration of Machine.Tick. Barrier is how long a tick that is due waits for the sections of
	// other regions and for inputs, before Machine.Tick begins.
	Tick, Barrier Percentiles
	// TickTotal and BarrierTotal are the sums of these times.
	TickTotal, BarrierTotal time.Duration
	// InTime is the share of ticks that ended at most one period after the time at which they should have
	// begun. Without Options.Hz a period is a sixtieth of a second.
	InTime float64
	// Rate is the number of ticks a second that the slowest region has run since its first tick in this
	// process.
	Rate float64
}

// Percentiles of a duration have an error of at most 1 % plus 1 µs.
type Percentiles struct{ P50, P90, P99, Max time.Duration }

// Times returns the durations of the ticks so far.
func (n *Node) Times() Times { return n.times.sum() }

type times struct {
	mu            sync.Mutex
	tick, barrier *hdrhistogram.Histogram // microseconds
	ticks, inTime uint64
	tickTotal     time.Duration
	barrierTotal  time.Duration
	rates         map[int]*rate // by region
}

type rate struct {
	first, last time.Time // ends of the first and of the last tick
	ticks       int       // the number of ticks after the first one
}

func newTimes() *times {
	const longest = int64(time.Hour / time.Microsecond)
	return &times{tick: hdrhistogram.New(1, longest, 2), barrier: hdrhistogram.New(1, longest, 2),
		rates: make(map[int]*rate)}
}

// add adds a tick. The argument wanted is the time at which the tick should have begun for the ticks to be
// one period apart. The argument waited is how long the tick waited after it was due.
func (t *times) add(region int, wanted, began, ended time.Time, waited, period time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ticks++
	if ended.Sub(wanted) <= period {
		t.inTime++
	}
	took, waited := ended.Sub(began), max(waited, 0)
	t.tickTotal += took
	t.barrierTotal += waited
	// The percentiles leave out durations of more than an hour.
	_ = t.tick.RecordValue(took.Microseconds())
	_ = t.barrier.RecordValue(waited.Microseconds())
	r := t.rates[region]
	if r == nil {
		t.rates[region] = &rate{first: ended, last: ended}
		return
	}
	r.last = ended
	r.ticks++
}

func (t *times) sum() Times {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Times{Ticks: t.ticks, Tick: percentiles(t.tick), Barrier: percentiles(t.barrier),
		TickTotal: t.tickTotal, BarrierTotal: t.barrierTotal}
	if t.ticks > 0 {
		s.InTime = float64(t.inTime) / float64(t.ticks)
	}
	for _, r := range t.rates {
		if seconds := r.last.Sub(r.first).Seconds(); seconds > 0 {
			if now := float64(r.ticks) / seconds; s.Rate == 0 || now < s.Rate {
				s.Rate = now
			}
		}
	}
	return s
}

func percentiles(h *hdrhistogram.Histogram) Percentiles {
	at := func(p float64) time.Duration { return time.Duration(h.ValueAtQuantile(p)) * time.Microsecond }
	return Percentiles{at(50), at(90), at(99), time.Duration(h.Max()) * time.Microsecond}
}

// pace decides when the ticks of a region are due.
type pace struct {
	period time.Duration // time from one tick to the next; 0: ticks are due immediately
	// unpaced is the number of next ticks that do not wait for the clock. The regions of a new cluster begin
	// at different times, and the first tick after the lookahead waits for the slowest region. The clock
	// begins after that tick, so that the regions do not try to catch up on the delay.
	unpaced uint64
	next    time.Time // when the next tick is due
	wanted  time.Time // when the current tick should have begun; zero before the first tick
	due     time.Time // when wait returned for the current tick; zero before the first tick
}

// maxDebt is the largest delay that a region catches up on. The region drops any further delay.
const maxDebt = time.Second

// wait waits until a tick is due: at its time, or earlier if another region has run this tick. If ctx ends,
// wait returns the error of ctx.
func (p *pace) wait(ctx context.Context, tick uint64, others *pulse) error {
	now := time.Now()
	switch {
	case p.unpaced > 0:
		p.unpaced--
		p.next = now
	case p.period == 0 || p.next.IsZero():
		p.next = now
	case now.Sub(p.next) > maxDebt:
		p.next = now.Add(-maxDebt)
	}
	for wait := p.next.Sub(now); wait > 0 && ctx.Err() == nil; wait = time.Until(p.next) {
		reached, changed := others.reached(tick)
		if reached {
			p.next = time.Now()
			break
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	p.wanted, p.due = p.next, time.Now()
	p.next = p.next.Add(p.period)
	return ctx.Err()
}
