package bench

import (
	"fmt"
	"math/rand/v2"
	"sync"
)

// replaceWorks returns works in which 1, 2, 4 or 8 goroutines replace and read entries of a table. Together,
// the goroutines do N operations on N ÷ 10 entries. On average, one operation in 16 replaces a random entry.
// The other operations read a random entry.
func replaceWorks() (works []work) {
	for _, goroutines := range []int{1, 2, 4, 8} {
		works = append(works, work{fmt.Sprintf("replace-%d", goroutines), nil, func(n int) ([]side, func()) {
			return []side{
				replacing("vast", n, goroutines, newEpochTable),
				replacing("atomic-pointers", n, goroutines, newPointerTable),
				replacing("rwmutex-slice", n, goroutines, newLockedTable),
				replacing("sync.Map", n, goroutines, newSyncMap),
				replacing("sharded-maps", n, goroutines, newShards),
			}, nil
		}})
	}
	return works
}

// replaceable is a table whose entries can be replaced.
type replaceable interface {
	// operate does n operations. It returns the sum of the numbers that it read, so that the compiler does
	// not remove the reads. Each goroutine calls operate once.
	operate(entries int, order *rand.PCG, n int) (sum float32)
	close()
}

func replacing(name string, n, goroutines int, filled func(entries int) replaceable) side {
	return side{name, func(m *meter) {
		entries := max(1, n/10)
		table := filled(entries)
		sums := make([]float32, goroutines)
		m.run(func() {
			var wait sync.WaitGroup
			for g := range goroutines {
				wait.Go(func() {
					sums[g] = table.operate(entries, rand.NewPCG(seedOrder, uint64(g)),
						(n+goroutines-1)/goroutines)
				})
			}
			wait.Wait()
		})
		table.close()
		for _, sum := range sums {
			if n >= 1000 && sum <= 0 {
				panic(fmt.Sprintf("bench: %s read nothing", name))
			}
		}
	}}
}

// draw returns the index of a random entry, and whether to replace the entry or to read it.
func draw(order *rand.PCG, entries int) (i int, replace bool) {
	u := order.Uint64()
	return int(u >> 32 * uint64(entries) >> 32), u&15 == 0
}
