package earth

import (
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
)

// metropolis returns a configuration with few large towns, where many travellers meet.
func metropolis(t testing.TB) Config {
	return Config{Travellers: 4000, Seed: 2, Places: listOf(t,
		"name,lat,lon,population\nA,50,0,3000000\nB,48,10,3000000\n"+
			"C,40,-4,3000000\nD,41,12,2000000\n")}
}

func TestInfectionRisesFallsAndStays(t *testing.T) {
	longtest.OneGoroutine(t)
	e := newEarth(t, metropolis(t))
	first := e.Counts().Infectious
	if first == 0 || first > outbreaks*maxOutbreak {
		t.Fatalf("%d travellers are infectious at the start, want 1 to %d", first, outbreaks*maxOutbreak)
	}
	peak, at := 0, uint64(0)
	for e.ticks < 6*day {
		tick(t, e, 60)
		if c := e.Counts(); c.Infectious > peak {
			peak, at = c.Infectious, c.Ticks
		}
	}
	check(t, e)
	end := e.Counts()
	if peak < e.Counts().Travellers/6 || at < day/2 || at > 5*day {
		t.Errorf("the wave had its peak of %d infectious travellers after %d ticks, want at least a sixth "+
			"of %d travellers after half a day to five days", peak, at, e.Counts().Travellers)
	}
	if end.Infectious > peak/2 || end.Recovered < end.Travellers/3 {
		t.Errorf("the wave has not ended: %+v, after a peak of %d infectious travellers", end, peak)
	}
	tick(t, e, 15*day-int(e.ticks))
	check(t, e)
	if end := e.Counts(); end.Infectious < end.Travellers/100 || end.Infectious > end.Travellers/4 {
		t.Errorf("after 15 days the infection should be endemic: %+v", end)
	}
}

func TestInfectionTakesItsTime(t *testing.T) {
	e := newEarth(t, metropolis(t))
	tick(t, e, 3*day)
	// In each tick, the fraction 1/infectiousPeriod of the infectious travellers recovers on average.
	sum := 0.0
	before := e.Counts()
	const ticks = 200
	recoveries := 0
	e.recovered.OnAdd(func(vast.Entity, *recovered) { recoveries++ })
	for range ticks {
		sum += float64(e.infectious.Len())
		tick(t, e, 1)
	}
	want := sum / infectiousPeriod
	if got := float64(recoveries); got < want*0.75 || got > want*1.25 {
		t.Errorf("%v travellers recovered in %d ticks, expected %.0f; counts before: %+v", got, ticks, want,
			before)
	}
}
