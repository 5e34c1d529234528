package inspect

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// BenchmarkSampling measures a sample and a scrape of a world with a million entities. The benchmarks census
// and column measure the work for which the world waits: a sample needs one census, and a scrape also needs
// the statistics of each column. The benchmarks sample and scrape measure the other work.
func BenchmarkSampling(b *testing.B) {
	w := vast.NewWorld(vast.Options{Name: "million", MaxEntities: 1 << 20})
	defer w.Close()
	position, dead := vast.NewColumn[Position](w), vast.NewTag(w, "Dead")
	w.Archetype(position).NewN(1_000_000, func(r vast.Run) { clear(position.Slice(r)) })
	var third []vast.Entity
	for r := range w.Query(position).Runs() {
		for i := 0; i < r.Len(); i += 3 {
			third = append(third, r.Entity(i))
		}
	}
	for _, e := range third {
		dead.Add(e)
	}
	b.Run("census", func(b *testing.B) {
		var c census
		for b.Loop() {
			takeCensus(w, &c)
		}
	})
	b.Run("column", func(b *testing.B) {
		for b.Loop() {
			probe.StatsOf(dead)
		}
	})
	in := &Inspector{world: w}
	b.Run("sample", func(b *testing.B) {
		s := newSampler(w, in.mainSchedule, in.control)
		s.stop() // s must not ask for visits, because no goroutine admits them
		began := time.Now()
		before := s.read(began)
		for b.Loop() {
			after := s.read(began)
			after.since(before)
			before = after
		}
	})
	b.Run("scrape", func(b *testing.B) {
		s := newSampler(w, in.mainSchedule, in.control)
		takeSurvey(w, &s.survey.answer)
		s.survey.at = time.Now()
		s.stop()
		r := prometheus.NewRegistry()
		r.MustRegister(s.collector(), NewMemoryCollector())
		for b.Loop() {
			if _, err := r.Gather(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
