package group_test

import (
	"fmt"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/group"
)

const benchmarkEntities = 1 << 17

// scattered is a random number for each i.
func scattered(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 >> 32 }

// BenchmarkLoop compares loops over a query and over its group. Each tag is on half of the entities, so
// queries for 1, 2, 4 and 7 tags match 64, 32, 8 and 1 of 128 entities.
func BenchmarkLoop(b *testing.B) {
	g := newGame(b, vast.Options{MaxEntities: 2 * benchmarkEntities})
	var tags []vast.AnyColumn
	for i := range 7 {
		tags = append(tags, vast.NewTag(g.World, fmt.Sprint("tag ", i)))
	}
	for i, e := range newEntities(g, benchmarkEntities) {
		for k, tag := range tags {
			if scattered(i)>>k&1 != 0 {
				tag.(vast.Tag).Add(e)
			}
		}
	}
	for _, n := range []int{1, 2, 4, 7} {
		q := g.Query(append(tags[:n:n], g.pos)...)
		kept := group.New(q)
		for _, one := range []struct {
			name  string
			query vast.Query
		}{{"query", q}, {"group", kept.Query()}} {
			b.Run(fmt.Sprintf("%d tags/%s", n, one.name), func(b *testing.B) { loop(b, one.query) })
		}
		kept.Close()
	}
}

// BenchmarkByValue compares loops over a query for one of 16 values and over its group.
func BenchmarkByValue(b *testing.B) {
	g := newGame(b, vast.Options{MaxEntities: 2 * benchmarkEntities})
	for i, e := range newEntities(g, benchmarkEntities) {
		g.teams.Set(e, team{int32(scattered(i) % 16)})
	}
	q := g.teams.Where(g.Query(g.pos), team{3})
	b.Run("query", func(b *testing.B) { loop(b, q) })
	kept := group.New(q)
	b.Run("group", func(b *testing.B) { loop(b, kept.Query()) })
	b.Run("group after 100 writes", func(b *testing.B) {
		all := slotsOf(g)
		for i := 0; b.Loop(); i++ {
			for k := range 100 {
				g.teams.SetAt(all[scattered(100*i+k)%benchmarkEntities], team{int32(k % 16)})
			}
			walk(kept.Query())
		}
	})
}

// BenchmarkChange compares the costs of changes with and without a group.
func BenchmarkChange(b *testing.B) {
	for _, grouped := range []bool{false, true} {
		g := newGame(b, vast.Options{MaxEntities: 2 * benchmarkEntities})
		es := newEntities(g, benchmarkEntities-100)
		kind := g.Archetype(g.pos, g.teams)
		if grouped {
			group.New(g.Query(g.pos).Without(g.hidden))
		}
		b.Run(fmt.Sprintf("birth and death/group %t", grouped), func(b *testing.B) {
			for b.Loop() {
				g.Delete(kind.New())
			}
		})
		b.Run(fmt.Sprintf("tag/group %t", grouped), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				e := es[i%len(es)]
				g.hidden.Add(e)
				g.hidden.Remove(e)
			}
		})
		b.Run(fmt.Sprintf("Edit/group %t", grouped), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				g.pos.Edit(es[i%len(es)]).X++
			}
		})
	}
}

func newEntities(g *game, n int) (es []vast.Entity) {
	for _, s := range g.Archetype(g.pos, g.teams).NewEach(n) {
		es = append(es, s.Entity())
	}
	return es
}

func slotsOf(g *game) (all []vast.Slot) {
	for s := range g.Query(g.pos).Slots() {
		all = append(all, s)
	}
	return all
}

func loop(b *testing.B, q vast.Query) {
	for b.Loop() {
		walk(q)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*q.Count()), "ns/entity")
}

//go:noinline
func walk(q vast.Query) (sum int) {
	for s := range q.Slots() {
		sum += s.Index()
	}
	return sum
}
