package vast

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// BenchmarkOrderOthers reads two other components of each entity in the order of a random key.
func BenchmarkOrderOthers(b *testing.B) {
	const n = 1 << 14
	w := NewWorld(Options{MaxEntities: n})
	defer w.Close()
	column := func(name string) Column[float64] { return NewColumn[float64](w).Named(name) }
	key, x, y := column("key"), column("x"), column("y")
	w.Archetype(key, x, y).NewN(n, func(r Run) {
		for i := range key.Slice(r) {
			key.Slice(r)[i] = rand.Float64()
		}
	})
	o := NewOrder(w.Query(key, x, y), key, func(k *float64) float64 { return *k })
	for name, sum := range map[string]func() float64{
		"by slot": func() (sum float64) {
			for s, k := range o.Ascending() {
				sum += *k + *x.At(s) + *y.At(s)
			}
			return sum
		},
		"by entity": func() (sum float64) {
			for s, k := range o.Ascending() {
				e := s.Entity()
				sum += *k + *x.Get(e) + *y.Get(e)
			}
			return sum
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				sum()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/entity")
		})
	}
}

// BenchmarkOrder compares an Order with sorting a copied slice of structs. The keys are random.
func BenchmarkOrder(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 16, 1 << 20} {
		w := NewWorld(Options{MaxEntities: n})
		col := NewColumn[position](w)
		w.Archetype(col).NewN(n, func(r Run) {
			for i := range col.Slice(r) {
				col.Slice(r)[i].X = rand.Float64()
			}
		})
		perEntity := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entity")
		}
		b.Run(fmt.Sprintf("float64/%d/Order", n), func(b *testing.B) {
			o := NewOrder(w.Query(col), col, func(p *position) float64 { return p.X })
			sum := 0.0
			for b.Loop() {
				for _, p := range o.Ascending() {
					sum += p.X
				}
			}
			perEntity(b)
		})
		b.Run(fmt.Sprintf("float32/%d/Order", n), func(b *testing.B) {
			o := NewOrder(w.Query(col), col, func(p *position) float32 { return float32(p.X) })
			sum := 0.0
			for b.Loop() {
				for _, p := range o.Ascending() {
					sum += p.X
				}
			}
			perEntity(b)
		})
		b.Run(fmt.Sprintf("float64/%d/SortFunc", n), func(b *testing.B) {
			type item struct {
				e Entity
				p position
			}
			var items []item
			sum := 0.0
			for b.Loop() {
				items = items[:0]
				for r := range w.Query(col).Runs() {
					for i, p := range col.Slice(r) {
						items = append(items, item{r.Entity(i), p})
					}
				}
				slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.p.X, b.p.X) })
				for i := range items {
					sum += items[i].p.X
				}
			}
			perEntity(b)
		})
		if err := w.Close(); err != nil {
			b.Error(err)
		}
	}
}
