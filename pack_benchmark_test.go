package vast

import (
	"math/rand/v2"
	"testing"
)

type aimed struct {
	at    Entity
	Power float64
}

// sparsePopulation makes total entities and deletes random entities until the given number of survivors is
// left. Each survivor refers to another survivor. If written is false, positions and velocities lie in memory
// that was never touched.
func sparsePopulation(b *testing.B, survivors, total int, written bool) (*World, *Archetype, Column[aimed]) {
	w := NewWorld(Options{})
	pos, vel, aim := NewColumn[position](w), NewColumn[velocity](w), NewColumn[aimed](w)
	a := w.Archetype(pos, vel, aim)
	random := rand.New(rand.NewPCG(1, 2))
	var es []Entity
	a.NewN(total, func(r Run) {
		if written {
			ps, vs := pos.Slice(r), vel.Slice(r)
			for i := range ps {
				ps[i], vs[i] = position{1, 2}, velocity{3, 4}
			}
		}
		for i := range r.Len() {
			es = append(es, r.Entity(i))
		}
	})
	random.Shuffle(len(es), func(i, k int) { es[i], es[k] = es[k], es[i] })
	for _, e := range es[survivors:] {
		w.Delete(e)
	}
	for i := range survivors {
		aim.Get(es[i]).at = es[(i+1)%survivors]
	}
	return w, a, aim
}

func BenchmarkPack(b *testing.B) {
	const survivors = 1 << 20
	for _, tt := range []struct {
		name    string
		total   int
		written bool
	}{{"half", 2 * survivors, false}, {"tenth", 10 * survivors, false},
		{"tenth-written", 10 * survivors, true}} {
		b.Run(tt.name, func(b *testing.B) {
			moved := 0
			for range b.N {
				b.StopTimer()
				w, a, _ := sparsePopulation(b, survivors, tt.total, tt.written)
				b.StartTimer()
				moved += a.Pack(MoveOptions{}).Len()
				b.StopTimer()
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/pack")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(moved), "ns/moved")
		})
	}
}
