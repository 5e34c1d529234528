package atlas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func unit(lat, lon float64) [3]float32 {
	sinLat, cosLat := math.Sincos(lat * math.Pi / 180)
	sinLon, cosLon := math.Sincos(lon * math.Pi / 180)
	return [3]float32{float32(cosLat * cosLon), float32(cosLat * sinLon), float32(sinLat)}
}

func TestDot(t *testing.T) {
	m := New(120, 36) // the window fills the map: 240×144 dots
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		lat, lon float64
		want     int
	}{
		{MaxLat, -180, 0},
		{MaxLat, 180, 239},
		{MinLat, -180, 143 * 240},
		{MinLat, 180, 144*240 - 1},
		{11.001, 0, 71*240 + 120}, // just above the middle of the window
		{10.999, -0.001, 72*240 + 119},
		{11.001, 360, 71*240 + 120},
		{11.001, -720, 71*240 + 120},
		{MaxLat + 0.001, 0, -1},
		{MinLat - 0.001, 0, -1},
		{90, 0, -1}, {-90, 0, -1}, {1e300, 0, -1},
		{nan, 0, -1}, {0, nan, -1}, {inf, 0, -1}, {0, inf, -1}, {0, -inf, -1},
	} {
		if got := m.Dot(c.lat, c.lon); got != c.want {
			t.Errorf("Dot(%g, %g) = %d, want %d", c.lat, c.lon, got, c.want)
		}
	}
}

func TestMargins(t *testing.T) {
	for _, c := range []struct {
		columns, rows           int
		left, top, across, down int
	}{
		{120, 36, 0, 0, 240, 144},
		{200, 10, 144, 0, 112, 40}, // the window is 2.8 times as wide as high
		{40, 100, 0, 175, 80, 50},  // the window is 1.6 times as wide as high
		{1, 1, 0, 1, 2, 1},
	} {
		m := New(c.columns, c.rows)
		if m.left != c.left || m.top != c.top || m.across != c.across || m.down != c.down {
			t.Errorf("%d×%d cells: the window has %d×%d dots and begins at %d, %d; want %d×%d at %d, %d",
				c.columns, c.rows, m.across, m.down, m.left, m.top, c.across, c.down, c.left, c.top)
		}
		if got, want := m.Dot(MaxLat, -180), c.top*m.width+c.left; got != want {
			t.Errorf("%d×%d: the first dot is %d, want %d", c.columns, c.rows, got, want)
		}
		if got, want := m.Dot(MinLat, 180), (c.top+c.down-1)*m.width+c.left+c.across-1; got != want {
			t.Errorf("%d×%d: the last dot is %d, want %d", c.columns, c.rows, got, want)
		}
	}
}

func TestDotXYZAgreesWithDot(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, size := range [][2]int{{1, 1}, {20, 6}, {120, 36}, {77, 50}, {400, 120}, {1000, 500}} {
		m := New(size[0], size[1])
		exact := 0
		const points = 20000
		for range points {
			lat, lon := random.Float64()*180-90, random.Float64()*360-180
			p := unit(lat, lon)
			got := m.DotXYZ(p[0], p[1], p[2])
			if got == m.Dot(lat, lon) {
				exact++
				continue
			}
			// Near a border between two dots, either dot is right. The longitude has the documented error,
			// and the latitude has the precision of a float32.
			near := false
			for _, dlat := range []float64{-5e-5, 0, 5e-5} {
				for _, dlon := range []float64{-1e-3, 0, 1e-3} {
					near = near || got == m.Dot(lat+dlat, lon+dlon)
				}
			}
			if !near {
				t.Fatalf("%v: at latitude %g, longitude %g DotXYZ is %d, Dot is %d", size, lat, lon, got,
					m.Dot(lat, lon))
			}
		}
		if exact < points*98/100 {
			t.Errorf("%v: only %d of %d points gave the same dot", size, exact, points)
		}
	}
}

func TestDotXYZOfStrangeVectors(t *testing.T) {
	m := New(120, 36)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, v := range [][3]float32{
		{0, 0, 1}, {0, 0, -1}, {nan, 0, 0}, {0, nan, 0}, {0, 0, nan}, {inf, inf, 0}, {0, 0, inf},
		{0, 0, -inf}, {0, 0, 5},
	} {
		if got := m.DotXYZ(v[0], v[1], v[2]); got != -1 {
			t.Errorf("DotXYZ(%v) = %d, want -1", v, got)
		}
	}
	if got, want := m.DotXYZ(0, 0, 0), m.Dot(0, 0); got != want {
		t.Errorf("DotXYZ of the centre of the Earth = %d, want %d", got, want)
	}
}

