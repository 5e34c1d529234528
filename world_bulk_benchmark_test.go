package vast

import (
	"fmt"
	"testing"
)

func bulkWorld(b *testing.B) (*World, Column[position], Column[velocity], Column[struct{}]) {
	b.Helper()
	w := NewWorld(Options{})
	b.Cleanup(func() { w.Close() })
	pos, vel, tag := NewColumn[position](w), NewColumn[velocity](w), NewColumn[struct{}](w)
	w.Archetype(pos).NewN(benchmarkEntities, nil)
	q := w.Query(pos)
	vel.AddAll(q, velocity{}) // the measurements must not include the first touch of the memory
	vel.RemoveAll(q)
	return w, pos, vel, tag
}

func perEntity(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEntities, "ns/entity")
}

//go:noinline
func addAndRemoveAll[T any](c Column[T], q Query, v T) {
	c.AddAll(q, v)
	c.RemoveAll(q)
}

func BenchmarkBulk(b *testing.B) {
	w, pos, vel, tag := bulkWorld(b)
	q := w.Query(pos)
	b.Run("AddAll and RemoveAll", func(b *testing.B) {
		for b.Loop() {
			addAndRemoveAll(vel, q, velocity{1, 2})
		}
		perEntity(b)
	})
	b.Run("AddAll and RemoveAll without data", func(b *testing.B) {
		for b.Loop() {
			addAndRemoveAll(tag, q, struct{}{})
		}
		perEntity(b)
	})
	b.Run("SetAll", func(b *testing.B) {
		for b.Loop() {
			pos.SetAll(q, position{1, 2})
		}
		perEntity(b)
	})
	b.Run("Exchange", func(b *testing.B) {
		tags, positions := []AnyColumn{tag}, []AnyColumn{pos}
		all := w.Query()
		for b.Loop() {
			w.Exchange(all, tags, positions)
			w.Exchange(all, positions, tags)
		}
		perEntity(b)
	})
}

//go:noinline
func countOf(q Query) (n int) {
	for run := range q.Runs() {
		n += run.Len()
	}
	return n
}

func BenchmarkAny(b *testing.B) {
	for _, period := range []int{64, 1} {
		name := fmt.Sprintf("alternating after %d", period)
		w, pos, vel, tag := bulkWorld(b)
		for i, e := range entitiesOf(w.Query()) {
			if i/period%2 == 0 {
				vel.Add(e, velocity{})
			} else {
				tag.Add(e, struct{}{})
			}
		}
		for _, tt := range []struct {
			name string
			q    Query
		}{{"Query", w.Query(pos)}, {"Any", w.Query(pos).Any(vel, tag)}, {"Without",
			w.Query(pos).Without(vel)}} {
			b.Run(tt.name+" "+name, func(b *testing.B) {
				for b.Loop() {
					countOf(tt.q)
				}
				perEntity(b)
			})
		}
	}
}

func BenchmarkBatches(b *testing.B) {
	w, pos, _, _ := bulkWorld(b)
	q := w.Query(pos)
	for b.Loop() {
		n := 0
		for batch := range q.Batches(4096) {
			for run := range batch.Runs() {
				n += run.Len()
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(benchmarkEntities/4096), "ns/batch")
}

func BenchmarkQueryOnce(b *testing.B) {
	w, pos, vel, tag := bulkWorld(b)
	for i, e := range entitiesOf(w.Query()) {
		if i%64 == 0 {
			tag.Add(e, struct{}{})
		}
	}
	for _, tt := range []struct {
		name string
		q    Query
	}{{"empty", w.Query(vel)}, {"one run", w.Query(pos)}, {"16384 runs", w.Query(tag)},
		{"16384 runs with two columns", w.Query(pos, tag)},
		{"16384 runs with Without", w.Query(tag).Without(vel)}} {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				countOf(tt.q)
			}
		})
	}
}
