package trial

import (
	"crypto/sha256"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vastgo/vast/cluster/internal/globe"
)

// load keeps all cores busy, and counts the units of work that it does.
type load struct {
	ended atomic.Bool
	units atomic.Int64
	all   sync.WaitGroup
}

func newLoad() *load {
	l := &load{}
	for range globe.Cores() {
		l.all.Go(l.work)
	}
	return l
}

// work does units of work until the load ends. A unit takes about half a millisecond, like a tick of a small
// region. After each unit, work lets other goroutines run.
func (l *load) work() {
	var block [512]byte
	for !l.ended.Load() {
		for range 1000 {
			sum := sha256.Sum256(block[:])
			copy(block[:], sum[:])
		}
		l.units.Add(1)
		runtime.Gosched()
	}
}

// during runs f. It returns the number of units that are done while f runs, and the duration of f.
func (l *load) during(f func() error) (units float64, took time.Duration, err error) {
	before, began := l.units.Load(), time.Now()
	err = f()
	return float64(l.units.Load() - before), time.Since(began), err
}

func (l *load) end() {
	l.ended.Store(true)
	l.all.Wait()
}
