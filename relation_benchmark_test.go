package vast

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// transform is the place of an entity, relative to its parent or in the world.
type transform struct{ X, Y, Angle, Scale float32 }

func (t transform) times(u transform) transform {
	return transform{t.X + u.X*t.Scale, t.Y + u.Y*t.Scale, t.Angle + u.Angle, t.Scale * u.Scale}
}

type hierarchy struct {
	w            *World
	local, world Column[transform]
	childOf      Relation
	roots        []Entity
	all          Query
	n            int
}

// newHierarchy returns a hierarchy with about a million entities: 1,000 roots, and at most 4 levels below
// them. If scattered is false, the children of each parent are made together.
func newHierarchy(scattered bool) *hierarchy {
	h := &hierarchy{w: NewWorld(Options{})}
	h.local, h.world = NewColumn[transform](h.w).Named("local"), NewColumn[transform](h.w).Named("world")
	h.childOf = NewRelation(h.w, "ChildOf", RelationOptions{OnDelete: Cascade})
	a := h.w.Archetype(h.local, h.world)
	newEntities := func(n int) (es []Entity) {
		a.NewN(n, func(run Run) {
			l, t := h.local.Slice(run), h.world.Slice(run)
			for i := range l {
				l[i] = transform{1, 1, 0, 1}
				t[i] = l[i]
				es = append(es, run.Entity(i))
			}
		})
		return es
	}
	const levels, total = 4, benchmarkEntities
	h.roots = newEntities(1000)
	if scattered {
		es := newEntities(total - len(h.roots))
		for i, e := range es {
			parent := h.roots[rand.IntN(len(h.roots))]
			if i >= 10_000 {
				parent = es[rand.IntN(min(i/10, 300_000))]
			}
			h.childOf.Set(e, parent)
		}
	} else {
		above := h.roots
		for level := range levels {
			each := [levels]int{10, 10, 3, 2}[level]
			var next []Entity
			for _, p := range above {
				es := newEntities(each)
				next = append(next, es...)
				for _, e := range es {
					h.childOf.Set(e, p)
				}
			}
			above = next
		}
	}
	h.all = h.w.Query(h.local, h.world)
	h.n = h.all.Count()
	return h
}

//go:noinline
func (h *hierarchy) byDepth() {
	local, world, childOf := h.local, h.world, h.childOf
	for run := range childOf.InDepthOrder(h.all) {
		relative, absolute := local.Slice(run), world.Slice(run)
		for i, parent := range childOf.Targets(run) {
			absolute[i] = world.At(parent).times(relative[i])
		}
	}
}

//go:noinline
func (h *hierarchy) bySorting() {
	type item struct {
		e     Entity
		depth int32
	}
	items := make([]item, 0, h.n)
	for e := range h.w.Query(h.local, h.world, h.childOf).All() {
		depth := int32(0)
		for p, ok := h.childOf.Target(e); ok; p, ok = h.childOf.Target(p) {
			depth++
		}
		items = append(items, item{e, depth})
	}
	slices.SortStableFunc(items, func(a, b item) int { return int(a.depth - b.depth) })
	for _, it := range items {
		p, _ := h.childOf.Target(it.e)
		*h.world.Get(it.e) = h.world.Get(p).times(*h.local.Get(it.e))
	}
}

//go:noinline
func (h *hierarchy) byRecursion(e Entity, t *transform) {
	for child := range h.childOf.Sources(e) {
		place := h.world.Get(child)
		*place = t.times(*h.local.Get(child))
		h.byRecursion(child, place)
	}
}

// BenchmarkTransforms computes the places of about a million entities in the world from the places of their
// parents.
func BenchmarkTransforms(b *testing.B) {
	for _, scattered := range []bool{false, true} {
		h := newHierarchy(scattered)
		name := map[bool]string{false: "together", true: "scattered"}[scattered]
		for _, way := range []struct {
			name string
			f    func()
		}{
			{"InDepthOrder", h.byDepth},
			{"sorting", h.bySorting},
			{"recursion", func() {
				for _, root := range h.roots {
					h.byRecursion(root, h.world.Get(root))
				}
			}},
		} {
			b.Run(name+"/"+way.name, func(b *testing.B) {
				for b.Loop() {
					way.f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(h.n), "ns/entity")
			})
		}
		h.w.Close()
	}
}

