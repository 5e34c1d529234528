package bench

import (
	"math/rand/v2"
	"runtime"

	"github.com/vastgo/vast/bulk"
)

func tableWorks() []work {
	memory := func(n int) int { return n * bytesParticle }
	ws := []work{
		{"table-append", memory, tableAppends},
		{"table-remove", nil, tableRemovals},
	}
	for _, l := range []struct {
		name   string
		layout bulk.Layout
	}{
		{"columns", bulk.LayoutColumns},
		{"blocks8", bulk.LayoutBlocks8},
		{"blocks16", bulk.LayoutBlocks16},
		{"page", bulk.LayoutBlocksPage},
	} {
		for _, c := range calculations {
			ws = append(ws, work{c.name + "-" + l.name, nil,
				func(n int) ([]side, func()) { return tableSteps(n, l.layout, c) }})
		}
	}
	return append(ws, work{"rows", nil, tableRows}, work{"stagger", nil, tableStagger},
		work{"temporary", nil, temporaries})
}

// calculation is a time step of all particles. It has a function for each side, that is, for each way to
// store the particles.
type calculation struct {
	name    string
	one     func(*particle) // the step of one particle, for checks
	table   func(*particleTable)
	structs func([]particle)
	fields  func(*particleFields)
}

var calculations = []calculation{
	{"tick", (*particle).tick, tickTable, tickStructs, tickFields},
	{"move", (*particle).move, moveTable, moveStructs, moveFields},
	{"live", (*particle).live, liveTable, liveStructs, liveFields},
}

// stepsTimed is the number of steps in a round of tableSteps.
const stepsTimed = 4

// tableSteps returns the sides of a calculation. The side named slices is only for LayoutColumns.
func tableSteps(n int, l bulk.Layout, c calculation) (sides []side, done func()) {
	t, structs := filledTable(n, l, false), make([]particle, n)
	for i := range structs {
		structs[i] = numberedParticle(i)
	}
	timed := func(name string, get func(int) particle, f func()) side {
		steps := 0
		return side{name, func(m *meter) {
			m.run(func() {
				for range stepsTimed {
					f()
				}
			})
			steps += stepsTimed
			checkParticles(name, n, steps, c.one, get)
		}}
	}
	sides = []side{
		timed("vast", t.get, func() { c.table(t) }),
		timed("structs", func(i int) particle { return structs[i] }, func() { c.structs(structs) }),
	}
	if l == bulk.LayoutColumns {
		fields := appendFields(n)
		sides = append(sides, timed("slices", fields.get, func() { c.fields(fields) }))
	}
	return sides, func() { mustSucceed(t.Close()) }
}

// tableAppends returns the sides of the work table-append: append n particles, each with its own call.
func tableAppends(n int) ([]side, func()) {
	return []side{
		{"vast", func(m *meter) {
			var t *particleTable
			m.run(func() {
				t = newParticleTable(n, bulk.LayoutColumns, false)
				appendTable(t, n)
			})
			m.weigh()
			checkParticles("vast", n, 0, nil, t.get)
			mustSucceed(t.Close())
		}},
		{"structs", func(m *meter) {
			var ps []particle
			m.run(func() { ps = appendStructs(n) })
			m.weigh()
			checkParticles("structs", n, 0, nil, func(i int) particle { return ps[i] })
		}},
		{"slices", func(m *meter) {
			var f *particleFields
			m.run(func() { f = appendFields(n) })
			m.weigh()
			checkParticles("slices", n, 0, nil, f.get)
			runtime.KeepAlive(f)
		}},
	}, nil
}

