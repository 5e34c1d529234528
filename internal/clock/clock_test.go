package clock

import (
	"testing"
	"time"
)

// TestNow compares Now with package time. Package time is coarser on some systems, so it may count up to a
// step too little or too much.
func TestNow(t *testing.T) {
	const step, least = 20 * time.Millisecond, 100 * time.Millisecond
	before := time.Now()
	began := Now()
	last, moments, smallest := began, 0, time.Hour
	for last-began < least {
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
	// A clock with steps of a tenth of a millisecond gives a thousand different readings on an idle machine.
	if moments < 2 || smallest > 100*time.Microsecond {
		t.Errorf("%d different readings in %v, want at least 2; the closest are %v apart, want at most "+
			"100 µs", moments, last-began, smallest)
	}
	if n := testing.AllocsPerRun(100, func() { last = Now() }); n != 0 {
		t.Errorf("Now allocates %v times", n)
	}
}
