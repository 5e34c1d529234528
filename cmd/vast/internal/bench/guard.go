package bench

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/guard"
)

func guardWorks() []work {
	return []work{
		{"guard-all", nil, func(n int) ([]side, func()) { return guardedChurns(max(1, n/1000)) }},
		{"sample-ticks", nil, sampledTicks},
		{"sample-churn", nil, func(n int) ([]side, func()) { return sampledChurns(max(1, n/10), 1000) }},
		{"sample-decision", nil, func(n int) ([]side, func()) { return sampledChurns(max(1, n/10), 1<<30) }},
	}
}

// live is the number of elements that are alive at the same time in the works that churn.
const live = 64

// guardedChurns returns the sides of the work guard-all: replace the oldest of 64 elements, n times. The work
// shows the cost of guarding every element. On the side go-new, the collector frees the elements.
func guardedChurns(n int) (sides []side, done func()) {
	return []side{
		{"vast", func(m *meter) {
			p := made(guard.NewPool[element](bulk.Options{Name: "bench"}))
			m.run(func() { churnGuarded(p, n) })
			mustBe("guard.Pool", p.Len()-min(n, live), 0)
			mustSucceed(p.Close())
		}},
		{"bulk-pool", func(m *meter) {
			p := made(bulk.NewPool[element](bulk.Options{Name: "bench", Capacity: n + live}))
			m.run(func() { churnPool(p, n) })
			mustBe("bulk.Pool", p.Len()-min(n, live), 0)
			mustSucceed(p.Close())
		}},
		{"go-new", func(m *meter) {
			var last [live]*element
			m.run(func() { churnGoHeap(&last, n) })
			runtime.KeepAlive(&last)
		}},
	}, nil
}

// sampledChurns returns the sides of the works sample-churn and sample-decision. These works differ from
// guard-all: a SampledPool guards one of `every` elements on average. An element lives so briefly that each
// sampled element finds a free guarded slot.
func sampledChurns(n, every int) (sides []side, done func()) {
	return []side{
		{"vast", func(m *meter) {
			p := made(guard.NewSampledPool[element](guard.SampledPoolOptions{
				Options: bulk.Options{Name: "bench", Capacity: n + live}, Every: every}))
			m.run(func() { churnSampled(p, n) })
			mustBe("guard.SampledPool", p.Len()-min(n, live), 0)
			mustSucceed(p.Close())
		}},
		{"bulk-pool", func(m *meter) {
			p := made(bulk.NewPool[element](bulk.Options{Name: "bench", Capacity: n + live}))
			m.run(func() { churnPool(p, n) })
			mustBe("bulk.Pool", p.Len()-min(n, live), 0)
			mustSucceed(p.Close())
		}},
	}, nil
}

//go:noinline
func churnGuarded(p *guard.Pool[element], n int) {
	var last [live]bulk.Handle[element]
	for i := range n {
		p.Remove(last[i%live])
		last[i%live], _ = p.Insert(numbered(i))
	}
}

//go:noinline
func churnSampled(p *guard.SampledPool[element], n int) {
	var last [live]bulk.Handle[element]
	for i := range n {
		p.Remove(last[i%live])
		last[i%live], _ = p.Insert(numbered(i))
	}
}

//go:noinline
func churnPool(p *bulk.Pool[element], n int) {
	var last [live]bulk.Handle[element]
	for i := range n {
		p.Remove(last[i%live])
		last[i%live], _ = p.Insert(numbered(i))
	}
}

//go:noinline
func churnGoHeap(last *[live]*element, n int) {
	for i := range n {
		e := numbered(i)
		last[i%live] = &e
	}
}

// ticks is the number of ticks of each side in a round of the work sample-ticks.
const ticks = 40

// In each tick, one in replaceEvery elements is replaced, and one in findEvery elements is looked up.
const (
	replaceEvery = 1000
	findEvery    = 100
)

