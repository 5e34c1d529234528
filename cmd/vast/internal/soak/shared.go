package soak

import (
	"math/rand/v2"
	"sync"

	"github.com/vastgo/vast/bulk"
)

// shared uses the concurrent containers on several goroutines.
func shared(t *tally) churn {
	return churn{name: "shared", round: func(r *rand.Rand) {
		const perGoroutine, goroutines = 2000, 3
		array := mustReturn(bulk.NewSharedArray[place](bulk.Options{Capacity: 2 * perGoroutine * goroutines}))
		pool := mustReturn(bulk.NewSharedPool[place](bulk.Options{Capacity: 2 * perGoroutine * goroutines}))
		table := mustReturn(bulk.NewSharedTable[place](bulk.Options{Capacity: 1000}))
		var all together
		for g := range goroutines {
			r := rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))
			all.run(func() {
				appender, inserter, writer, reader := array.Appender(), pool.Inserter(), table.Writer(),
					table.Reader()
				var mine []bulk.Handle[place]
				for i := range int64(perGoroutine) {
					v := place{int64(g), i}
					appender.Append(v)
					h, _ := inserter.Insert(v)
					if mine = append(mine, h); i%2 == 1 {
						must(inserter.Remove(mine[i/2]) && !pool.Remove(mine[i/2]),
							"Remove of %v does not succeed exactly once", mine[i/2])
					}
					writer.Set(r.IntN(1000), place{i, -i})
					got, ok := reader.Load(r.IntN(1000))
					must(!ok || got.X == -got.Y, "Load returned parts of two values: %v", got)
				}
				_, _, err := appender.Flush()
				mustSucceed(err)
				inserter.Close()
				writer.Close()
				reader.Close()
			})
		}
		all.wait()
		must(array.Len() == perGoroutine*goroutines && pool.Len() == perGoroutine*goroutines/2,
			"%d elements in the array and %d in the pool, not %d and %d", array.Len(), pool.Len(),
			perGoroutine*goroutines, perGoroutine*goroutines/2)
		next := [goroutines]int64{}
		for _, v := range array.Slice() {
			must(v.Y == next[v.X], "the next element of goroutine %d is %d, not %d", v.X, v.Y, next[v.X])
			next[v.X]++
		}
		mustSucceed(array.Close())
		mustSucceed(pool.Close())
		mustSucceed(table.Close())
		t.operations.Add(4 * perGoroutine * goroutines)
	}}
}

// together runs goroutines of one churn. If goroutines panic, the method wait panics with the value of the
// last panic.
type together struct {
	group  sync.WaitGroup
	mu     sync.Mutex
	failed any
}

func (g *together) run(f func()) {
	g.group.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				g.mu.Lock()
				defer g.mu.Unlock()
				g.failed = v
			}
		}()
		f()
	})
}

func (g *together) wait() {
	g.group.Wait()
	if g.failed != nil {
		panic(g.failed)
	}
}
