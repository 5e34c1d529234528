package vast

import (
	"math/rand/v2"
	"testing"
)

//go:noinline
func getEach(pos Column[position], es []Entity) {
	for _, e := range es {
		if p := pos.Get(e); p != nil {
			p.X++
		}
	}
}

//go:noinline
func editEach(pos Column[position], es []Entity) {
	for _, e := range es {
		if p := pos.Edit(e); p != nil {
			p.X++
		}
	}
}

//go:noinline
func setEach(pos Column[position], es []Entity) {
	for _, e := range es {
		pos.Set(e, position{1, 2})
	}
}

//go:noinline
func sliceRuns(q Query, pos Column[position]) {
	for run := range q.Runs() {
		p := pos.Slice(run)
		for i := range p {
			p[i].X++
		}
	}
}

//go:noinline
func editRuns(q Query, pos Column[position]) {
	for run := range q.Runs() {
		p := pos.EditRun(run)
		for i := range p {
			p[i].X++
		}
	}
}

func BenchmarkTracker(b *testing.B) {
	w, a, es, pos, vel := benchmarkWorld(b, benchmarkEntities)
	random := append([]Entity(nil), es...)
	rand.Shuffle(len(random), func(i, j int) { random[i], random[j] = random[j], random[i] })
	q := w.Query(pos)
	each := func(name string, before, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if before != nil {
					b.StopTimer()
					before()
					b.StartTimer()
				}
				f()
			}
			perEntity(b)
		})
	}
	writing := func(how string) {
		each("Get in order, "+how, nil, func() { getEach(pos, es) })
		each("Edit in order, "+how, nil, func() { editEach(pos, es) })
		each("Set in order, "+how, nil, func() { setEach(pos, es) })
		each("Get at random, "+how, nil, func() { getEach(pos, random) })
		each("Edit at random, "+how, nil, func() { editEach(pos, random) })
		each("Set at random, "+how, nil, func() { setEach(pos, random) })
		each("Slice, "+how, nil, func() { sliceRuns(q, pos) })
		each("EditRun, "+how, nil, func() { editRuns(q, pos) })
	}
	writing("untracked")
	tr := NewTracker(w, pos)
	writing("tracked")
	each("EditRun, tracked, after Next", tr.Next, func() { editRuns(q, pos) })
	each("Next after EditRun", func() { editRuns(q, pos) }, tr.Next)
	tr.Next()
	some := random[:len(random)/100]
	editEach(pos, some)
	both := w.Query(pos, vel)
	changed := both.Changed(pos, tr)
	each("query of two columns", nil, func() { moveRuns(both, pos, vel) })
	each("query of two columns, 1 % changed", nil, func() { moveRuns(changed, pos, vel) })
	each("Changed, 1 %", nil, func() {
		for e := range tr.Changed(pos) {
			pos.Get(e).Y++
		}
	})
	each("Next after 1 %", func() { editEach(pos, some) }, tr.Next)
	each("query of two columns, none changed", nil, func() { moveRuns(changed, pos, vel) })
	all := w.Query()
	each("New, tracked", func() { w.DeleteAll(all) }, func() { newInto(a, es) })
	each("Delete, tracked", func() { w.DeleteAll(all); newInto(a, es) }, func() { deleteFrom(w, es) })
	tr.Close()
	each("New, no longer tracked", func() { w.DeleteAll(all) }, func() { newInto(a, es) })
}
