package inspect

import (
	"slices"
	"sync"
	"time"

	"github.com/vastgo/vast/sched"
)

// tickBounds are the upper bounds of the buckets for tick times, in seconds.
var tickBounds = [...]float64{
	0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1,
}

const maxPending = 4096

// tickMeter collects the durations of a schedule's ticks. It misses ticks that the schedule does not keep
// until the next read: see [sched.Schedule.Recent].
type tickMeter struct {
	mu      sync.Mutex
	id      uint64          // ID of the schedule
	after   uint64          // number of the schedule's ticks at the last read
	pending []time.Duration // ticks for the next sumUp, at most maxPending

	counts [len(tickBounds) + 1]uint64 // ticks in each bucket; the last bucket has no bound
	sum    time.Duration
	total  uint64
}

// read reads the ticks that ended since the last call. If s is not the schedule of the last call, all counts
// start at zero.
func (m *tickMeter) read(s *sched.Schedule) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id := s.ID(); id != m.id {
		m.id, m.after, m.pending = id, 0, m.pending[:0]
		m.counts, m.sum, m.total = [len(tickBounds) + 1]uint64{}, 0, 0
	}
	old := len(m.pending)
	m.after, m.pending = s.Recent(m.after, m.pending)
	for _, took := range m.pending[old:] {
		i, _ := slices.BinarySearch(tickBounds[:], took.Seconds())
		m.counts[i]++
		m.sum += took
		m.total++
	}
	if extra := len(m.pending) - maxPending; extra > 0 {
		m.pending = slices.Delete(m.pending, 0, extra)
	}
}

// sumUp returns the quantiles of the ticks that were read since the last call of sumUp.
func (m *tickMeter) sumUp() TickTimes {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := timesOf(m.pending)
	m.pending = m.pending[:0]
	return t
}

// timesOf sorts times, and returns its quantiles.
func timesOf(times []time.Duration) TickTimes {
	n := len(times)
	if n == 0 {
		return TickTimes{}
	}
	slices.Sort(times)
	// quantile uses the nearest-rank method.
	quantile := func(percent int) float64 { return times[(n*percent+99)/100-1].Seconds() }
	return TickTimes{quantile(50), quantile(99), times[n-1].Seconds()}
}

type tickHistogram struct {
	buckets map[float64]uint64 // number of ticks that took at most the key, in seconds
	count   uint64
	sum     float64 // in seconds
}

// histogram counts all ticks that were read from the current schedule.
func (m *tickMeter) histogram() tickHistogram {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := tickHistogram{buckets: make(map[float64]uint64, len(tickBounds)), count: m.total,
		sum: m.sum.Seconds()}
	below := uint64(0)
	for i, bound := range tickBounds {
		below += m.counts[i]
		h.buckets[bound] = below
	}
	return h
}
