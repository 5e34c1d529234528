package vast

import (
	"testing"
	"time"

	"github.com/vastgo/vast/internal/measure"
)

// BenchmarkPairs visits all pairs of 2,000 entities in two ways: in nested loops over slots, and in nested
// loops over copies of the values. It reports the time for each pair. The world has 8,000 entities.
func BenchmarkPairs(b *testing.B) {
	w := NewWorld(Options{MaxEntities: 1 << 14})
	defer w.Close()
	pos, solid := NewColumn[position](w), NewTag(w, "solid")
	w.Archetype(pos).NewN(8000, nil)
	for i, e := range entitiesOf(w.Query()) {
		pos.Get(e).X = float64(i)
		if i%4 == 0 {
			solid.Add(e)
		}
	}
	q := w.Query(pos, solid)
	ways := []func() int{
		func() int { return pairsBySlots(w, q, pos) },
		func() int { return pairsOfCopies(q, pos) },
	}
	samples := measure.Turns(max(b.N, 5), len(ways), nil, func(way int) float64 {
		start := time.Now()
		if n := ways[way](); n != 1999 {
			b.Fatalf("%d pairs are near, want 1999", n)
		}
		return float64(time.Since(start).Nanoseconds()) / (2000 * 1999 / 2)
	})
	b.ReportMetric(measure.Samples(samples[0]).Best(), "ns-slots/pair")
	b.ReportMetric(measure.Samples(samples[1]).Best(), "ns-copies/pair")
	b.ReportMetric(0, "ns/op")
}

//go:noinline
func pairsBySlots(w *World, q Query, pos Column[position]) (near int) {
	for s := range q.Slots() {
		p := pos.At(s)
		for other := range q.Between(s.Index()+1, w.Slots()).Slots() {
			if pos.At(other).X-p.X < 5 {
				near++
			}
		}
	}
	return near
}

//go:noinline
func pairsOfCopies(q Query, pos Column[position]) (near int) {
	var all []position
	for s := range q.Slots() {
		all = append(all, *pos.At(s))
	}
	for i, p := range all {
		for _, other := range all[i+1:] {
			if other.X-p.X < 5 {
				near++
			}
		}
	}
	return near
}