// sampledTicks returns the sides of the work sample-ticks: run ticks over n elements, as the server of a
// simulation does. In each tick, every element moves, random elements are looked up by their handles, and
// random elements are replaced. An element lives for a thousand ticks on average: 50 seconds at 20 ticks a
// second. The SampledPool samples one insertion of a thousand, and guards the element if one of the 16
// guarded slots is free. All rounds use the same pools.
//
// The difference between the sides is smaller than the noise of the machine. Therefore the first side
// measures both sides, in pairs of ticks: one tick of each side. The time of a side in a round is the lower
// quartile of its ticks, because other programs hardly disturb the faster ticks.
//
// The quartile leaves out most guarded insertions and removals. Once in about 60 ticks, one guarded element
// is inserted and one is removed, which takes about 10 µs (see sample-churn).
func sampledTicks(n int) (sides []side, done func()) {
	s := made(guard.NewSampledPool[element](guard.SampledPoolOptions{
		Options: bulk.Options{Name: "bench", Capacity: n}, Every: 1000}))
	p := made(bulk.NewPool[element](bulk.Options{Name: "bench", Capacity: n}))
	handles := [2][]bulk.Handle[element]{make([]bulk.Handle[element], n), make([]bulk.Handle[element], n)}
	for i := range n {
		handles[0][i], _ = s.Insert(numbered(i))
		handles[1][i], _ = p.Insert(numbered(i))
	}
	// Both sides make the same random choices.
	choices := [2]*rand.Rand{rand.New(rand.NewPCG(seedOrder, 0)), rand.New(rand.NewPCG(seedOrder, 0))}
	var found [2]int
	var quartile [2]time.Duration
	tick := [2]func(){
		func() { found[0] += tickSampled(s, handles[0], choices[0]) },
		func() { found[1] += tickPool(p, handles[1], choices[1]) },
	}
	return []side{
			{"vast", func(m *meter) {
				var took [2][]time.Duration
				for i := range 2 * ticks {
					which := (i + i/2) % 2 // 0 1 1 0 0 1 1 0
					m.run(tick[which])
					took[which] = append(took[which], m.time)
				}
				for i := range quartile {
					slices.Sort(took[i])
					quartile[i] = took[i][ticks/4]
				}
				m.time = quartile[0]
			}},
			{"bulk-pool", func(m *meter) { m.time = quartile[1] }},
		}, func() {
			if found[0] != found[1] || s.Len() != p.Len() {
				panic("bench: the sides of sample-ticks did different work")
			}
			mustSucceed(s.Close())
			mustSucceed(p.Close())
		}
}

//go:noinline
func tickSampled(p *guard.SampledPool[element], handles []bulk.Handle[element], r *rand.Rand) (found int) {
	for _, run := range p.Runs() {
		move(run)
	}
	for range len(handles) / findEvery {
		if p.Get(handles[r.IntN(len(handles))]).scale.x == 0 {
			found++
		}
	}
	for i := range len(handles) / replaceEvery {
		h := &handles[r.IntN(len(handles))]
		p.Remove(*h)
		*h, _ = p.Insert(numbered(i))
	}
	return found
}

//go:noinline
func tickPool(p *bulk.Pool[element], handles []bulk.Handle[element], r *rand.Rand) (found int) {
	for _, run := range p.Runs() {
		move(run)
	}
	for range len(handles) / findEvery {
		if p.Get(handles[r.IntN(len(handles))]).scale.x == 0 {
			found++
		}
	}
	for i := range len(handles) / replaceEvery {
		h := &handles[r.IntN(len(handles))]
		p.Remove(*h)
		*h, _ = p.Insert(numbered(i))
	}
	return found
}

//go:noinline
func move(es []element) {
	for i := range es {
		e := &es[i]
		e.position.x += e.rotation.x * 0.05
		e.position.y += e.rotation.y * 0.05
		e.position.z += e.rotation.z * 0.05
	}
}
