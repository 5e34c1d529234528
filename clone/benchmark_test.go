package clone_test

import (
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/clone"
)

//go:noinline
func cloneTree(c *clone.Cloner, root vast.Entity) (vast.Entity, error) { return c.Clone(root) }

//go:noinline
func cloneTrees(c *clone.Cloner, root vast.Entity, n int) (*clone.Copies, error) {
	return c.CloneN(root, n)
}

//go:noinline
func merge(from, to *vast.World) (vast.Moves, error) {
	return clone.Merge(from, to, clone.Options{})
}

// forest is a world with five columns and a hierarchy.
type forest struct {
	*vast.World
	full  *vast.Archetype
	child vast.Relation
}

func newForest() *forest {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 22})
	return &forest{w, w.Archetype(vast.NewColumn[[2]float64](w).Named("a"),
		vast.NewColumn[[2]float32](w).Named("b"), vast.NewColumn[uint64](w).Named("c"),
		vast.NewColumn[[4]uint64](w).Named("d"), vast.NewTag(w, "e")),
		vast.NewRelation(w, "childOf", vast.RelationOptions{OnDelete: vast.Cascade})}
}

// tree makes a tree: a root, `inner` nodes below it, and the given number of leaves below each node.
func (f *forest) tree(inner, leaves int) vast.Entity {
	root := f.full.New()
	for range inner {
		node := f.full.New()
		f.child.Set(node, root)
		var runs []vast.Run
		f.full.NewN(leaves, func(r vast.Run) { runs = append(runs, r) })
		for _, r := range runs {
			f.child.SetRun(r, node)
		}
	}
	return root
}

func BenchmarkTree(b *testing.B) {
	for _, tt := range []struct {
		name          string
		inner, leaves int
		copies        int
	}{{"9 nodes", 8, 0, 1}, {"10 x 1000 nodes", 10, 1000, 1}, {"9 nodes, 1000 copies", 8, 0, 1000}} {
		b.Run(tt.name, func(b *testing.B) {
			f := newForest()
			defer f.Close()
			root := f.tree(tt.inner, tt.leaves)
			c, err := clone.New(f.World, f.World, clone.Options{})
			if err != nil {
				b.Fatal(err)
			}
			n := f.Len() * tt.copies
			for b.Loop() {
				var made []vast.Entity
				if tt.copies == 1 {
					e, err := cloneTree(c, root)
					if err != nil {
						b.Fatal(err)
					}
					made = append(made, e)
				} else {
					copies, err := cloneTrees(c, root, tt.copies)
					if err != nil {
						b.Fatal(err)
					}
					for i := range copies.Len() {
						made = append(made, copies.Root(i))
					}
				}
				b.StopTimer()
				f.DeleteAll(f.Query().Among(made))
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entity")
		})
	}
}

func BenchmarkMerge(b *testing.B) {
	const n = 100_000
	for name, linked := range map[string]bool{"components": false, "and targets": true} {
		b.Run(name, func(b *testing.B) {
			from, to := newForest(), newForest()
			defer from.Close()
			defer to.Close()
			for b.Loop() {
				b.StopTimer()
				to.Reset()
				if linked {
					from.tree(100, n/100)
				} else {
					from.full.NewN(n, nil)
				}
				b.StartTimer()
				if _, err := merge(from.World, to.World); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/entity")
		})
	}
}
