package atlas

import (
	"math"
	"math/rand/v2"
	"testing"
)

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		New(120, 40)
	}
}

func BenchmarkDraw(b *testing.B) {
	m := New(120, 40)
	width, height := m.Dots()
	density, infected := make([]uint32, width*height), make([]uint32, width*height)
	random := rand.New(rand.NewPCG(1, 0))
	for i := range density {
		if m.Land(i) {
			density[i] = uint32(math.Exp2(12 * random.Float64()))
			infected[i] = random.Uint32N(density[i])
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		m.Draw(density, infected, Style{})
	}
}

//go:noinline
func countDots(m *Map, points [][3]float32, density []uint32) {
	for _, p := range points {
		if dot := m.DotXYZ(p[0], p[1], p[2]); dot >= 0 {
			density[dot]++
		}
	}
}

func BenchmarkDotXYZ(b *testing.B) {
	m := New(120, 40)
	width, height := m.Dots()
	density := make([]uint32, width*height)
	random := rand.New(rand.NewPCG(1, 0))
	points := make([][3]float32, 4096)
	for i := range points {
		points[i] = unit(math.Asin(2*random.Float64()-1)*180/math.Pi, random.Float64()*360-180)
	}
	for b.Loop() {
		countDots(m, points, density)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(points)), "ns/point")
}
