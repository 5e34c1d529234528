package atlas

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestPosition(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	check := func(lat, lon, length float64) {
		t.Helper()
		sinLat, cosLat := math.Sincos(lat * math.Pi / 180)
		sinLon, cosLon := math.Sincos(lon * math.Pi / 180)
		gotLat, gotLon := Position(float32(length*cosLat*cosLon), float32(length*cosLat*sinLon),
			float32(length*sinLat))
		east := math.Abs(math.Remainder(float64(gotLon)-lon, 360)) * cosLat // in degrees of a great circle
		if !(math.Abs(float64(gotLat)-lat) < 1e-3 && east < 1e-3) {
			t.Fatalf("Position of the vector of length %v to %v, %v is %v, %v", length, lat, lon, gotLat,
				gotLon)
		}
	}
	for range 20_000 {
		check(180*random.Float64()-90, 360*random.Float64()-180, 1)
		check(180*random.Float64()-90, 360*random.Float64()-180, 0.01+3*random.Float64())
	}
	for lat := -90.0; lat <= 90; lat += 45 {
		for lon := -180.0; lon <= 180; lon += 45 {
			check(lat, lon, 1)
		}
	}
	if lat, lon := Position(0, 0, 0); lat != 0 || lon != 0 {
		t.Errorf("Position of the zero vector is %v, %v, want 0, 0", lat, lon)
	}
	nan := float32(math.NaN())
	for _, v := range [][3]float32{{nan, 0, 0}, {0, nan, 0}, {0, 0, nan}} {
		if lat, lon := Position(v[0], v[1], v[2]); lat == lat || lon == lon {
			t.Errorf("Position of %v is %v, %v, want NaN, NaN", v, lat, lon)
		}
	}
}

func BenchmarkPosition(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	points := make([][3]float32, 1<<16)
	for i := range points {
		points[i] = [3]float32{float32(random.NormFloat64()), float32(random.NormFloat64()),
			float32(random.NormFloat64())}
	}
	b.ResetTimer()
	for i := range b.N {
		p := &points[i%len(points)]
		sumOfPositions(p)
	}
}

var sum float32

//go:noinline
func sumOfPositions(p *[3]float32) {
	lat, lon := Position(p[0], p[1], p[2])
	sum += lat + lon
}

func TestOutlines(t *testing.T) {
	outlines := Outlines()
	inside := func(lat, lon float32) bool {
		odd := false
		for _, ring := range outlines {
			prev := ring[len(ring)-1]
			for _, p := range ring {
				if (p.Lat > lat) != (prev.Lat > lat) &&
					lon < (prev.Lon-p.Lon)*(lat-p.Lat)/(prev.Lat-p.Lat)+p.Lon {
					odd = !odd
				}
				prev = p
			}
		}
		return odd
	}
	for _, c := range []struct {
		name     string
		lat, lon float32
		land     bool
	}{
		{"Berlin", 52.5, 13.4, true}, {"Atlantic", 30, -40, false}, {"Alice Springs", -23.7, 133.9, true},
		{"Pacific", 0, -150, false}, {"Brasília", -15.8, -47.9, true}, {"Caspian Sea", 42, 51, false},
	} {
		if inside(c.lat, c.lon) != c.land {
			t.Errorf("%s: on land %v, want %v", c.name, !c.land, c.land)
		}
	}
	outlines[0][0] = Point{}
	if Outlines()[0][0] == (Point{}) {
		t.Error("a change of an outline appears in the next result of Outlines")
	}
}
