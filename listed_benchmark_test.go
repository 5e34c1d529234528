package vast

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/measure"
)

// BenchmarkListed visits lists of random entities in three ways: with Get, with a new query for each list,
// and with a query that was made before. It reports the time for each listed entity. The world has a million
// entities.
func BenchmarkListed(b *testing.B) {
	w, pos, vel, _ := bulkWorld(b)
	vel.AddAll(w.Query(), velocity{})
	all := w.Query(pos, vel)
	es := entitiesOf(all)
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			lists, queries := make([][]Entity, 500_000/n), make([]Query, 500_000/n)
			for i := range lists {
				for range n {
					lists[i] = append(lists[i], es[r.IntN(len(es))])
				}
				queries[i] = all.Among(lists[i])
			}
			ways := []func(int){
				func(i int) { moveListed(pos, vel, lists[i]) },
				func(i int) { moveMatches(pos, vel, all.Among(lists[i])) },
				func(i int) { moveMatches(pos, vel, queries[i]) },
			}
			samples := measure.Turns(max(b.N, 5), len(ways), nil, func(way int) float64 {
				start := time.Now()
				for i := range lists {
					ways[way](i)
				}
				return float64(time.Since(start).Nanoseconds()) / float64(n*len(lists))
			})
			for i, name := range []string{"ns-Get", "ns-Among", "ns-again"} {
				b.ReportMetric(measure.Samples(samples[i]).Best(), name)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

//go:noinline
func moveListed(pos Column[position], vel Column[velocity], list []Entity) {
	for _, e := range list {
		if p, v := pos.Get(e), vel.Get(e); p != nil && v != nil {
			p.X += v.X
		}
	}
}

//go:noinline
func moveMatches(pos Column[position], vel Column[velocity], q Query) {
	for s := range q.Slots() {
		pos.At(s).X += vel.At(s).X
	}
}