// tableRemovals returns the sides of the work table-remove: remove random particles, half of n, one at a
// time. Each removal moves the last particle into the place of the removed particle.
func tableRemovals(n int) ([]side, func()) {
	r := rand.New(rand.NewPCG(seedOrder, 0))
	rows := make([]uint32, n/2)
	for i := range rows {
		rows[i] = uint32(r.IntN(n - i))
	}
	var sum float64 // checksum of the particles that remain on the side vast
	checkRemaining := func(name string, life func(int) float32) {
		s := 0.0
		for i := range n - len(rows) {
			s += float64(life(i)) * float64(i%7)
		}
		if name == "vast" {
			sum = s
		} else if s != sum {
			panic("bench: " + name + " has removed other particles than vast")
		}
	}
	return []side{
		{"vast", func(m *meter) {
			t := filledTable(n, bulk.LayoutColumns, false)
			m.run(func() { removeFromTable(t, rows) })
			mustBe("vast", t.Len()-(n-len(rows)), 0)
			checkRemaining("vast", func(i int) float32 { return *t.life.At(i) })
			mustSucceed(t.Close())
		}},
		{"structs", func(m *meter) {
			ps := appendStructs(n)
			m.run(func() { ps = removeFromStructs(ps, rows) })
			mustBe("structs", len(ps)-(n-len(rows)), 0)
			checkRemaining("structs", func(i int) float32 { return ps[i].life })
		}},
		{"slices", func(m *meter) {
			f := appendFields(n)
			m.run(func() { removeFromFields(f, rows) })
			mustBe("slices", len(f.b)-(n-len(rows)), 0)
			checkRemaining("slices", func(i int) float32 { return f.life[i] })
		}},
	}, nil
}

// tableStagger returns the sides of the work stagger: visit 64 random rows of a table many times, and touch
// all ten fields of each row. The 64 rows fit into the processor's caches. On the side page-aligned, each
// column begins at a page boundary: the fields of a row compete for the same cache sets.
func tableStagger(n int) ([]side, func()) {
	visits := min(n, 1<<14)
	n = min(n, 1<<20)
	staggered, aligned := filledTable(n, bulk.LayoutColumns, false), filledTable(n, bulk.LayoutColumns, true)
	r := rand.New(rand.NewPCG(seedOrder, 0))
	rows := make([]int, 64)
	for i := range rows {
		rows[i] = r.IntN(n)
	}
	visit := func(name string, t *particleTable) side {
		return side{name, func(m *meter) {
			before := *t.life.At(rows[0])
			m.run(func() { visitRows(t, rows, visits) })
			if *t.life.At(rows[0]) == before {
				panic("bench: " + name + " was not visited")
			}
		}}
	}
	return []side{visit("vast", staggered), visit("page-aligned", aligned)}, func() {
		mustSucceed(staggered.Close())
		mustSucceed(aligned.Close())
	}
}

// tableRows returns the sides of the work rows: visit random rows of a table, and touch all ten fields of
// each row. The side vast has the layout blocks8, which is faster than columns. Structs are fastest.
func tableRows(n int) ([]side, func()) {
	blocks, columns := filledTable(n, bulk.LayoutBlocks8, false), filledTable(n, bulk.LayoutColumns, false)
	structs := make([]particle, n)
	r := rand.New(rand.NewPCG(seedOrder, 0))
	rows := make([]int, min(n, 1<<18))
	for i := range rows {
		rows[i] = r.IntN(n)
	}
	return []side{
			{"vast", func(m *meter) { m.run(func() { visitRows(blocks, rows, 1) }) }},
			{"columns", func(m *meter) { m.run(func() { visitRows(columns, rows, 1) }) }},
			{"structs", func(m *meter) { m.run(func() { visitStructs(structs, rows) }) }},
		}, func() {
			for _, row := range rows {
				if blocks.get(row) != columns.get(row) {
					panic("bench: the layouts have not visited the same rows")
				}
			}
			mustSucceed(blocks.Close())
			mustSucceed(columns.Close())
		}
}

// temporaries returns the sides of the work temporary: move the particles of a pool. The side vast copies
// their fields into temporary columns, moves them there, and copies the result back. The side direct moves
// them in place.
func temporaries(n int) ([]side, func()) {
	p := made(bulk.NewPool[particle](bulk.Options{Name: "bench", Capacity: n}))
	for i := range n {
		p.Insert(numberedParticle(i))
	}
	at := func(i int) particle {
		for first, run := range p.Runs() {
			if i < first+len(run) {
				return run[i-first]
			}
		}
		panic("bench: no such particle")
	}
	steps := 0
	columns := newParticleColumns()
	timed := func(name string, f func()) side {
		return side{name, func(m *meter) {
			m.run(f)
			steps++
			checkParticles(name, n, steps, (*particle).move, at)
		}}
	}
	return []side{
		timed("vast", func() { columns.move(p) }),
		timed("direct", func() { movePool(p) }),
	}, func() { mustSucceed(p.Close()) }
}
