package sched

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/vastgo/vast"
)

// Stats are the statistics of a schedule. Commands, Late and Dropped count from the time when the schedule
// was made. All Times cover the ticks that began after the first call of [Schedule.Stats] or
// [Schedule.Recent].
type Stats struct {
	Tick           uint64        // number of the last tick
	Budget         time.Duration // time from one tick to the next while [Schedule.Run] runs, otherwise 0
	Commands       vast.Applied  // numbers of applied and of skipped commands
	Late           uint64        // ticks that [Schedule.Run] began late, by Budget or more
	Dropped        uint64        // ticks that [Schedule.Run] dropped, see Options.CatchUp
	Ticks          Times         // durations of whole ticks
	RecentTicks    Times         // exact durations of the last 256 ticks
	Applying       Times         // time for applying commands, in each tick that applied commands
	RecentApplying Times         // exact times of the last 256 ticks that applied commands
	Systems        []SystemStats // in the order in which a single worker would run them
	States         []StateStats  // in the order in which they were made
	Events         []EventStats  // queues of package event, in the order in which they were made
	Jobs           []JobStats    // in the order in which they were made
}

// SystemStats are the statistics of one system of a phase. One-shot systems and the systems of states have no
// statistics. Times leaves out the ticks in which the system did not run.
type SystemStats struct {
	Name     string
	Phase    Phase
	Disabled bool // whether the system or one of its sets is disabled: see [Schedule.Disable]
	Times    Times
	Recent   Times // exact durations in the last 256 ticks in which the system ran
}

// Times summarizes durations. P50, P99 and Max are exact in the fields whose names begin with Recent. In the
// other fields they are within 1% of the exact value, and a duration over one minute counts as one minute.
type Times struct {
	Count               uint64
	Total               time.Duration
	Last, P50, P99, Max time.Duration
}

// Capacities of the rings of recent times. Both are powers of two.
const (
	recentTicks = 4096 // whole ticks, for Recent
	recentRuns  = 256  // runs of a system, or applications of commands
)

// longest is the longest duration that a histogram holds.
const longest = time.Minute

// measured is a duration of the tick under way. All durations are recorded at the end of the tick, so that
// the tick locks the mutex only once.
type measured struct {
	took time.Duration
	done bool // whether took must be recorded
}

// times collects durations for Times. The zero value holds no durations.
type times struct {
	histogram *hdrhistogram.Histogram // nil before makeRoom
	total     time.Duration
	ring      []time.Duration // the last durations; duration number n is at index n modulo len(ring)
}

// makeRoom makes the histogram and the ring. size is the length of the ring, a power of two.
func (t *times) makeRoom(size int) {
	if t.histogram == nil {
		t.histogram, t.ring = hdrhistogram.New(1, int64(longest), 2), make([]time.Duration, size)
	}
}

// record adds the duration of m if m.done is true, and clears m.done. Call makeRoom before the first record.
func (t *times) record(m *measured) {
	if m.done {
		m.done = false
		t.total += m.took
		t.ring[t.histogram.TotalCount()&int64(len(t.ring)-1)] = m.took
		_ = t.histogram.RecordValue(int64(min(max(m.took, 0), longest))) // no error: the value is in range
	}
}

func (t *times) count() uint64 {
	if t.histogram == nil {
		return 0
	}
	return uint64(t.histogram.TotalCount())
}

func (t *times) last() time.Duration {
	return t.ring[(t.histogram.TotalCount()-1)&int64(len(t.ring)-1)]
}

func (t *times) stats() Times {
	h := t.histogram
	if h == nil {
		return Times{}
	}
	return Times{
		Count: t.count(), Total: t.total, Last: t.last(), P50: time.Duration(h.ValueAtQuantile(50)),
		P99: time.Duration(h.ValueAtQuantile(99)), Max: time.Duration(h.Max()),
	}
}

// recent appends the durations to dst, oldest first, without the first skip durations. Durations that the
// ring has overwritten are missing.
func (t *times) recent(skip uint64, dst []time.Duration) []time.Duration {
	count, n := t.count(), uint64(len(t.ring))
	for i := max(skip, count-min(count, n)); i < count; i++ {
		dst = append(dst, t.ring[i&(n-1)])
	}
	return dst
}

