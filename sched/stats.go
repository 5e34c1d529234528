package sched

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/vastgo/vast"
)

// Stats describe what a schedule did so far.
type Stats struct {
	Tick     uint64        // number of the last tick
	Commands vast.Applied  // what became of all commands
	Late     uint64        // ticks that [Schedule.Run] began a whole step or more after their time
	Dropped  uint64        // ticks that [Schedule.Run] left out, see Options.CatchUp
	Ticks    Times         // whole ticks
	Applying Times         // applications of commands
	Systems  []SystemStats // in the order in which one worker runs them
}

// SystemStats describe one system. Times leaves out the ticks in which its condition did not hold.
type SystemStats struct {
	Name  string
	Phase Phase
	Times Times
}

// Times describe how long something took, each within one hundredth; times beyond a minute count as one.
type Times struct {
	Count               uint64
	Last, P50, P99, Max time.Duration
}

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
	last      time.Duration
}

func newTimes() times { return times{histogram: hdrhistogram.New(1, int64(longest), 2)} }

// record records what was measured, once. It allocates nothing, because nothing is out of range.
func (t *times) record(m *measured) {
	if m.done {
		m.done = false
		t.last = m.took
		_ = t.histogram.RecordValue(int64(min(max(m.took, 0), longest)))
	}
}

func (t *times) stats() Times {
	h := t.histogram
	return Times{
		Count: uint64(h.TotalCount()), Last: t.last, P50: time.Duration(h.ValueAtQuantile(50)),
		P99: time.Duration(h.ValueAtQuantile(99)), Max: time.Duration(h.Max()),
	}
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

// Stats returns the statistics up to the end of the last tick. It may be called from any goroutine at any time.
func (s *Schedule) Stats() Stats {
	s.mustBeMade("Stats")
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.counters
	st := Stats{Tick: c.tick, Commands: c.commands, Late: c.late, Dropped: c.dropped, Ticks: c.ticks.stats(),
		Applying: c.applying.stats(), Systems: make([]SystemStats, len(c.systems))}
	for i, n := range c.systems {
		st.Systems[i] = SystemStats{Name: n.Name, Phase: n.Phase, Times: n.times.stats()}
	}
	return st
}
