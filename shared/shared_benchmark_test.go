package shared_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/shared"
)

// texture is a value of 32 bytes.
type texture struct {
	ID    uint64
	Scale [3]float64
}

const benchmarkEntities = 1 << 17

// scattered returns the number of the value that entity i has, out of n values in random order.
func scattered(i, n int) int { return int(uint64(i) * 0x9e3779b97f4a7c15 >> 40 % uint64(n)) }

// benchmarkWorld has the same values in a shared column, in a Column, in a relation to entities, and in a
// column of references to entities.
type benchmarkWorld struct {
	w        *vast.World
	shared   shared.Column[texture]
	plain    vast.Column[texture]
	to       vast.Relation
	refs     vast.Column[reference]
	values   []vast.Entity
	entities []vast.Entity
}

type reference struct{ To vast.Entity }

func newBenchmarkWorld(b *testing.B, values int, value func(i, n int) int) *benchmarkWorld {
	f := &benchmarkWorld{w: vast.NewWorld(vast.Options{MaxEntities: 1 << 18})}
	b.Cleanup(func() { f.w.Close() })
	f.shared = shared.New[texture](f.w).Named("shared")
	f.plain = vast.NewColumn[texture](f.w)
	f.refs = vast.NewColumn[reference](f.w)
	f.to = vast.NewRelation(f.w, "to", vast.RelationOptions{Cyclic: true})
	for range values {
		f.values = append(f.values, f.w.Archetype().New())
	}
	for i, s := range f.w.Archetype(f.shared, f.plain, f.refs).NewEach(benchmarkEntities) {
		v := value(i, values)
		f.shared.SetAt(s, texture{ID: uint64(v)})
		*f.plain.At(s) = texture{ID: uint64(v)}
		f.refs.At(s).To = f.values[v]
		f.entities = append(f.entities, s.Entity())
	}
	for i, e := range f.entities {
		f.to.Set(e, f.values[value(i, values)])
	}
	return f
}

func eachShape(b *testing.B, run func(b *testing.B, f *benchmarkWorld)) {
	for _, values := range []int{4, 64, 1024} {
		b.Run(fmt.Sprintf("scattered/%d", values), func(b *testing.B) {
			run(b, newBenchmarkWorld(b, values, scattered))
		})
		b.Run(fmt.Sprintf("runs/%d", values), func(b *testing.B) {
			run(b, newBenchmarkWorld(b, values, func(i, n int) int { return i * n / benchmarkEntities }))
		})
	}
}

//go:noinline
func sumSlots(q vast.Query) (sum int) {
	for s := range q.Slots() {
		sum += s.Index()
	}
	return sum
}

//go:noinline
func sumPlain(q vast.Query, c vast.Column[texture], v texture) (sum int) {
	for run := range q.Runs() {
		for i, t := range c.Slice(run) {
			if t == v {
				sum += run.Start() + i
			}
		}
	}
	return sum
}

//go:noinline
func sumRefs(q vast.Query, c vast.Column[reference], v vast.Entity) (sum int) {
	for run := range q.Runs() {
		for i, t := range c.Slice(run) {
			if t.To == v {
				sum += run.Start() + i
			}
		}
	}
	return sum
}

//go:noinline
func countRuns(q vast.Query) (n int) {
	for run := range q.Runs() {
		n += run.Len()
	}
	return n
}

// BenchmarkWhere compares a query by value with other ways to find the entities. Times are for each entity
// of the world.
func BenchmarkWhere(b *testing.B) {
	eachShape(b, func(b *testing.B, f *benchmarkWorld) {
		v := texture{ID: 1}
		all := f.w.Query(f.plain)
		for _, k := range []struct {
			name string
			run  func() int
		}{
			{"shared", func() int { return sumSlots(f.shared.Where(all, v)) }},
			{"shared-runs", func() int { return countRuns(f.shared.Where(all, v)) }},
			{"plain", func() int { return sumPlain(all, f.plain, v) }},
			{"references", func() int { return sumRefs(all, f.refs, f.values[1]) }},
			{"relation", func() int { return sumSlots(all.To(f.to, f.values[1])) }},
			{"relation-runs", func() int { return countRuns(all.To(f.to, f.values[1])) }},
		} {
			b.Run(k.name, func(b *testing.B) {
				for b.Loop() {
					k.run()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEntities, "ns/entity")
			})
		}
	})
}

//go:noinline
func groupShared(q vast.Query, c shared.Column[texture]) (sum int) {
	for v, run := range c.GroupBy(q) {
		sum += int(v.ID) * run.Len()
	}
	return sum
}

