package atlas

import (
	"math"
	"testing"
)

// FuzzDot checks that Dot and DotXYZ return a dot of the map, or -1, for arbitrary positions and sizes. Dot
// must return a dot for each position from MinLat to MaxLat.
func FuzzDot(f *testing.F) {
	f.Add(uint16(120), uint16(40), 48.86, 2.35, float32(0.5), float32(0.5), float32(0.7071))
	f.Add(uint16(1), uint16(1), MaxLat, 180.0, float32(-1), float32(0), float32(0))
	f.Add(uint16(999), uint16(1), MinLat, -180.0, float32(-1), math.Float32frombits(1<<31),
		float32(-0.848048))
	f.Add(uint16(0), uint16(7), math.NaN(), math.Inf(1), float32(math.NaN()), float32(math.Inf(-1)),
		float32(1))
	maps := map[[2]uint16]*Map{}
	f.Fuzz(func(t *testing.T, columns, rows uint16, lat, lon float64, x, y, z float32) {
		size := [2]uint16{columns % 64, rows % 32} // few sizes, so that maps can keep a map of each size
		m := maps[size]
		if m == nil {
			m = New(int(size[0]), int(size[1]))
			maps[size] = m
		}
		width, height := m.Dots()
		if dot := m.Dot(lat, lon); dot < -1 || dot >= width*height {
			t.Errorf("%v: Dot(%g, %g) = %d, of %d dots", size, lat, lon, dot, width*height)
		} else if in := lat >= MinLat && lat <= MaxLat && math.Abs(lon) <= 180 && width > 0; in && dot < 0 {
			t.Errorf("%v: Dot(%g, %g) = -1, want a dot", size, lat, lon)
		}
		if dot := m.DotXYZ(x, y, z); dot < -1 || dot >= width*height {
			t.Errorf("%v: DotXYZ(%g, %g, %g) = %d, of %d dots", size, x, y, z, dot, width*height)
		}
	})
}
