package vast

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/measure"
)

// BenchmarkDeleteList compares a loop of Delete with DeleteAll, for lists of entities that lie side by side
// ("neighbours") or in random slots ("anywhere").
func BenchmarkDeleteList(b *testing.B) {
	for _, c := range []struct {
		name     string
		entities int
		anywhere bool
	}{{"neighbours", 1 << 14, false}, {"anywhere", 1 << 20, true}} {
		for _, random := range []bool{false, true} {
			for _, n := range []int{1, 10, 30, 100, 1000, 10_000, 100_000} {
				if n > c.entities {
					continue
				}
				name := fmt.Sprintf("%s/%d sorted", c.name, n)
				if random {
					name = fmt.Sprintf("%s/%d shuffled", c.name, n)
				}
				b.Run(name, func(b *testing.B) { benchmarkDeleteList(b, c.entities, n, c.anywhere, random) })
			}
		}
	}
}

func benchmarkDeleteList(b *testing.B, entities, n int, anywhere, shuffled bool) {
	w := NewWorld(Options{MaxEntities: entities})
	defer w.Close()
	pos, vel := NewColumn[position](w), NewColumn[velocity](w)
	a := w.Archetype(pos, vel)
	r := rand.New(rand.NewPCG(1, 2))
	lists := make([][]Entity, max(1, min(entities/4, 10_000)/n))
	total := len(lists) * n
	a.NewN(entities, nil)
	slots := make([]int, entities)
	for i := range slots {
		slots[i] = i
	}
	// refill replaces the deleted entities and makes the lists for the next deletions.
	refill := func() {
		a.NewN(entities-w.Len(), nil)
		all := entitiesOf(w.Query())
		at := slots
		if anywhere {
			r.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
		} else {
			from := r.IntN(entities - total + 1)
			at = slots[from:]
		}
		for i := range lists {
			chosen := at[i*n : i*n+n]
			lists[i] = lists[i][:0]
			for _, slot := range chosen {
				lists[i] = append(lists[i], all[slot])
			}
			if anywhere || !shuffled {
				sortEntities(lists[i])
			}
			if shuffled {
				r.Shuffle(n, func(x, y int) { lists[i][x], lists[i][y] = lists[i][y], lists[i][x] })
			}
		}
	}
	ways := []func(*World, [][]Entity) int{deleteLoops, deleteLists}
	samples := measure.Turns(max(b.N, 5), len(ways), nil, func(way int) float64 {
		refill()
		start := time.Now()
		deleted := ways[way](w, lists)
		took := time.Since(start)
		if deleted != total {
			b.Fatalf("%d of %d deleted", deleted, total)
		}
		return float64(took.Nanoseconds()) / float64(total)
	})
	loop, all := measure.Samples(samples[0]), measure.Samples(samples[1])
	b.ReportMetric(loop.Best(), "ns-loop/entity")
	b.ReportMetric(all.Best(), "ns-all/entity")
	b.ReportMetric(measure.Ratio(all, loop), "ratio")
	b.ReportMetric(0, "ns/op")
}

func sortEntities(list []Entity) { slices.SortFunc(list, bySlot) }

//go:noinline
func deleteLoops(w *World, lists [][]Entity) (n int) {
	for _, list := range lists {
		for _, e := range list {
			if w.Delete(e) {
				n++
			}
		}
	}
	return n
}

//go:noinline
func deleteLists(w *World, lists [][]Entity) (n int) {
	for _, list := range lists {
		n += w.DeleteAll(w.Query().Among(list))
	}
	return n
}

func BenchmarkDeleteAll(b *testing.B) {
	for _, every := range []int{1, 2, 16, 64} {
		b.Run(fmt.Sprintf("one in %d", every), func(b *testing.B) {
			w := NewWorld(Options{MaxEntities: benchmarkEntities})
			defer w.Close()
			pos, tag := NewColumn[position](w), NewColumn[struct{}](w)
			q := w.Query(tag)
			best := time.Duration(1 << 62)
			for range max(b.N, 5) {
				w.Archetype(pos).NewN(benchmarkEntities-w.Len(), nil)
				for i, e := range entitiesOf(w.Query()) {
					if i%every == 0 {
						tag.Add(e, struct{}{})
					}
				}
				start := time.Now()
				n := deleteMatches(w, q)
				best = min(best, time.Since(start))
				if n != benchmarkEntities/every {
					b.Fatalf("%d deleted", n)
				}
			}
			b.ReportMetric(float64(best.Nanoseconds())*float64(every)/benchmarkEntities, "ns/entity")
			b.ReportMetric(0, "ns/op")
		})
	}
}

//go:noinline
func deleteMatches(w *World, q Query) int { return w.DeleteAll(q) }

func BenchmarkDeleteNone(b *testing.B) {
	w, _, vel, _ := bulkWorld(b)
	b.Run("empty list", func(b *testing.B) {
		lists := make([][]Entity, 1)
		for b.Loop() {
			deleteLists(w, lists)
		}
	})
	b.Run("query without matches", func(b *testing.B) {
		for b.Loop() {
			deleteMatches(w, w.Query(vel))
		}
	})
}

// BenchmarkDeleteBesideRare measures what four columns outside the archetype add to the time of Delete: one
// Column and three SparseColumns. "never": no entity gained a component of them. "lost": each entity gained
// and lost all four. "some": all entities have the Column, and each SparseColumn holds about a
// tenth of the entities.
func BenchmarkDeleteBesideRare(b *testing.B) {
	const n = 1 << 16
	for _, name := range []string{"never", "lost", "some"} {
		b.Run(name, func(b *testing.B) {
			w, a, es, _, _ := benchmarkWorld(b, n)
			deleteFrom(w, es)
			job := NewColumn[uint64](w)
			rare := []SparseColumn[number]{NewSparseColumn[number](w).Named("a"),
				NewSparseColumn[number](w).Named("b"), NewSparseColumn[number](w).Named("c")}
			r := rand.New(rand.NewPCG(1, 2))
			samples := measure.Turns(max(b.N, 7), 1, nil, func(int) float64 {
				newInto(a, es)
				for _, e := range es {
					if name != "never" {
						job.Add(e, 1)
					}
					for _, c := range rare {
						if name == "lost" || name == "some" && r.IntN(10) == 0 {
							c.Add(e, number{})
						}
						if name == "lost" {
							c.Remove(e)
						}
					}
					if name == "lost" {
						job.Remove(e)
					}
				}
				r.Shuffle(n, func(i, k int) { es[i], es[k] = es[k], es[i] })
				start := time.Now()
				deleteFrom(w, es)
				return float64(time.Since(start).Nanoseconds()) / n
			})
			b.ReportMetric(measure.Samples(samples[0]).Best(), "ns/entity")
			b.ReportMetric(0, "ns/op")
		})
	}
}
