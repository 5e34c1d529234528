package vast

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/measure"
)

// BenchmarkRareStates gives a component to about a tenth of a million entities, and visits these entities.
// Three loops take turns: a query over a Column, a query over a SparseColumn, and SparseColumn.All. In
// "slots", the entities gain the component in the order of their slots; otherwise in a random order. In
// "holes", about two thirds of these entities then lose the component, so that gaps separate the values. The
// benchmark reports the time for each visited entity.
func BenchmarkRareStates(b *testing.B) {
	const n = 1_000_000
	for _, name := range []string{"slots", "random", "holes"} {
		b.Run(name, func(b *testing.B) {
			w := NewWorld(Options{MaxEntities: n})
			defer w.Close()
			plain, sparse := NewColumn[number](w), NewSparseColumn[number](w).Named("sparse")
			var es []Entity
			r := rand.New(rand.NewPCG(1, 2))
			w.Archetype().NewN(n, func(run Run) {
				for _, e := range run.All() {
					if r.IntN(10) == 0 {
						es = append(es, e)
					}
				}
			})
			if name != "slots" {
				r.Shuffle(len(es), func(i, k int) { es[i], es[k] = es[k], es[i] })
			}
			for i, e := range es {
				plain.Add(e, number{uint64(i)})
				sparse.Add(e, number{uint64(i)})
			}
			if name == "holes" {
				for _, e := range es {
					if r.IntN(3) > 0 {
						plain.Remove(e)
						sparse.Remove(e)
					}
				}
			}
			dense, rare := w.Query(plain), w.Query(sparse)
			var sums [3]uint64
			loops := []func(){
				func() { sums[0] = sumOfColumn(plain, dense) },
				func() { sums[1] = sumOfSparse(sparse, rare) },
				func() { sums[2] = sumOfAll(sparse) },
			}
			count := float64(sparse.Len())
			samples := measure.Turns(max(b.N, 7), len(loops), nil, func(loop int) float64 {
				start := time.Now()
				loops[loop]()
				return float64(time.Since(start).Nanoseconds()) / count
			})
			if sums[0] != sums[1] || sums[0] != sums[2] {
				b.Fatalf("the sums differ: %d", sums)
			}
			for i, name := range []string{"ns-Column", "ns-Query", "ns-All"} {
				b.ReportMetric(measure.Samples(samples[i]).Best(), name)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

//go:noinline
func sumOfColumn(c Column[number], q Query) (sum uint64) {
	for s := range q.Slots() {
		sum += c.At(s).N ^ uint64(s.Index())
	}
	return sum
}

//go:noinline
func sumOfSparse(c SparseColumn[number], q Query) (sum uint64) {
	for s := range q.Slots() {
		sum += c.At(s).N ^ uint64(s.Index())
	}
	return sum
}

//go:noinline
func sumOfAll(c SparseColumn[number]) (sum uint64) {
	for e, v := range c.All() {
		sum += v.N ^ uint64(e.Slot())
	}
	return sum
}
