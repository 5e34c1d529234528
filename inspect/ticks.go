package inspect

import (
	"slices"
	"sync"
	"time"

	"github.com/vastgo/vast/sched"
)

// tickBounds are those of the buckets that tick times are counted in, in seconds: three to each power of ten.
var tickBounds = [...]float64{
	0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1,
}

// mostPending bounds the ticks that wait to be summed up.
const mostPending = 4096

// tickMeter reads how long a schedule's ticks took, each once, from what the schedule keeps of the last ones. So it costs
// ticks nothing.
type tickMeter struct {
	mu      sync.Mutex
	id      uint64          // of the schedule
	after   uint64          // ticks that were read
	pending []time.Duration // read, but not summed up

	counts [len(tickBounds) + 1]uint64 // of ticks in each bucket; the last one has no bound
	sum    time.Duration
	total  uint64
}

// read takes in the ticks that ended since it was called last. Those of another schedule than before begin anew.
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
	if extra := len(m.pending) - mostPending; extra > 0 {
		m.pending = slices.Delete(m.pending, 0, extra)
	}
}

// sumUp returns the times of the ticks that were read since it was called last.
func (m *tickMeter) sumUp() TickTimes {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := timesOf(m.pending)
	m.pending = m.pending[:0]
	return t
}

// timesOf sums times up, and sorts them.
func timesOf(times []time.Duration) TickTimes {
	n := len(times)
	if n == 0 {
		return TickTimes{}
	}
	slices.Sort(times)
	// The smallest time that so many hundredths of all do not pass.
	quantile := func(hundredths int) float64 { return times[(n*hundredths+99)/100-1].Seconds() }
	return TickTimes{quantile(50), quantile(99), times[n-1].Seconds()}
}

// tickHistogram is how many ticks took how long.
type tickHistogram struct {
	buckets map[float64]uint64 // how many took no longer than the bound
	count   uint64
	sum     float64 // in seconds
}

// histogram returns the ticks that were read of one schedule.
func (m *tickMeter) histogram() tickHistogram {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := tickHistogram{buckets: make(map[float64]uint64, len(tickBounds)), count: m.total, sum: m.sum.Seconds()}
	below := uint64(0)
	for i, bound := range tickBounds {
		below += m.counts[i]
		h.buckets[bound] = below
	}
	return h
}
