package vast

import (
	"testing"
	"time"

	"github.com/vastgo/vast/internal/measure"
)

// BenchmarkCount compares Query.Count with a loop over the query's runs, in a world of a million entities,
// and in a world of 100.
func BenchmarkCount(b *testing.B) {
	w, pos, vel, _ := bulkWorld(b)
	sparse, marks := NewTag(w, "one in 16"), NewTag(w, "64 of 1024")
	for i, e := range entitiesOf(w.Query()) {
		if i%16 == 0 {
			sparse.Add(e)
		}
		if i/64%16 == 0 {
			marks.Add(e)
		}
	}
	vel.AddAll(w.Query(), velocity{})
	none := NewTag(w, "none")
	few := NewWorld(Options{MaxEntities: 1 << 10})
	defer few.Close()
	little := NewColumn[position](few)
	few.Archetype(little).NewN(100, nil)
	for _, c := range []struct {
		name string
		q    Query
	}{
		{"one column", w.Query(pos)}, {"two columns", w.Query(pos, vel)},
		{"one column, one in 16", w.Query(sparse)}, {"two columns, one in 16", w.Query(pos, sparse)},
		{"one column, 64 of 1024", w.Query(marks)}, {"two columns, 64 of 1024", w.Query(pos, marks)},
		{"without one in 16", w.Query(pos).Without(sparse)}, {"any", w.Query(pos).Any(sparse, marks)},
		{"optional", w.Query(pos).Optional(sparse)}, {"exactly", w.Query(pos, vel).Exactly()},
		{"between", w.Query(pos, vel).Between(1000, 500_001)},
		{"among", w.Query().Among(entitiesOf(w.Query(sparse)))},
		{"none", w.Query(none)}, {"100 entities", few.Query(little)},
	} {
		b.Run(c.name, func(b *testing.B) {
			want := countOf(c.q)
			start := time.Now()
			countOf(c.q)
			// Many passes for each reading of the clock, because the reading takes time, too.
			passes := 1 + int(200*time.Microsecond/(1+time.Since(start)))
			sides := []func(Query) int{countOf, Query.Count}
			samples := measure.Turns(max(b.N, 20), len(sides), nil, func(side int) float64 {
				start := time.Now()
				for range passes {
					if n := sides[side](c.q); n != want {
						b.Fatalf("%d matches, want %d", n, want)
					}
				}
				return float64(time.Since(start).Nanoseconds()) / float64(passes)
			})
			runs, count := measure.Samples(samples[0]), measure.Samples(samples[1])
			b.ReportMetric(runs.Best(), "ns-runs")
			b.ReportMetric(count.Best(), "ns-Count")
			b.ReportMetric(measure.Ratio(count, runs), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}
