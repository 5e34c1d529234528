package vast

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

//go:noinline
func sumSlots(q Query, c Column[uint64]) (sum uint64) {
	for s := range q.Slots() {
		sum += *c.At(s)
	}
	return sum
}

// sumByHand is the loop that Query.Where replaces.
//
//go:noinline
func sumByHand(q Query, rel Relation, c Column[uint64], chosen Tag) (sum uint64) {
	for s := range q.Slots() {
		if t, ok := rel.Target(s.Entity()); ok && chosen.Has(t) {
			sum += *c.At(s)
		}
	}
	return sum
}

// BenchmarkJoin sums a component over the entities whose target has a tag, in a world of 1 M sources with
// random targets.
func BenchmarkJoin(b *testing.B) {
	const sources = 1_000_000
	for _, targets := range []int{100, 10_000, 1_000_000} {
		w := NewWorld(Options{MaxEntities: sources + targets + 8192})
		defer w.Close()
		value, target := NewColumn[uint64](w), NewTag(w, "target")
		rel := NewRelation(w, "rel", RelationOptions{})
		w.Archetype(target).NewN(targets, func(Run) {})
		w.Archetype(value).NewN(sources, func(Run) {})
		to := slices.Collect(w.Query(target).All())
		r := rand.New(rand.NewPCG(1, 2))
		for _, e := range slices.Collect(w.Query(value).All()) {
			rel.Set(e, to[r.IntN(targets)])
		}
		for _, percent := range []int{1, 50, 99, 100} {
			chosen := NewTag(w, fmt.Sprintf("chosen %d", percent))
			for i, e := range to {
				if i%100 < percent {
					chosen.Add(e)
				}
			}
			q := w.Query(value)
			where, up := q.Where(rel, w.Query(chosen)), q.Up(rel, chosen)
			name := fmt.Sprintf("targets=%d/matching=%d%%/", targets, percent)
			for _, f := range []struct {
				name string
				f    func() uint64
			}{
				{"Where", func() uint64 { return sumSlots(where, value) }},
				{"Up", func() uint64 { return sumSlots(up, value) }},
				{"hand", func() uint64 { return sumByHand(q, rel, value, chosen) }},
			} {
				b.Run(name+f.name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						f.f()
					}
				})
			}
		}
	}
}
