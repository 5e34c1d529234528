package inspect

import (
	"encoding/binary"
	"math"
	"testing"
)

func TestCells(t *testing.T) {
	up := View{ID: "up", Bounds: Bounds{0, 0, 100, 50}, Layers: []Layer{{}}}
	down := up
	down.Down = true
	globe := View{ID: "globe", Bounds: Bounds{-180, -90, 180, 90}, Layers: []Layer{{}}, Wraps: true}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		v      *View
		window Bounds
		x, y   float64
		cell   int // in a picture of 4 × 2 cells
	}{
		{&up, up.Bounds, 0, 50, 0}, {&up, up.Bounds, 99, 49, 3}, {&up, up.Bounds, 100, 0, 7},
		{&up, up.Bounds, 26, 10, 5},
		{&down, up.Bounds, 0, 50, 4}, {&down, up.Bounds, 0, 0, 0}, {&down, up.Bounds, 100, 10, 3},
		{&up, up.Bounds, -0.1, 10, -1}, {&up, up.Bounds, 100.1, 10, -1}, {&up, up.Bounds, 10, 50.1, -1},
		{&up, up.Bounds, 10, -0.1, -1},
		{&up, up.Bounds, nan, 10, -1}, {&up, up.Bounds, 10, nan, -1}, {&up, up.Bounds, inf, 10, -1},
		{&up, up.Bounds, 10, -inf, -1},
		{&globe, Bounds{160, -10, 200, 10}, 165, 5, 0}, {&globe, Bounds{160, -10, 200, 10}, -165, 5, 3},
		{&globe, Bounds{160, -10, 200, 10}, -155, 5, -1}, {&globe, Bounds{160, -10, 200, 10}, 150, 5, -1},
	} {
		p := newPicture(c.v, c.window, 4, 2)
		if cell := p.Cell(c.x, c.y); cell != c.cell {
			t.Errorf("view %s, window %v: the point (%v, %v) is in cell %d, want cell %d", c.v.ID, c.window,
				c.x, c.y, cell, c.cell)
		}
	}
}

func TestPictureBytes(t *testing.T) {
	v := View{Bounds: Bounds{0, 0, 100, 50}, Layers: []Layer{{}, {}}}
	p := newPicture(&v, Bounds{10, 20, 30, 40}, 3, 2)
	p.Add(0, 0, 7)
	p.Add(1, 5, 8)
	p.Add(1, 5, 1)
	p.Add(1, -1, 100)
	b := p.bytes()
	if len(b) != pictureHead+4*12 || string(b[:4]) != "vpic" {
		t.Fatalf("the picture has %d bytes: %q", len(b), b)
	}
	for i, want := range []uint32{3, 2, 2} {
		if got := binary.LittleEndian.Uint32(b[4+4*i:]); got != want {
			t.Errorf("number %d of the head is %d, want %d", i, got, want)
		}
	}
	for i, want := range []float64{10, 20, 30, 40} {
		if got := math.Float64frombits(binary.LittleEndian.Uint64(b[16+8*i:])); got != want {
			t.Errorf("border %d is %v, want %v", i, got, want)
		}
	}
	for i := range 12 {
		want := map[int]uint32{0: 7, 11: 9}[i]
		if got := binary.LittleEndian.Uint32(b[pictureHead+4*i:]); got != want {
			t.Errorf("count %d is %d, want %d", i, got, want)
		}
	}
}

func TestWindows(t *testing.T) {
	flat := &servedView{View: View{Bounds: Bounds{0, 0, 100, 50}}}
	globe := &servedView{View: View{Bounds: Bounds{-180, -90, 180, 90}, Wraps: true}}
	for _, c := range []struct {
		e         *servedView
		ask, want Bounds // want is zero if the view must refuse the window
	}{
		{flat, Bounds{-50, -50, 150, 150}, Bounds{-50, -50, 150, 150}},
		{flat, Bounds{5, 5, 5, 6}, Bounds{}}, {flat, Bounds{6, 5, 5, 6}, Bounds{}},
		{flat, Bounds{5, 6, 6, 6}, Bounds{}},
		{flat, Bounds{0, 0, 801, 10}, Bounds{}}, {flat, Bounds{0, 0, 10, 401}, Bounds{}},
		{flat, Bounds{0, 0, 1e-9, 1}, Bounds{}}, {flat, Bounds{1e300, 0, 2e300, 1}, Bounds{}},
		{flat, Bounds{math.NaN(), 0, 1, 1}, Bounds{}}, {flat, Bounds{math.Inf(-1), 0, 1, 1}, Bounds{}},
		{globe, Bounds{170, 0, 190, 1}, Bounds{170, 0, 190, 1}},
		{globe, Bounds{190, 0, 200, 1}, Bounds{-170, 0, -160, 1}},
		{globe, Bounds{-190, 0, -170, 1}, Bounds{170, 0, 190, 1}},
		{globe, Bounds{-180, 0, 181, 1}, Bounds{}},
		{globe, Bounds{360e9, 0, 360e9 + 1, 1}, Bounds{0, 0, 1, 1}},
	} {
		got, err := c.e.window(c.ask)
		if c.want == (Bounds{}) {
			if err == nil {
				t.Errorf("the window %v is not refused", c.ask)
			}
		} else if err != nil || got != c.want {
			t.Errorf("the window %v becomes %v, error %v; want %v", c.ask, got, err, c.want)
		}
	}
}

func TestPicking(t *testing.T) {
	v := View{Bounds: Bounds{-180, -90, 180, 90}, Wraps: true, Sphere: true}
	p := newPicking(&v, 179.5, 60, 1)
	for _, c := range []struct {
		x, y  float64
		takes bool
	}{
		{179.5, 60, true}, {-179.5, 60, true}, {179.5, 61.1, false}, {179.5, 59, true}, {177.6, 60, true},
		{177.4, 60, false},
		{math.NaN(), 60, false}, {179.5, math.NaN(), false},
	} {
		if p.Takes(c.x, c.y, 0) != c.takes {
			t.Errorf("Takes(%v, %v, 0) is %t, want %t", c.x, c.y, !c.takes, c.takes)
		}
	}
	for i := range 20 {
		p.Add(Picked{Name: string(rune('a' + i)), X: 179.5, Y: 60 + float64(i%7)/10, Weight: float64(i / 10)})
	}
	names := ""
	for _, k := range p.found {
		names += k.Name
	}
	for i := 1; i < len(p.found); i++ {
		if a, b := p.found[i-1], p.found[i]; b.Weight != 1 || a.distance > b.distance {
			t.Errorf("picked %s: %v comes before %v", names, a, b)
		}
	}
	if len(p.found) != maxPicked || p.Takes(179.5, 60, 0) || !p.Takes(179.5, 60.9, 2) {
		t.Errorf("%d things are picked, want %d; Takes is %t for a less important thing, %t for a more "+
			"important thing", len(p.found), maxPicked, p.Takes(179.5, 60, 0), p.Takes(179.5, 60.9, 2))
	}
}
