package earth

import (
	"math"
	"testing"

	"github.com/vastgo/vast"
)

func TestPlacesHaveNumbers(t *testing.T) {
	e := newEarth(t, Config{Travellers: 100, Seed: 3})
	for _, number := range []int{0, 1, len(e.sites) - 1} {
		place := e.Place(number)
		if got, ok := e.PlaceNumber(place); !ok || got != number {
			t.Errorf("PlaceNumber of place %d is %d, %v", number, got, ok)
		}
	}
	who, _ := e.world.Query(e.body).First()
	for _, other := range []vast.Entity{{}, who} {
		if number, ok := e.PlaceNumber(other); ok {
			t.Errorf("PlaceNumber of %v, which is not a place, is %d", other, number)
		}
	}
}

func TestPositions(t *testing.T) {
	e := newEarth(t, Config{Travellers: 100, Seed: 3})
	check := func(who vast.Entity, at vector) {
		t.Helper()
		lat, lon, ok := e.Position(who)
		sinLat, cosLat := math.Sincos(float64(lat) * math.Pi / 180)
		sinLon, cosLon := math.Sincos(float64(lon) * math.Pi / 180)
		if off := arc(wide{cosLat * cosLon, cosLat * sinLon, sinLat}, at.wide()); !ok || off > 3e-5 {
			t.Errorf("the Position of %v is latitude %v, longitude %v and ok %v: %g radians off", who, lat,
				lon, ok, off)
		}
	}
	check(e.Place(7), e.sites[7].At)
	for who := range e.world.Query(e.body).All() {
		check(who, e.body.Get(who).At)
	}
	if _, _, ok := e.Position(vast.Entity{}); ok {
		t.Error("the zero Entity has a position")
	}
}

func crowds(e *Earth, first, end int) (travellers, infectious int) {
	for part := first; part < end; part++ {
		for c := range e.Crowds(part) {
			travellers += int(c.Travellers)
			infectious += int(c.Infectious)
		}
	}
	return travellers, infectious
}

func TestCrowdsAreEverybody(t *testing.T) {
	e := newEarth(t, Config{Travellers: 20_000, Seed: 6})
	tick(t, e, 400)
	c := e.Counts()
	if travellers, infectious := crowds(e, 0, CrowdParts); travellers != c.Travellers ||
		infectious != c.Infectious || infectious == 0 {
		t.Errorf("Crowds yielded %d travellers, %d of them infectious, want %d and %d", travellers,
			infectious, c.Travellers, c.Infectious)
	}
	if travellers, _ := crowds(e, cohorts, CrowdParts); travellers != c.Moving {
		t.Errorf("Crowds yielded %d travellers on their way, want %d", travellers, c.Moving)
	}
	for i := range e.sites {
		if travellers, infectious := e.Present(i); travellers != int(e.tallies[i].Present) ||
			infectious != int(e.tallies[i].Infectious) {
			t.Fatalf("Present of place %d is %d travellers, %d of them infectious, want %+v", i, travellers,
				infectious, e.tallies[i])
		}
	}
}

func TestCrowdsBetweenTicks(t *testing.T) {
	e := newEarth(t, Config{Travellers: 20_000, Seed: 6})
	travellers := 0
	for part := range CrowdParts {
		n, _ := crowds(e, part, part+1)
		travellers += n
		tick(t, e, 1)
	}
	if c := e.Counts(); math.Abs(float64(travellers-c.Travellers)) > 0.1*float64(c.Travellers) {
		t.Errorf("Crowds yielded %d travellers, want about %d", travellers, c.Travellers)
	}
}

// Edits from outside may make the state of a running world wrong, but must not cause a panic.
func TestEditedWorldGoesOn(t *testing.T) {
	e := newEarth(t, Config{Travellers: 2000, Seed: 6})
	var who []vast.Entity
	for traveller := range e.world.Query(e.stay, e.at).All() {
		who = append(who, traveller)
	}
	tick(t, e, 1)
	e.at.Remove(who[0])
	e.home.Remove(who[1])
	e.at.Set(who[2], who[3])
	e.home.Set(who[3], who[4])
	e.life.Remove(who[5])
	e.body.Remove(who[6])
	e.stay.Remove(who[7])
	e.infectious.Add(who[2], infectious{1})
	e.infectious.Add(who[0], infectious{1})
	e.infectious.Add(e.Place(0), infectious{1})
	e.at.Set(e.Place(0), who[8])
	e.trip.Add(who[9], trip{ToPlace: 1 << 31, By: 200})
	for _, number := range []int{1, 2, 3} {
		*e.presence.Get(e.Place(number)) = presence{-5, 7}
		e.site.Get(e.Place(number)).At = vector{float32(math.NaN()), float32(math.Inf(1)), 0}
	}
	e.body.Get(who[10]).At.X = float32(math.NaN())
	for _, traveller := range who[:20] {
		if s := e.stay.Get(traveller); s != nil {
			s.Until = 0
		}
	}
	tick(t, e, 3000)
	crowds(e, 0, CrowdParts)
}

// A trip whose destination was edited to a number beyond all places ends at the last place.
func TestTripToNowhereArrives(t *testing.T) {
	e := newEarth(t, Config{Travellers: 1000, Seed: 6})
	who, _ := e.world.Query(e.trip).First()
	*e.trip.Get(who) = trip{ToPlace: math.MaxUint32, StepsLeft: 0, By: 77}
	tick(t, e, 1)
	if place, ok := e.at.Target(who); !ok || place != e.Place(len(e.sites)-1) {
		t.Errorf("the traveller is at %v, %v, want the last place", place, ok)
	}
}

func BenchmarkCrowds(b *testing.B) {
	e, err := New(Config{Travellers: 1_000_000, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	b.ResetTimer()
	for i := range b.N {
		crowds(e, i%CrowdParts, i%CrowdParts+1)
	}
}

func TestTransportsHaveNames(t *testing.T) {
	for by, want := range map[transport]string{road: "road", rail: "rail", air: "air", 9: "transport(9)"} {
		if got := by.String(); got != want {
			t.Errorf("transport %d is called %q, want %q", uint8(by), got, want)
		}
	}
}
