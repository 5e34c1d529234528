package clock

import (
	"testing"
	"time"
)

// TestNow compares with package time, which is coarser on some systems, so the difference of two readings may
// be wrong by a step at either end.
func TestNow(t *testing.T) {
	const step, least = 20 * time.Millisecond, 100 * time.Millisecond
	before := time.Now()
	from := Now()
	last, moments, smallest := from, 0, time.Hour
	for last-from < least {
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
	if took := last - from; took > passed+step {
		t.Errorf("%v passed, while package time counted %v", took, passed)
	}
	// Steps of a tenth of a millisecond would give a thousand readings on an idle machine.
	if moments < 2 || smallest > 100*time.Microsecond {
		t.Errorf("%d moments in %v, at least %v apart", moments, last-from, smallest)
	}
	if n := testing.AllocsPerRun(100, func() { last = Now() }); n != 0 {
		t.Errorf("telling the time allocates %v times", n)
	}
}
