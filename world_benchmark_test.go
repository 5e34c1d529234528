package vast

import (
	"math/rand/v2"
	"testing"
)

const benchmarkEntities = 1 << 20

func benchmarkWorld(b *testing.B, n int) (*World, *Archetype, []Entity, Column[position], Column[velocity]) {
	b.Helper()
	w := NewWorld(Options{MaxEntities: 4 * benchmarkEntities})
	b.Cleanup(func() { w.Close() })
	pos, vel := NewColumn[position](w), NewColumn[velocity](w)
	a := w.Archetype(pos, vel)
	es := make([]Entity, 0, n)
	a.NewN(n, func(r Run) {
		for i := range r.Len() {
			es = append(es, r.Entity(i))
		}
	})
	return w, a, es, pos, vel
}

func BenchmarkSmallWorlds(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		w := NewWorld(Options{})
		pos, vel := NewColumn[position](w), NewColumn[velocity](w)
		w.Archetype(pos, vel).NewN(100, nil)
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

//go:noinline
func newInto(a *Archetype, es []Entity) {
	for i := range es {
		es[i] = a.New()
	}
}

//go:noinline
func deleteFrom(w *World, es []Entity) {
	for _, e := range es {
		w.Delete(e)
	}
}

func BenchmarkNew(b *testing.B) {
	w, a, es, _, _ := benchmarkWorld(b, benchmarkEntities)
	all := w.Query()
	for b.Loop() {
		b.StopTimer()
		w.DeleteAll(all)
		b.StartTimer()
		newInto(a, es)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEntities, "ns/entity")
}

func BenchmarkDelete(b *testing.B) {
	w, a, es, _, _ := benchmarkWorld(b, benchmarkEntities)
	rand.Shuffle(len(es), func(i, j int) { es[i], es[j] = es[j], es[i] })
	for b.Loop() {
		deleteFrom(w, es)
		b.StopTimer()
		newInto(a, es)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEntities, "ns/entity")
}

//go:noinline
func sumOf(pos Column[position], es []Entity) (sum float64) {
	for _, e := range es {
		sum += pos.Get(e).X
	}
	return sum
}

func BenchmarkGetRandom(b *testing.B) {
	_, _, es, pos, _ := benchmarkWorld(b, benchmarkEntities)
	rand.Shuffle(len(es), func(i, j int) { es[i], es[j] = es[j], es[i] })
	for b.Loop() {
		sumOf(pos, es)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEntities, "ns/entity")
}

//go:noinline
func addAndRemove(vel Column[velocity], es []Entity) {
	for _, e := range es {
		vel.Add(e, velocity{})
	}
	for _, e := range es {
		vel.Remove(e)
	}
}

func BenchmarkAddRemove(b *testing.B) {
	w := NewWorld(Options{})
	defer w.Close()
	pos, vel := NewColumn[position](w), NewColumn[velocity](w)
	var es []Entity
	w.Archetype(pos).NewN(benchmarkEntities, func(r Run) {
		for i := range r.Len() {
			es = append(es, r.Entity(i))
		}
	})
	for b.Loop() {
		addAndRemove(vel, es)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEntities, "ns/entity")
}

//go:noinline
func moveRuns(q Query, pos Column[position], vel Column[velocity]) {
	for run := range q.Runs() {
		p, v := pos.Slice(run), vel.Slice(run)
		v = v[:len(p)]
		for i := range p {
			p[i].X += v[i].X
			p[i].Y += v[i].Y
		}
	}
}

//go:noinline
func moveSlots(q Query, pos Column[position], vel Column[velocity]) {
	for s := range q.Slots() {
		p, v := pos.At(s), vel.At(s)
		p.X += v.X
		p.Y += v.Y
	}
}

//go:noinline
func moveAll(q Query, pos Column[position], vel Column[velocity]) {
	for e := range q.All() {
		p, v := pos.Get(e), vel.Get(e)
		p.X += v.X
		p.Y += v.Y
	}
}

func BenchmarkQuery(b *testing.B) {
	w, _, _, pos, vel := benchmarkWorld(b, benchmarkEntities)
	q := w.Query(pos, vel)
	b.Run("runs", func(b *testing.B) {
		for b.Loop() {
			moveRuns(q, pos, vel)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEntities, "ns/entity")
	})
	b.Run("slots", func(b *testing.B) {
		for b.Loop() {
			moveSlots(q, pos, vel)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEntities, "ns/entity")
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			moveAll(q, pos, vel)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEntities, "ns/entity")
	})
}
