package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Times are the durations of the ticks that ran in this process, of all regions together. The ticks that a
// takeover runs again do not count.
type Times struct {
	Ticks uint64
	// Tick is the time in Machine.Tick. Barrier is the time from when a tick was due until Machine.Tick
	// began. During this time the tick waits for the sections of other regions and for inputs.
	Tick, Barrier Percentiles
	// TickTotal and BarrierTotal are the sums of these times.
	TickTotal, BarrierTotal time.Duration
	// InTime is the share of ticks that ended at most one period after they were due. Without Options.Hz a
	// period is a sixtieth of a second.
	InTime float64
	// Rate is how many ticks in a second the slowest region ran, since its first tick in this process.
	Rate float64
}

// Percentiles of a duration have a relative error of at most 1 %.
type Percentiles struct{ P50, P90, P99, Max time.Duration }

// Times returns the durations of the ticks so far.
func (n *Node) Times() Times { return n.times.sum() }

// times collects times.
type times struct {
	mu            sync.Mutex
	tick, barrier *hdrhistogram.Histogram // microseconds
	ticks, inTime uint64
	tickTotal     time.Duration
	barrierTotal  time.Duration
	rates         map[int]*rate // by region
}

// rate has when the first and the last tick of a region ended.
type rate struct {
	first, last time.Time
	ticks       int // the number of ticks after the first one
}

func newTimes() *times {
	const longest = int64(time.Hour / time.Microsecond)
	return &times{tick: hdrhistogram.New(1, longest, 2), barrier: hdrhistogram.New(1, longest, 2),
		rates: make(map[int]*rate)}
}

// add adds a tick. wanted is when the tick should have been due by its period; waited is the time from when
// the tick was due until it began.
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
	// The percentiles leave out a tick of more than an hour.
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

// pace decides when the ticks of a region are due: at equal distances, or without waiting.
type pace struct {
	period time.Duration // 0: ticks do not wait
	// unpaced is how many of the next ticks do not wait for the clock. At the start of a cluster, the regions
	// begin at different times, and tick lookahead + 1 waits for the slowest of them. The clock begins with
	// the tick after it, because otherwise the regions would try to catch up on this delay.
	unpaced uint64
	next    time.Time // when the next tick is due
	wanted  time.Time // when the current tick should have begun; zero before the first tick
	due     time.Time // when wait returned for the current tick
}

// maxDebt is the largest delay on which a region catches up.
const maxDebt = time.Second

// wait waits until the next tick is due: at its time, or when another region has run the same tick.
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
