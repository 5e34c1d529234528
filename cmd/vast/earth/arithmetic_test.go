package earth

import (
	"math"
	"testing"
)

func TestSinCos(t *testing.T) {
	for i := -3600; i <= 3600; i++ {
		degrees := float64(i) / 10
		sin, cos := sinCos(degrees)
		wantSin, wantCos := math.Sincos(degrees * math.Pi / 180)
		if math.Abs(sin-wantSin) > 1e-13 || math.Abs(cos-wantCos) > 1e-13 {
			t.Fatalf("sinCos(%v) = %v, %v, want %v, %v", degrees, sin, cos, wantSin, wantCos)
		}
	}
	for quarter, want := range [][2]float64{{0, 1}, {1, 0}, {0, -1}, {-1, 0}} {
		if sin, cos := sinCos(float64(90 * quarter)); sin != want[0] || cos != want[1] {
			t.Errorf("sinCos(%d) = %v, %v, not exactly %v", 90*quarter, sin, cos, want)
		}
	}
}

func TestLogarithm(t *testing.T) {
	s := draws(1, 2, 3, forCells)
	for range 100_000 {
		x := math.Ldexp(s.unit(), int(s.below(120))-60)
		if got, want := logarithm(x), math.Log(x); math.Abs(got-want) > 1e-11*max(1, math.Abs(want)) {
			t.Fatalf("logarithm(%v) = %v, want %v", x, got, want)
		}
	}
	if got := logarithm(1); got != 0 {
		t.Errorf("logarithm(1) = %v, want 0", got)
	}
}

func somewhere(s *stream) vector {
	sinLat, cosLat := sinCos(180*s.unit() - 90)
	sinLon, cosLon := sinCos(360*s.unit() - 180)
	return wide{cosLat * cosLon, cosLat * sinLon, sinLat}.narrow()
}

func TestArc(t *testing.T) {
	for i := 0; i <= 1800; i++ {
		sin, cos := sinCos(float64(i) / 10)
		got, want := arc(wide{x: 1}, wide{cos, 0, sin}), float64(i)/10*math.Pi/180
		if math.Abs(got-want) > 4e-8 {
			t.Errorf("the arc of %v degrees is %v, want %v", float64(i)/10, got, want)
		}
	}
	// The distance from Paris to Sydney, by the haversine formula.
	const lat1, lon1, lat2, lon2 = 48.8566, 2.3522, -33.8688, 151.2093
	h := math.Pow(math.Sin((lat2-lat1)*math.Pi/360), 2) +
		math.Cos(lat1*math.Pi/180)*math.Cos(lat2*math.Pi/180)*math.Pow(math.Sin((lon2-lon1)*math.Pi/360), 2)
	point := func(lat, lon float64) wide {
		sinLat, cosLat := sinCos(lat)
		sinLon, cosLon := sinCos(lon)
		return wide{cosLat * cosLon, cosLat * sinLon, sinLat}
	}
	got, want := arc(point(lat1, lon1), point(lat2, lon2)), 2*math.Asin(math.Sqrt(h))
	if math.Abs(got-want) > 1e-7 || math.Abs(got*earthRadius-16960) > 20 {
		t.Errorf("the distance from Paris to Sydney is %v km, want %v km", got*earthRadius, want*earthRadius)
	}
}
