package soak

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/vm"
)

// schedules runs systems over a world, on one to four goroutines. In each tick, each entity moves by one
// step, and commands replace some entities.
func schedules(t *tally) churn {
	return churn{name: "schedules", round: func(r *rand.Rand) {
		w := vast.NewWorld(vast.Options{Name: "soak schedule", MaxEntities: 1 << 14,
			Pages: vm.Pages(r.IntN(4))})
		at, old := vast.NewColumn[place](w), vast.NewTag(w, "old")
		births := w.Archetype(at)
		count, ticks := 1000+r.IntN(4000), 5+r.IntN(10)
		births.NewN(count, func(vast.Run) {})
		s := sched.New(w, sched.Options{Workers: 1 + r.IntN(4), Seed: r.Uint64(),
			Commands: vast.CommandsOptions{Bytes: mebibyte}})
		var moved atomic.Int64
		s.Add(sched.System{Name: "move", Writes: sched.Columns(at), Run: func(c *sched.Context) {
			c.Each(w.Query(at), 512, func(_ *sched.Context, b vast.Batch) {
				for run := range b.Runs() {
					places := at.Slice(run)
					for i := range places {
						places[i].X++
					}
					moved.Add(int64(len(places)))
				}
			})
		}})
		s.Add(sched.System{Name: "replace", Reads: sched.Columns(at), Run: func(c *sched.Context) {
			for e := range w.Query(at).Without(old).All() {
				if random := c.Random(e); random.Below(16) == 0 {
					c.Commands().Delete(e)
					c.Commands().New(births)
				}
			}
		}})
		s.Add(sched.System{Name: "age", Run: func(c *sched.Context) {
			for e := range w.Query(at).Without(old).All() {
				if random := c.Random(e); random.Below(8) == 0 {
					old.AddLater(c.Commands(), e)
				}
			}
		}})
		for range ticks {
			mustSucceed(s.Tick())
		}
		must(int(moved.Load()) == count*ticks && w.Len() == count,
			"%d moves of %d entities in %d ticks; %d entities are left", moved.Load(), count, ticks, w.Len())
		for e := range w.Query(old).All() {
			must(at.Get(e).X <= int64(ticks), "%v has moved %d times in %d ticks", e, at.Get(e).X, ticks)
		}
		t.operations.Add(moved.Load())
		mustSucceed(s.Close())
		mustSucceed(w.Close())
	}}
}