//go:noinline
func groupTargets(q vast.Query, r vast.Relation) (sum int) {
	for e, run := range shared.GroupByTarget(q, r) {
		sum += int(e.Slot()) * run.Len()
	}
	return sum
}

//go:noinline
func groupMap(q vast.Query, c vast.Column[texture], groups map[texture][]vast.Slot) (sum int) {
	for v, slots := range groups {
		groups[v] = slots[:0]
	}
	for s := range q.Slots() {
		v := *c.At(s)
		groups[v] = append(groups[v], s)
	}
	for v, slots := range groups {
		sum += int(v.ID) * len(slots)
	}
	return sum
}

// BenchmarkGroupBy compares groups with a Go map of slices. Times are for each entity.
func BenchmarkGroupBy(b *testing.B) {
	eachShape(b, func(b *testing.B, f *benchmarkWorld) {
		all, groups := f.w.Query(f.plain), map[texture][]vast.Slot{}
		for _, k := range []struct {
			name string
			run  func() int
		}{
			{"shared", func() int { return groupShared(all, f.shared) }},
			{"targets", func() int { return groupTargets(all, f.to) }},
			{"map", func() int { return groupMap(all, f.plain, groups) }},
		} {
			b.Run(k.name, func(b *testing.B) {
				for b.Loop() {
					k.run()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEntities, "ns/entity")
			})
		}
	})
}

//go:noinline
func setShared(c shared.Column[texture], entities []vast.Entity, values []texture) {
	for i, e := range entities {
		c.Set(e, values[i%len(values)])
	}
}

//go:noinline
func setPlain(c vast.Column[texture], entities []vast.Entity, values []texture) {
	for i, e := range entities {
		c.Set(e, values[i%len(values)])
	}
}

//go:noinline
func setReferences(
	c vast.Column[reference], entities []vast.Entity, index map[texture]vast.Entity, values []texture,
) {
	for i, e := range entities {
		c.Set(e, reference{index[values[i%len(values)]]})
	}
}

//go:noinline
func setRelation(r vast.Relation, entities []vast.Entity, index map[texture]vast.Entity, values []texture) {
	for i, e := range entities {
		r.Set(e, index[values[i%len(values)]])
	}
}

//go:noinline
func getShared(c shared.Column[texture], entities []vast.Entity) (sum uint64) {
	for _, e := range entities {
		v, _ := c.Get(e)
		sum += v.ID
	}
	return sum
}

//go:noinline
func getPlain(c vast.Column[texture], entities []vast.Entity) (sum uint64) {
	for _, e := range entities {
		sum += c.Get(e).ID
	}
	return sum
}

//go:noinline
func atShared(q vast.Query, c shared.Column[texture]) (sum uint64) {
	for s := range q.Slots() {
		sum += c.At(s).ID
	}
	return sum
}

// BenchmarkAccess measures reads and writes of one entity at a time, and SetAll. Times are for each entity.
func BenchmarkAccess(b *testing.B) {
	f := newBenchmarkWorld(b, 64, scattered)
	values, index := make([]texture, 64), map[texture]vast.Entity{}
	for i := range values {
		values[i].ID = uint64(i)
		index[values[i]] = f.values[i]
	}
	all := f.w.Query(f.shared)
	for _, k := range []struct {
		name string
		run  func()
	}{
		{"set/shared", func() { setShared(f.shared, f.entities, values) }},
		{"set/plain", func() { setPlain(f.plain, f.entities, values) }},
		{"set/references", func() { setReferences(f.refs, f.entities, index, values) }},
		{"set/relation", func() { setRelation(f.to, f.entities, index, values) }},
		{"get/shared", func() { getShared(f.shared, f.entities) }},
		{"get/plain", func() { getPlain(f.plain, f.entities) }},
		{"at/shared", func() { atShared(all, f.shared) }},
		{"setall/shared", func() { f.shared.SetAll(all, values[3]) }},
		{"setall/plain", func() { f.plain.SetAll(all, values[3]) }},
	} {
		b.Run(k.name, func(b *testing.B) {
			for b.Loop() {
				k.run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEntities, "ns/entity")
		})
	}
}

// BenchmarkMemory reports the committed bytes of each column, for each entity. The values of the shared
// column and of the Column have 32 bytes.
func BenchmarkMemory(b *testing.B) {
	f := newBenchmarkWorld(b, 64, scattered)
	for _, c := range f.w.Stats().Columns {
		b.ReportMetric(float64(c.Committed)/benchmarkEntities,
			strings.ReplaceAll(c.Name, " ", "-")+"-B/entity")
	}
}
