package earth

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// meter collects the times of ticks. The error of a percentile is at most a thousandth of its value or a
// microsecond, whichever is larger. The longest tick and the share within the budget are exact.
type meter struct {
	times  *hdrhistogram.Histogram // nanoseconds
	budget time.Duration
	ticks  uint64
	within uint64 // ticks that took at most the budget
	max    time.Duration
}

// longestTracked is the largest value of the histogram. In percentiles, a longer tick counts as an hour.
const longestTracked = time.Hour

func newMeter(budget time.Duration) *meter {
	return &meter{times: hdrhistogram.New(int64(time.Microsecond), int64(longestTracked), 3), budget: budget}
}

func (m *meter) add(tick time.Duration) {
	m.ticks++
	if tick <= m.budget {
		m.within++
	}
	m.max = max(m.max, tick)
	// RecordValue does not fail, because the value is in range.
	m.times.RecordValue(int64(min(tick, longestTracked)))
}

// timing is the summary of a meter.
type timing struct {
	ticks              uint64
	p50, p90, p99, max time.Duration
	budget             time.Duration
	within             float64 // share of ticks within the budget; 0 without ticks
}

func (m *meter) timing() timing {
	t := timing{ticks: m.ticks, max: m.max, budget: m.budget}
	if m.ticks == 0 {
		return t
	}
	t.within = float64(m.within) / float64(m.ticks)
	at := m.times.ValueAtPercentiles([]float64{50, 90, 99})
	// The histogram rounds percentiles up, so a percentile may exceed the longest tick.
	t.p50 = min(time.Duration(at[50]), m.max)
	t.p90 = min(time.Duration(at[90]), m.max)
	t.p99 = min(time.Duration(at[99]), m.max)
	return t
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