// timesOf summarizes a list of durations, oldest first. It sorts the list.
func timesOf(list []time.Duration) Times {
	if len(list) == 0 {
		return Times{}
	}
	st := Times{Count: uint64(len(list)), Last: list[len(list)-1]}
	for _, took := range list {
		st.Total += took
	}
	slices.Sort(list)
	// quantile returns a percentile by the nearest-rank method.
	quantile := func(percent int) time.Duration { return list[(len(list)*percent+99)/100-1] }
	st.P50, st.P99, st.Max = quantile(50), quantile(99), list[len(list)-1]
	return st
}

// counters are the statistics up to the end of the last tick.
type counters struct {
	tick          uint64
	ended         uint64 // number of ticks, measured or not, since the schedule was made
	late, dropped uint64
	commands      vast.Applied
	ticks         times
	applying      times
	systems       []*node
}

// startMeasuring makes the next ticks measure their systems. The caller holds the mutex.
func (s *Schedule) startMeasuring() {
	if s.measure.Load() {
		return
	}
	s.counters.makeRoom()
	s.measure.Store(true)
}

func (c *counters) makeRoom() {
	c.ticks.makeRoom(recentTicks)
	c.applying.makeRoom(recentRuns)
	for _, n := range c.systems {
		n.times.makeRoom(recentRuns)
	}
}

// Stats returns the statistics up to the end of the last tick. It may be called from any goroutine at any
// time. While ticks run, the times of some systems may be a tick or more newer than the times of others.
// Systems and hooks must not depend on Stats, because durations differ from run to run.
//
// The first call makes all later ticks measure their systems, and allocates about 33 KB for each system. Call
// Stats before the first tick to have the times of all ticks. Complexity: about ten microseconds for each
// system. Stats delays the end of a tick by at most the time for one system.
func (s *Schedule) Stats() Stats {
	s.mustBeMade("Stats")
	budget := s.loop.budgetNow()
	s.mu.Lock()
	s.startMeasuring()
	c := &s.counters
	st := Stats{Tick: c.tick, Budget: budget, Commands: c.commands, Late: c.late, Dropped: c.dropped,
		Ticks: c.ticks.stats(), Applying: c.applying.stats(), Events: s.queues.stats()}
	for _, m := range s.states {
		st.States = append(st.States, m.stats())
	}
	for _, j := range s.jobs {
		st.Jobs = append(st.Jobs, j.stats())
	}
	systems := slices.Clone(c.systems)
	recent := c.applying.recent(0, make([]time.Duration, 0, recentRuns))
	lastTicks := c.ticks.recent(st.Ticks.Count-min(st.Ticks.Count, recentRuns), nil)
	s.mu.Unlock()
	st.RecentApplying, st.RecentTicks = timesOf(recent), timesOf(lastTicks)
	st.Systems = make([]SystemStats, len(systems))
	for i, n := range systems {
		s.mu.Lock()
		st.Systems[i] = SystemStats{Name: n.Name, Phase: n.Phase, Disabled: n.off, Times: n.times.stats()}
		recent = n.times.recent(0, recent[:0])
		s.mu.Unlock()
		st.Systems[i].Recent = timesOf(recent)
	}
	return st
}

// Recent appends the durations of ticks to dst, oldest first, without the first skip ticks. It also returns
// count, the number of ticks since the schedule was made. Pass count as skip to the next call to receive each
// tick once. The schedule keeps the last 4,096 ticks. Older ticks are missing, and so are ticks before the
// first call of Recent or [Schedule.Stats]. Recent may be called from any goroutine at any time.
func (s *Schedule) Recent(skip uint64, dst []time.Duration) (count uint64, times []time.Duration) {
	s.mustBeMade("Recent")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.startMeasuring()
	c := &s.counters
	unmeasured := c.ended - c.ticks.count()
	return c.ended, c.ticks.recent(skip-min(skip, unmeasured), dst)
}
