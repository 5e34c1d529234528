package sched

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// BenchmarkRecord compares ticks with and without recording. It does not measure the call of Record.
func BenchmarkRecord(b *testing.B) {
	w, _ := newWorld(b, 0)
	s := newSchedule(b, w, Options{Workers: 1})
	const parts = 1000
	part := func(*Context, int) {}
	s.Add(System{Name: "a", Run: func(c *Context) { c.Split(parts, part) }})
	tick(b, s, 10)
	plain, recorded := time.Hour, time.Hour
	for b.Loop() {
		start := time.Now()
		tick(b, s, 1)
		plain = min(plain, time.Since(start))
		wait := s.Record(1)
		start = time.Now()
		tick(b, s, 1)
		recorded = min(recorded, time.Since(start))
		if _, err := wait(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(plain.Nanoseconds())/parts, "ns/part-plain")
	b.ReportMetric(float64(recorded.Nanoseconds())/parts, "ns/part-recorded")
}

func BenchmarkStats(b *testing.B) {
	for _, systems := range []int{10, 100} {
		b.Run(fmt.Sprint(systems), func(b *testing.B) {
			w, _ := newWorld(b, 0)
			s := newSchedule(b, w, Options{Workers: 1})
			for i := range systems {
				s.Add(System{Name: fmt.Sprint(i), Run: nothing})
			}
			tick(b, s, 1000)
			for b.Loop() {
				s.Stats()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(systems), "ns/system")
		})
	}
}