// BenchmarkDepthOrder computes the places of 10,000 children, which fit into the caches. The children have
// one of these shapes:
//
//   - together: the children of a parent are made together;
//   - random: each child has a random parent;
//   - families: each family has three levels and is made together, and each parent has four children.
func BenchmarkDepthOrder(b *testing.B) {
	const n = 10_000
	for _, shape := range []string{"together", "random", "families"} {
		w := NewWorld(Options{})
		h := &hierarchy{w: w, n: n}
		h.local, h.world = NewColumn[transform](w).Named("local"), NewColumn[transform](w).Named("world")
		h.childOf = NewRelation(w, "ChildOf", RelationOptions{})
		things := w.Archetype(h.local, h.world)
		parents := entitiesIn(things, n/100)
		var family []Entity
		for i := range n {
			parent := parents[i/100]
			switch {
			case shape == "random":
				parent = parents[rand.IntN(len(parents))]
			case shape == "families" && i%20 == 0:
				family = append(family[:0], things.New())
				fallthrough
			case shape == "families":
				parent = family[i%20/4]
			}
			family = append(family, things.New())
			h.childOf.Set(family[len(family)-1], parent)
		}
		h.all = w.Query(h.local, h.world)
		b.Run(shape, func(b *testing.B) {
			for b.Loop() {
				h.byDepth()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/child")
		})
		w.Close()
	}
}

// BenchmarkRelate links a million entities to 1,000 parents, finds them by queries, and deletes them. One
// benchmark links all of them to a single parent.
func BenchmarkRelate(b *testing.B) {
	w := NewWorld(Options{})
	defer w.Close()
	pos := NewColumn[position](w)
	childOf := NewRelation(w, "ChildOf", RelationOptions{OnDelete: Cascade})
	children, parents := w.Archetype(pos), w.Archetype()
	all := w.Query()
	runs := make([]Run, 0, 100)
	fill := func(run Run) { runs = append(runs, run) }
	makeAll := func(relate func(Run, Entity)) {
		for range 1000 {
			parent := parents.New()
			runs = runs[:0]
			children.NewN(benchmarkEntities/1000, fill)
			for _, run := range runs {
				relate(run, parent)
			}
		}
	}
	for _, way := range []struct {
		name   string
		relate func(Run, Entity)
	}{
		{"made only", func(Run, Entity) {}},
		{"SetRun", func(run Run, parent Entity) { childOf.SetRun(run, parent) }},
		{"Set", func(run Run, parent Entity) {
			for i := range run.Len() {
				childOf.Set(run.Entity(i), parent)
			}
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				makeAll(way.relate)
				b.StopTimer()
				w.DeleteAll(all)
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEntities, "ns/entity")
		})
	}
	b.Run("Delete of the parents", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			makeAll(func(run Run, parent Entity) { childOf.SetRun(run, parent) })
			es := entitiesOf(w.Query(childOf.TargetColumn()))
			b.StartTimer()
			for _, e := range es {
				w.Delete(e)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEntities, "ns/entity")
	})
	b.Run("Delete of one parent of all", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			w.DeleteAll(all)
			children.NewN(benchmarkEntities, nil)
			parent := parents.New()
			childOf.SetAll(w.Query(pos), parent)
			b.StartTimer()
			w.Delete(parent)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEntities, "ns/entity")
	})
	b.Run("To", func(b *testing.B) {
		w.DeleteAll(all)
		makeAll(func(run Run, parent Entity) { childOf.SetRun(run, parent) })
		es := entitiesOf(w.Query(childOf.TargetColumn()))
		var queries []Query
		for _, e := range es {
			queries = append(queries, w.Query(pos).To(childOf, e))
		}
		for b.Loop() {
			for _, q := range queries {
				for run := range q.Runs() {
					for i := range pos.Slice(run) {
						pos.Slice(run)[i].X++
					}
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEntities, "ns/entity")
	})
}
