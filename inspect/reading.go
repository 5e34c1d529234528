package inspect

import (
	"cmp"
	"runtime"
	"slices"
	"time"

	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/vm"
)

// reading holds the values measured at one moment. A sample is computed from two readings.
type reading struct {
	at        time.Time
	census    census
	censusAt  time.Time     // time of the last census; zero before the first census
	censusAge time.Duration // time since the last census or since the sampler's start, whichever is shorter
	paused    bool
	schedule  uint64 // ID of the schedule; 0 without one
	stats     sched.Stats
	ticks     TickTimes // of the ticks since the last reading
	budget    time.Duration
	memory    vm.PurposeStats
	golang    goReading
	routines  int           // number of goroutines
	processor time.Duration // CPU time of the program
}

// read takes a reading. The parameter started is the time of the sampler's start.
func (s *sampler) read(started time.Time) reading {
	r := reading{memory: vm.Snapshot(true).Total()}
	r.census, r.censusAt = s.census.ask(s.ctx, 0, letInTime)
	r.at = time.Now()
	since := started
	if r.censusAt.After(since) {
		since = r.censusAt
	}
	r.censusAge = r.at.Sub(since)
	r.golang, r.routines, r.processor = readGo(), runtime.NumGoroutine(), processorTime()
	control := s.control()
	if control != nil {
		r.paused = control.Paused()
	}
	if sc := s.schedule(); sc != nil {
		r.schedule = sc.ID()
		r.stats, r.budget = pace(sc, control)
		s.ticks.read(sc)
		r.ticks = s.ticks.sumUp()
	}
	return r
}

// pace returns the statistics of a schedule and its budget, the planned time from one tick to the next. A
// control that is a [Pacer] provides the budget and the counts of late and dropped ticks.
func pace(sc *sched.Schedule, control Control) (stats sched.Stats, budget time.Duration) {
	stats = sc.Stats()
	budget = stats.Budget
	if p, ok := control.(Pacer); ok {
		budget, stats.Late, stats.Dropped = p.Pace()
	}
	return stats, budget
}

// since returns the sample of the time between an earlier reading and r.
func (r *reading) since(earlier reading) Sample {
	passed := r.at.Sub(earlier.at).Seconds()
	s := Sample{
		At: seconds(r.at), Admitting: r.censusAge < admitTime, Age: max(r.censusAge.Seconds(), 0),
		Entities: r.census.entities,
		Paused:   r.paused,
		Memory:   MemoryUse{r.memory.Reserved, r.memory.Committed, r.memory.Resident, r.golang.heap},
		GC:       CollectorUse{Collections: r.golang.collections}, Goroutines: r.routines,
	}
	pauses, worst := r.golang.pausesSince(earlier.golang)
	s.GC.PauseWorst = worst
	if asked := r.censusAt.Sub(earlier.censusAt).Seconds(); asked > 0 && !earlier.censusAt.IsZero() &&
		r.census.changes >= earlier.census.changes {
		s.ChangesPerSecond = float64(r.census.changes-earlier.census.changes) / asked
	}
	if r.schedule != 0 {
		s.Pace = &Pace{Tick: r.stats.Tick, TickSeconds: r.ticks, BudgetSeconds: r.budget.Seconds(),
			Late:    r.stats.Late,
			Dropped: r.stats.Dropped}
	}
	if passed > 0 {
		s.GC.PausesPerSecond = float64(pauses) / passed
		s.CPU = max((r.processor-earlier.processor).Seconds(), 0) / passed
		if s.Pace != nil && r.schedule == earlier.schedule {
			// A reset of the schedule sets Stats.Tick to 0, but does not change Ticks.Count.
			s.TicksPerSecond = float64(r.stats.Ticks.Count-earlier.stats.Ticks.Count) / passed
		}
	}
	return s
}

// costsSince returns the costs of the systems, ordered by their load between an earlier reading and r,
// the highest load first.
func (r *reading) costsSince(earlier reading) []SystemCost {
	passed := r.at.Sub(earlier.at).Seconds()
	before := make(map[string]time.Duration)
	if r.schedule == earlier.schedule {
		for _, s := range earlier.stats.Systems {
			before[s.Name] = s.Times.Total
		}
	}
	costs := make([]SystemCost, 0, len(r.stats.Systems))
	for _, s := range r.stats.Systems {
		c := SystemCost{
			Name: s.Name, Phase: string(s.Phase), Runs: s.Times.Count, Total: s.Times.Total.Seconds(),
			Last: s.Times.Last.Seconds(),
			P50:  s.Recent.P50.Seconds(), P99: s.Recent.P99.Seconds(), Worst: s.Times.Max.Seconds(),
		}
		if total, known := before[s.Name]; known && passed > 0 {
			c.Load = (s.Times.Total - total).Seconds() / passed
		}
		costs = append(costs, c)
	}
	slices.SortStableFunc(costs, func(a, b SystemCost) int {
		return cmp.Or(cmp.Compare(b.Load, a.Load), cmp.Compare(b.Total, a.Total))
	})
	return costs
}

// seconds converts a time to seconds since 1970, the format of times in the JSON interface.
func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }
