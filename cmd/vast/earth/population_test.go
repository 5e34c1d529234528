package earth

import (
	"math"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

func TestPopulationStaysAboutConstant(t *testing.T) {
	longtest.OneGoroutine(t)
	const travellers, ticks = 12_000, 2500
	e := newEarth(t, Config{Travellers: travellers, Seed: 4})
	tick(t, e, ticks)
	c := e.Counts()
	want := float64(travellers) * ticks / lifetime
	if math.Abs(float64(c.Born)-want) > 0.03*want {
		t.Errorf("%d travellers were born, expected %.0f", c.Born, want)
	}
	if math.Abs(float64(c.Died)-want) > 5*math.Sqrt(want) {
		t.Errorf("%d travellers died, expected %.0f", c.Died, want)
	}
	check(t, e)
}

func TestHomesFollowTheInhabitants(t *testing.T) {
	const travellers = 40_000
	e := newEarth(t, Config{Travellers: travellers, Seed: 4})
	at := make([]float64, len(e.sites))
	for who := range e.world.Query(e.home).All() {
		at[e.homeOf(who)]++
	}
	all := float64(e.inhabitants[len(e.inhabitants)-1])
	for i, s := range e.sites {
		// At the start, the homes are spread evenly over the inhabitants.
		if want := float64(s.Weight) / all * travellers; math.Abs(at[i]-want) > 2 {
			t.Errorf("%v travellers live in place %d, expected %.1f", at[i], i, want)
		}
	}
	drawn := make([]float64, len(e.sites))
	const births = 3000
	for i := range e.cohort {
		for n := range uint32(births) {
			drawn[e.drawHome(e.cohort[i].stretch, n)]++
		}
	}
	for i, s := range e.sites {
		want := float64(s.Weight) / all * births * cohorts
		if math.Abs(drawn[i]-want) > 5*math.Sqrt(want)+3 {
			t.Errorf("place %d was drawn %v times, expected %.1f", i, drawn[i], want)
		}
	}
}
