package earth

import (
	"math"
	"testing"
	"time"
)

func TestMeter(t *testing.T) {
	m := newMeter(900 * time.Millisecond)
	for i := range 1000 {
		m.add(time.Duration(i+1) * time.Millisecond)
	}
	got := m.timing()
	for _, c := range []struct {
		name      string
		got, want time.Duration
	}{{"p50", got.p50, 500 * time.Millisecond}, {"p90", got.p90, 900 * time.Millisecond},
		{"p99", got.p99, 990 * time.Millisecond}} {
		if off := math.Abs(float64(c.got-c.want)) / float64(c.want); off > 0.001 {
			t.Errorf("%s = %v, want %v within a thousandth", c.name, c.got, c.want)
		}
	}
	if got.max != time.Second || got.ticks != 1000 || got.within != 0.9 ||
		got.budget != 900*time.Millisecond {
		t.Errorf("timing() = %+v, want a maximum of 1s, 1000 ticks, 0.9 of them within 900ms", got)
	}
}

func TestMeterExtremes(t *testing.T) {
	m := newMeter(time.Second)
	if got := m.timing(); got != (timing{budget: time.Second}) {
		t.Errorf("timing() without ticks = %+v", got)
	}
	m.add(0)
	m.add(3 * longestTracked)
	got := m.timing()
	if got.max != 3*longestTracked || got.within != 0.5 || got.p50 > time.Microsecond ||
		got.p99 < longestTracked*999/1000 {
		t.Errorf("timing() of ticks of 0 and 3h = %+v", got)
	}

	m = newMeter(time.Second)
	m.add(12345678)
	if got := m.timing(); got.p50 > got.max || got.p99 > got.max {
		t.Errorf("timing() = %+v: a percentile exceeds the maximum", got)
	}
}
