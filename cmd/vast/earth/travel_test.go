package earth

import (
	"math"
	"testing"

	"github.com/vastgo/vast"
)

// follow makes all steps of a trip except the last. It returns the position, and the largest difference
// between the length of a vector and 1.
func follow(t *testing.T, from vector, trip *trip) (vector, float64) {
	t.Helper()
	worst := 0.0
	at := from
	for trip.StepsLeft > 1 {
		trip.StepsLeft--
		step(&at, trip)
		worst = max(worst, math.Abs(at.wide().length()-1), math.Abs(trip.Direction.wide().length()-1))
	}
	return at, worst
}

func TestTripsLeadToTheirDestination(t *testing.T) {
	s := draws(1, 0, 0, forTrip)
	taken := map[transport]int{}
	for i := range 4000 {
		from := somewhere(&s)
		to := somewhere(&s)
		if i%2 == 0 { // choose a near destination
			d := from.wide().plus(to.wide().times(0.2 * s.unit()))
			to = d.times(1 / d.length()).narrow()
		}
		trip := newTrip(from, to)
		taken[trip.By]++
		distance := arc(from.wide(), to.wide()) * earthRadius
		perStep := means[trip.By].speed / 60
		if steps := float64(trip.StepsLeft); (steps-1)*perStep > distance || steps*perStep < distance {
			t.Fatalf("a trip of %v km has %v steps of %v km", distance, steps, perStep)
		}
		if by := trip.By; by > road && distance <= means[by-1].longest || distance > means[by].longest {
			t.Fatalf("a trip of %v km is by %v", distance, by)
		}
		at, worst := follow(t, from, &trip)
		if worst > 1e-5 {
			t.Fatalf("on a trip of %v km the length of a vector was off by %v", distance, worst)
		}
		if left := arc(at.wide(), to.wide()) * earthRadius; left > perStep+0.05 {
			t.Fatalf("before the last step of a trip of %v km, %v km are left, more than a step of %v km",
				distance, left, perStep)
		}
	}
	for by := range means {
		if taken[transport(by)] < 100 {
			t.Errorf("transport %d was used by %d trips, want 100 or more", by, taken[transport(by)])
		}
	}
}

func TestTripsWithoutADirection(t *testing.T) {
	for _, at := range []vector{{X: 1}, {Y: -1}, {Z: 1}, {X: 0.6, Y: 0, Z: 0.8}} {
		same := newTrip(at, at)
		if same.StepsLeft != 1 || same.By != road {
			t.Errorf("the trip from %v to itself is %+v", at, same)
		}
		there := vector{-at.X, -at.Y, -at.Z}
		opposite := newTrip(at, there)
		end, worst := follow(t, at, &opposite)
		if left := arc(end.wide(), there.wide()) * earthRadius; left > 14 || worst > 1e-5 {
			t.Errorf("from %v to the opposite point: %v km left, length off by %v", at, left, worst)
		}
	}
}

func TestSkipIsManySteps(t *testing.T) {
	s := draws(2, 0, 0, forTrip)
	for range 300 {
		from, to := somewhere(&s), somewhere(&s)
		walked, skipped := newTrip(from, to), newTrip(from, to)
		n := int(s.below(uint64(walked.StepsLeft)))
		a, b := from, from
		for range n {
			walked.StepsLeft--
			step(&a, &walked)
		}
		skipped.skip(&b, n)
		if skipped.StepsLeft != walked.StepsLeft || a.wide().minus(b.wide()).length() > 1e-5 ||
			walked.Direction.wide().minus(skipped.Direction.wide()).length() > 1e-5 {
			t.Fatalf("%d steps lead to %v with the trip %+v, and skip leads to %v with %+v", n, a, walked, b,
				skipped)
		}
	}
}

func TestPassed(t *testing.T) {
	for _, c := range []struct {
		at, now uint32
		want    bool
	}{{5, 5, true}, {5, 6, true}, {6, 5, false}, {3, math.MaxUint32, false}, {math.MaxUint32, 3, true}} {
		if got := passed(c.at, c.now); got != c.want {
			t.Errorf("passed(%d, %d) = %v", c.at, c.now, got)
		}
	}
}

func TestTransitDelaysSteps(t *testing.T) {
	e := newEarth(t, Config{Travellers: 4000, Seed: 3, Places: listOf(t, "name,lat,lon,country,population\n"+
		"A,10,10,CH,1000\nB,10,10.05,CH,1000\nC,10,10.5,CH,1000\n")})
	type departure struct {
		tick uint32
		trip trip
		body body
	}
	departures := make(map[vast.Entity]departure)
	short, long := 0, 0
	for range 200 {
		tick(t, e, 1)
		for who, d := range departures {
			got := e.trip.Get(who)
			since, steps := e.now-d.tick, uint32(d.trip.StepsLeft)
			switch {
			case !e.world.Alive(who):
				if since <= Lookahead {
					t.Fatal("a traveller died in transit")
				}
				delete(departures, who)
			case since < Lookahead:
				if *got != d.trip || *e.body.Get(who) != d.body || !e.transit.Has(who) {
					t.Fatalf("%d ticks after the departure the traveller has changed", since)
				}
			case since < max(steps, Lookahead+1):
				left := steps - min(since, steps-1)
				if got == nil || uint32(got.StepsLeft) != left || e.transit.Has(who) {
					t.Fatalf("%d ticks after the departure, a trip of %d steps is %+v, want %d steps left",
						since, steps, got, left)
				}
			default:
				if got != nil || e.placeOf(who) != d.trip.ToPlace {
					t.Fatalf("%d ticks after the departure, a trip of %d steps has not ended: %+v", since,
						steps, got)
				}
				if steps <= Lookahead {
					short++
				} else {
					long++
				}
				delete(departures, who)
			}
		}
		for who := range e.world.Query(e.transit).All() {
			if e.transit.Get(who).Until == e.now+Lookahead {
				departures[who] = departure{e.now, *e.trip.Get(who), *e.body.Get(who)}
			}
		}
	}
	if short < 10 || long < 10 {
		t.Errorf("%d trips of at most %d steps and %d longer trips have ended, want 10 or more of each",
			short, Lookahead, long)
	}
}
