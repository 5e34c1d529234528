package vast

import "testing"

//go:noinline
func cloneInto(w *World, e Entity, es []Entity) {
	for i := range es {
		es[i] = w.Clone(e)
	}
}

//go:noinline
func cloneAll(w *World, e Entity, n int) { w.CloneN(e, n, nil) }

// cloning returns a world with an entity that has five components, and a parent for it.
func cloning(b *testing.B, n int) (w *World, e, parent Entity, child Relation) {
	b.Helper()
	w, _, es, pos, vel := benchmarkWorld(b, 1)
	last := NewColumn[[4]uint64](w).Named("last")
	full := w.Archetype(pos, vel, NewColumn[uint64](w).Named("mass"), last, NewTag(w, "tag"))
	child = NewRelation(w, "childOf", RelationOptions{})
	e = full.New()
	if err := full.Grow(n); err != nil {
		b.Fatal(err)
	}
	return w, e, es[0], child
}

func perClone(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entity")
}

// clearClones deletes all entities except e and its parent.
func clearClones(w *World, e, parent Entity) {
	for _, one := range entitiesOf(w.Query()) {
		if one != e && one != parent {
			w.Delete(one)
		}
	}
}

func BenchmarkClone(b *testing.B) {
	const n = 10_000
	for name, linked := range map[string]bool{"components": false, "and a target": true} {
		b.Run(name, func(b *testing.B) {
			w, e, parent, child := cloning(b, n)
			if linked {
				child.Set(e, parent)
			}
			es := make([]Entity, n)
			for b.Loop() {
				cloneInto(w, e, es)
				b.StopTimer()
				clearClones(w, e, parent)
				b.StartTimer()
			}
			perClone(b, n)
		})
	}
}

func BenchmarkCloneN(b *testing.B) {
	for name, n := range map[string]int{"1000": 1000, "100000": 100_000} {
		for kind, linked := range map[string]bool{"": false, " and a target": true} {
			b.Run(name+kind, func(b *testing.B) {
				w, e, parent, child := cloning(b, n)
				if linked {
					child.Set(e, parent)
				}
				for b.Loop() {
					cloneAll(w, e, n)
					b.StopTimer()
					clearClones(w, e, parent)
					b.StartTimer()
				}
				perClone(b, n)
			})
		}
	}
}
