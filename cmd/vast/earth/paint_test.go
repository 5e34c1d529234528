package earth

import (
	"testing"

	"github.com/vastgo/vast/cmd/vast/earth/atlas"
)

func total(counts []uint32) (n int) {
	for _, c := range counts {
		n += int(c)
	}
	return n
}

func TestPaintCountsEveryTraveller(t *testing.T) {
	e := newEarth(t, Config{Travellers: 20_000, Seed: 6})
	tick(t, e, 400)
	for _, size := range [][2]int{{120, 40}, {20, 8}, {120, 40}} {
		m := atlas.New(size[0], size[1])
		width, height := m.Dots()
		density, infected := make([]uint32, width*height), make([]uint32, width*height)
		want, wantInfected := make([]uint32, width*height), make([]uint32, width*height)
		for who := range e.world.Query(e.body).All() {
			at := e.body.Get(who).At
			if dot := m.DotXYZ(at.X, at.Y, at.Z); dot >= 0 {
				want[dot]++
				if e.infectious.Has(who) {
					wantInfected[dot]++
				}
			}
		}
		for round := range uint32(2) { // Paint adds to the counts in the slices
			e.Paint(m, density, infected)
			for dot := range want {
				if density[dot] != want[dot]*(round+1) || infected[dot] != wantInfected[dot]*(round+1) {
					t.Fatalf("map of %v, dot %d, picture %d: density %d and infected %d, want %d and %d",
						size, dot, round+1, density[dot], infected[dot], want[dot]*(round+1),
						wantInfected[dot]*(round+1))
				}
			}
		}
		if total(want) < 19_000 || total(wantInfected) == 0 {
			t.Fatalf("%d travellers on the map, %d infected: too few for this test", total(want),
				total(wantInfected))
		}
	}
}

func TestPaintedSampleIsFair(t *testing.T) {
	e := newEarth(t, Config{Travellers: 60_000, Seed: 6})
	m := atlas.New(120, 40)
	width, height := m.Dots()
	all := make([]uint32, width*height)
	e.paintBodies(e.world.Query(e.trip, e.body), m, all, 1)
	for _, every := range []int{2, 4, 8} {
		some := make([]uint32, width*height)
		e.paintBodies(e.world.Query(e.trip, e.body), m, some, every)
		if got, want := float64(total(some)), float64(total(all)); got < 0.9*want || got > 1.1*want ||
			want < 5000 {
			t.Errorf("a sample of one in %d stands for %v of %v travellers", every, got, want)
		}
	}
}