func TestLandAndSea(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {400, 120}} {
		m := New(size[0], size[1])
		for _, c := range []struct {
			name     string
			lat, lon float64
			land     bool
		}{
			{"Kansas", 38, -98, true}, {"Amazonia", -5, -62, true}, {"Sahara", 23, 10, true},
			{"Congo", -2, 23, true},
			{"Siberia", 63, 100, true}, {"Xinjiang", 41, 85, true},
			{"Australia", -25, 134, true}, {"Greenland", 72, -40, true},
			{"Chukotka, west of the antimeridian", 67.5, 178, true},
			{"Chukotka, east of the antimeridian", 66.9, -176.5, true},
			{"Atlantic", 30, -40, false}, {"Pacific", 0, -140, false}, {"Indian Ocean", -20, 80, false},
			{"Pacific by the antimeridian", 30, 179.9, false},
			{"Pacific beyond the antimeridian", 30, -179.9, false},
			{"Caspian Sea", 42, 50.7, false}, {"Hudson Bay", 59, -86, false},
			{"Mediterranean", 34.5, 18, false},
			{"Arctic Ocean", 79, -170, false}, {"Southern Ocean", -57.5, 90, false},
		} {
			if got := m.Land(m.Dot(c.lat, c.lon)); got != c.land {
				t.Errorf("a map of %v cells: Land at %s is %t", size, c.name, got)
			}
		}
		if !m.Coast(m.Dot(-34.82, 20)) {
			t.Errorf("%v: no coast at Cape Agulhas", size)
		}
		if m.Coast(m.Dot(23, 10)) || m.Coast(m.Dot(30, -40)) || m.Coast(m.Dot(67.5, 179.99)) {
			t.Errorf("%v: there is a coast in the Sahara, in the Atlantic or along the antimeridian", size)
		}
		land, coast := 0, 0
		for dot := range m.land {
			if m.Land(dot) {
				land++
			}
			if m.Coast(dot) {
				coast++
			}
		}
		// 31 % of the projected window is land.
		if share := float64(land) / float64(len(m.land)); share < 0.30 || share > 0.315 {
			t.Errorf("%v: %.1f %% of the dots are land, want 31 %%", size, 100*share)
		}
		if coast > land/2 {
			t.Errorf("%v: %d dots are coast, more than half of the %d dots of land", size, coast, land)
		}
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct{ columns, rows, wantColumns, wantRows int }{
		{0, 0, 0, 0}, {0, 5, 0, 0}, {5, 0, 0, 0}, {-1, 5, 0, 0}, {5, math.MinInt, 0, 0},
		{1, 1, 1, 1}, {1, 500, 1, 500}, {1000, 1, 1000, 1}, {20, 6, 20, 6}, {400, 120, 400, 120},
		{math.MaxInt, 2, MaxColumns, 2}, {2, math.MaxInt, 2, MaxRows},
	} {
		t.Run(fmt.Sprintf("%d×%d", c.columns, c.rows), func(t *testing.T) {
			m := New(c.columns, c.rows)
			if columns, rows := m.Size(); columns != c.wantColumns || rows != c.wantRows {
				t.Fatalf("Size is %d×%d, want %d×%d", columns, rows, c.wantColumns, c.wantRows)
			}
			width, height := m.Dots()
			if width != 2*c.wantColumns || height != 4*c.wantRows {
				t.Errorf("Dots is %d×%d, want twice and four times the size", width, height)
			}
			if dot := m.Dot(0, 0); dot >= width*height || dot < 0 && c.wantRows > 0 || dot >= 0 &&
				c.wantRows == 0 {
				t.Errorf("Dot(0, 0) = %d, of %d dots", dot, width*height)
			}
			if dot := m.DotXYZ(1, 0, 0); dot != m.Dot(0, 0) {
				t.Errorf("DotXYZ(1, 0, 0) = %d, want %d", dot, m.Dot(0, 0))
			}
			density := make([]uint32, width*height)
			for i := range density {
				density[i] = math.MaxUint32
			}
			g := m.Draw(density, density, Style{})
			if g.Columns != c.wantColumns || g.Rows != c.wantRows ||
				len(g.Cells) != c.wantColumns*c.wantRows {
				t.Errorf("Draw returns a grid of %d×%d with %d cells", g.Columns, g.Rows, len(g.Cells))
			}
			for i, cell := range g.Cells {
				if cell.Rune != '⣿' {
					t.Fatalf("cell %d of a full map is %q", i, cell.Rune)
				}
			}
		})
	}
}
