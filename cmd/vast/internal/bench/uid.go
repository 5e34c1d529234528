package bench

import (
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/vastgo/vast/uid"
)

// uidWorks returns works that compare package uid with counters that all goroutines share, and with the
// random bytes of a UUID.
func uidWorks() []work {
	return []work{
		{"uid-source", nil, func(n int) ([]side, func()) {
			return []side{makers("vast", n, 1, fromSource), makers("atomic-counter", n, 1, fromAtomic),
				makers("mutex-counter", n, 1, fromMutex), makers("random-bytes", n, 1, fromRandom)}, nil
		}},
		{"uid-new", nil, func(n int) ([]side, func()) {
			return []side{makers("vast", n, 1, fromNew), makers("atomic-counter", n, 1, fromAtomic),
				makers("mutex-counter", n, 1, fromMutex), makers("random-bytes", n, 1, fromRandom)}, nil
		}},
		{"uid-source-2-goroutines", nil, func(n int) ([]side, func()) {
			return []side{makers("vast", n, 2, fromSource), makers("atomic-counter", n, 2, fromAtomic),
				makers("mutex-counter", n, 2, fromMutex), makers("random-bytes", n, 2, fromRandom)}, nil
		}},
	}
}

// counters are shared by the goroutines of one side. The two counters are on different cache lines.
type counters struct {
	_      [64]byte
	atomic atomic.Uint64
	_      [64]byte
	mu     sync.Mutex
	count  uint64
}

// makers returns a side that makes n identifiers on the given number of goroutines. Each goroutine makes
// its share of the identifiers by one call of generate, which returns the last two. The side panics if the
// last two are equal.
func makers(name string, n, goroutines int, generate func(*counters, int) (last, before any)) side {
	return side{name, func(m *meter) {
		shared := &counters{}
		m.run(func() {
			var wait sync.WaitGroup
			for range goroutines {
				wait.Go(func() {
					if last, before := generate(shared, (n+goroutines-1)/goroutines); last == before {
						panic(fmt.Sprintf("bench: %s gave out %v twice", name, last))
					}
				})
			}
			wait.Wait()
		})
		m.weigh()
	}}
}

//go:noinline
func fromSource(_ *counters, n int) (any, any) {
	var s uid.Source[element]
	var last, before uid.ID[element]
	for range n {
		last, before = s.New(), last
	}
	return last, before
}

//go:noinline
func fromNew(_ *counters, n int) (any, any) {
	var last, before uid.ID[element]
	for range n {
		last, before = uid.New[element](), last
	}
	return last, before
}

//go:noinline
func fromAtomic(c *counters, n int) (any, any) {
	var last, before uint64
	for range n {
		last, before = c.atomic.Add(1), last
	}
	return last, before
}

//go:noinline
func fromMutex(c *counters, n int) (any, any) {
	var last, before uint64
	for range n {
		c.mu.Lock()
		c.count++
		last, before = c.count, last
		c.mu.Unlock()
	}
	return last, before
}

//go:noinline
func fromRandom(_ *counters, n int) (any, any) {
	var last, before [16]byte
	for range n {
		before = last
		_, _ = rand.Read(last[:]) // never fails
	}
	return last, before
}
