package vast

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestDepthOrderOverBlocks(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 16))
	const n = 5 * 4096
	w := NewWorld(Options{MaxEntities: n + 4096})
	defer w.Close()
	num, extra := NewColumn[uint64](w), NewTag(w, "extra")
	childOf := NewRelation(w, "ChildOf", RelationOptions{})
	var es []Entity
	w.Archetype(num).NewN(n, func(run Run) {
		for _, e := range run.All() {
			es = append(es, e)
		}
	})
	depth := map[Entity]int{}
	link := func(lo, hi, parent int) {
		for i := lo; i < hi; i++ {
			childOf.Set(es[i], es[parent])
			depth[es[i]] = depth[es[parent]] + 1
		}
	}
	link(100, 9000, 0)        // a whole block, and parts of two others
	link(16_000, 16_001, 100) // one entity in another block
	link(16_064, 16_128, 101) // one word
	link(17_000, n, 16_000)   // up to the last entity
	for range 3000 {          // single entities of several depths
		i := 9100 + r.IntN(1000)
		if parent := r.IntN(9000); parent > 0 && depth[es[i]] == 0 {
			link(i, i+1, parent)
		}
	}
	for i := 0; i < n; i += 1 + r.IntN(300) {
		extra.Add(es[i])
	}
	for name, q := range map[string]Query{
		"plain":    w.Query(num),
		"without":  w.Query(num).Without(extra),
		"any":      w.Query().Any(num, extra),
		"optional": w.Query(num).Optional(extra),
		"between":  w.Query(num).Between(5000, 18_000),
	} {
		want := slices.DeleteFunc(slices.Collect(q.All()), func(e Entity) bool { return depth[e] == 0 })
		slices.SortStableFunc(want, func(a, b Entity) int { return cmp.Compare(depth[a], depth[b]) })
		var got []Entity
		last := Run{}
		for run := range childOf.InDepthOrder(q) {
			for i, target := range childOf.Targets(run) {
				e := run.Entity(i)
				if parent, _ := childOf.Target(e); target.Entity() != parent {
					t.Fatalf("%s: the target of %v is %v, want %v", name, e, target.Entity(), parent)
				}
				if extra.Has(e) != extra.In(run) && name == "optional" {
					t.Fatalf("%s: the run at %d mixes entities with and without the tag", name, run.Start())
				}
				got = append(got, e)
			}
			if last.Len() > 0 && last.Start()+last.Len() == run.Start() && name != "optional" &&
				depth[run.Entity(0)] == depth[last.Entity(0)] {
				t.Errorf("%s: a run is split at slot %d", name, run.Start())
			}
			last = run
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d entities in the order of depth differ from %d sorted entities", name,
				len(got), len(want))
		}
	}
}
