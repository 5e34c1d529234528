package clock

import (
	"testing"
	"time"
)

func TestNow(t *testing.T) {
	const duration = 100 * time.Millisecond
	const step = 20 * time.Millisecond // longer than a step of package time on any system
	before := time.Now()
	began := Now()
	last, moments, smallest := began, 0, time.Hour
	for last-began < duration {
		now := Now()
		if now < last {
			t.Fatalf("the clock went back from %v to %v", last, now)
		}
		if now > last {
			smallest = min(smallest, now-last)
			moments++
		}
		last = now
	}
	passed := time.Since(before)
	if took := last - began; took > passed+step {
		t.Errorf("Now counts %v, package time %v", took, passed)
	}
	// An idle machine gives a thousand different readings or more, but a busy one may give few.
	if moments < 2 || smallest > 100*time.Microsecond {
		t.Errorf("%d different readings in %v, want at least 2; the closest are %v apart, want at most "+
			"100 µs", moments, last-began, smallest)
	}
	if n := testing.AllocsPerRun(100, func() { last = Now() }); n != 0 {
		t.Errorf("Now allocates %v times", n)
	}
}
