package sched

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/vastgo/vast"
)

// Stats describe what a schedule did so far.
type Stats struct {
	Tick           uint64        // number of the last tick
	Commands       vast.Applied  // what became of all commands
	Late           uint64        // ticks that [Schedule.Run] began a whole step or more after their time
	Dropped        uint64        // ticks that [Schedule.Run] left out, see Options.CatchUp
	Ticks          Times         // whole ticks
	RecentTicks    Times         // the last 256 of them, exactly
	Applying       Times         // applications of commands, a tick's together
	RecentApplying Times         // the last 256 of them, exactly
	Systems        []SystemStats // in the order in which one worker runs them
}

// SystemStats describe one system. Times leaves out the ticks in which its condition did not hold.
type SystemStats struct {
	Name   string
	Phase  Phase
	Times  Times
	Recent Times // of the last 256 ticks in which it ran, exactly
}

// Times describe how long something took. P50, P99 and Max are within one hundredth; times beyond a minute count as one
// there.
type Times struct {
	Count               uint64
	Total               time.Duration
	Last, P50, P99, Max time.Duration
}

// How many times are kept as they were, the last ones. Both are powers of two.
const (
	recentTicks = 4096 // whole ticks, for Recent
	recentRuns  = 256  // of a system
)

// longest is the longest time that is told from longer ones.
const longest = time.Minute

// measured is how long something took in the tick under way. It is recorded at the tick's end, so that a tick takes the lock
// once.
type measured struct {
	took time.Duration
	done bool
}

// times collects Times.
type times struct {
	histogram *hdrhistogram.Histogram
	total     time.Duration
	ring      []time.Duration // the last ones, the n-th at n modulo the length
}

// newTimes keeps so many times as they were, a power of two.
func newTimes(recent int) times {
	return times{histogram: hdrhistogram.New(1, int64(longest), 2), ring: make([]time.Duration, recent)}
}

// record records what was measured, once. It allocates nothing, because nothing is out of range.
func (t *times) record(m *measured) {
	if m.done {
		m.done = false
		t.total += m.took
		t.ring[t.histogram.TotalCount()&int64(len(t.ring)-1)] = m.took
		_ = t.histogram.RecordValue(int64(min(max(m.took, 0), longest)))
	}
}

func (t *times) count() uint64 { return uint64(t.histogram.TotalCount()) }

func (t *times) last() time.Duration {
	return t.ring[(t.histogram.TotalCount()-1)&int64(len(t.ring)-1)]
}

func (t *times) stats() Times {
	h := t.histogram
	return Times{
		Count: t.count(), Total: t.total, Last: t.last(), P50: time.Duration(h.ValueAtQuantile(50)),
		P99: time.Duration(h.ValueAtQuantile(99)), Max: time.Duration(h.Max()),
	}
}

// recent appends the times after the first so many, as far as they are kept, the oldest first.
func (t *times) recent(after uint64, into []time.Duration) []time.Duration {
	count, n := t.count(), uint64(len(t.ring))
	for i := max(after, count-min(count, n)); i < count; i++ {
		into = append(into, t.ring[i&(n-1)])
	}
	return into
}

// timesOf returns the Times of a list in the order of time. It sorts the list.
func timesOf(list []time.Duration) Times {
	if len(list) == 0 {
		return Times{}
	}
	st := Times{Count: uint64(len(list)), Last: list[len(list)-1]}
	for _, took := range list {
		st.Total += took
	}
	slices.Sort(list)
	// The smallest time that so many hundredths of all do not pass.
	quantile := func(hundredths int) time.Duration { return list[(len(list)*hundredths+99)/100-1] }
	st.P50, st.P99, st.Max = quantile(50), quantile(99), list[len(list)-1]
	return st
}

// counters are what Stats tells, up to the end of the last tick.
type counters struct {
	tick          uint64
	late, dropped uint64
	commands      vast.Applied
	ticks         times
	applying      times
	systems       []*node
}

// Stats returns the statistics up to the end of the last tick. It may be called from any goroutine at any time; beside a
// schedule at work the times of some systems may be a tick or more newer than others. Complexity: some ten microseconds a
// system, of which a tick's end waits for those of one at most. It is not for systems and hooks: [Context.Tick] has the
// number of the tick.
func (s *Schedule) Stats() Stats {
	s.mustBeMade("Stats")
	s.mu.Lock()
	c := &s.counters
	st := Stats{Tick: c.tick, Commands: c.commands, Late: c.late, Dropped: c.dropped, Ticks: c.ticks.stats(),
		Applying: c.applying.stats()}
	systems := slices.Clone(c.systems)
	recent := c.applying.recent(0, make([]time.Duration, 0, recentRuns))
	recentTicks := c.ticks.recent(st.Ticks.Count-min(st.Ticks.Count, recentRuns), nil)
	s.mu.Unlock()
	st.RecentApplying, st.RecentTicks = timesOf(recent), timesOf(recentTicks)
	st.Systems = make([]SystemStats, len(systems))
	for i, n := range systems {
		s.mu.Lock()
		st.Systems[i] = SystemStats{Name: n.Name, Phase: n.Phase, Times: n.times.stats()}
		recent = n.times.recent(0, recent[:0])
		s.mu.Unlock()
		st.Systems[i].Recent = timesOf(recent)
	}
	return st
}

// Recent appends to into how long the ticks took after the first so many, the oldest first, and returns how many there
// were so far, to be given as after the next time. So who asks again and again gets each tick once; of ticks that were not
// asked for in time the last 4,096 are left. It counts as Stats.Ticks.Count does, and may be called from any goroutine at any
// time.
func (s *Schedule) Recent(after uint64, into []time.Duration) (count uint64, times []time.Duration) {
	s.mustBeMade("Recent")
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.counters.ticks
	return t.count(), t.recent(after, into)
}
