package prefab_test

import (
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/prefab"
)

type bench struct {
	*vast.World
	place, speed vast.Column[[2]float64]
	points       vast.Column[uint64]
	shape        vast.Column[[4]uint32]
	full         *vast.Archetype
}

func newBench(w *vast.World) bench {
	f := bench{World: w, place: vast.NewColumn[[2]float64](w).Named("place"),
		speed:  vast.NewColumn[[2]float64](w).Named("speed"),
		points: vast.NewColumn[uint64](w).Named("points"), shape: vast.NewColumn[[4]uint32](w).Named("shape")}
	f.full = w.Archetype(f.place, f.speed, f.points, f.shape)
	return f
}

//go:noinline
func fillSlices(f bench, n int) {
	f.full.NewN(n, func(r vast.Run) {
		place, speed, points, shape := f.place.Slice(r), f.speed.Slice(r), f.points.Slice(r), f.shape.Slice(r)
		for i := range place {
			place[i], speed[i], points[i] = [2]float64{1, 2}, [2]float64{3, 4}, 5
			shape[i] = [4]uint32{6, 7, 8, 9}
		}
	})
}

//go:noinline
func fillSlicesAndLink(f bench, n int, r vast.Relation, to vast.Entity) {
	var runs []vast.Run
	f.full.NewN(n, func(run vast.Run) {
		place, speed := f.place.Slice(run), f.speed.Slice(run)
		points, shape := f.points.Slice(run), f.shape.Slice(run)
		for i := range place {
			place[i], speed[i], points[i] = [2]float64{1, 2}, [2]float64{3, 4}, 5
			shape[i] = [4]uint32{6, 7, 8, 9}
		}
		runs = append(runs, run)
	})
	for _, run := range runs {
		r.SetRun(run, to)
	}
}

//go:noinline
func instantiate(t prefab.Template, n int) { t.InstantiateN(n, nil) }

// BenchmarkInstantiate makes entities with four components: by Archetype.NewN and slices, by the same with a
// link for each entity, as instances of one entity, and as instances of a tree of 10 entities.
func BenchmarkInstantiate(b *testing.B) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 20})
	defer w.Close()
	p := prefab.New(w)
	f := newBench(w)
	child := vast.NewRelation(w, "childOf", vast.RelationOptions{OnDelete: vast.Cascade})
	like := vast.NewRelation(w, "like", vast.RelationOptions{Cyclic: true})
	target := w.Archetype().New()
	one := p.Mark(f.full.New())
	root := f.full.New()
	for range 9 {
		child.Set(f.full.New(), root)
	}
	tree := p.Mark(root)
	for _, tt := range []struct {
		name string
		n    int
		f    func()
	}{
		{"100k by NewN and slices", 100_000, func() { fillSlices(f, 100_000) }},
		{"100k by NewN, slices and links", 100_000, func() { fillSlicesAndLink(f, 100_000, like, target) }},
		{"100k instances", 100_000, func() { instantiate(one, 100_000) }},
		{"1k trees of 10 nodes", 10_000, func() { instantiate(tree, 1000) }},
	} {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				tt.f()
				b.StopTimer()
				w.DeleteAll(w.Query(f.place))
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(tt.n), "ns/entity")
		})
	}
}

//go:noinline
func apply(t prefab.Template) (int, error) { return t.Apply() }

// BenchmarkApply changes one field of a template with 100,000 instances.
func BenchmarkApply(b *testing.B) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 20})
	defer w.Close()
	p := prefab.New(w)
	f := newBench(w)
	e := f.full.New()
	one := p.Mark(e)
	one.InstantiateN(100_000, nil)
	for b.Loop() {
		*f.points.Get(e)++
		if n, err := apply(one); n != 100_000 || err != nil {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/instance")
}
