package bulk

import (
	"runtime"
	"sync"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// If Go's heap reused the addresses of a closed container, a stale pointer would end the process ("found bad
// pointer"). Memory that is freed too early shows as wrong elements.
func TestCollectorLeavesContainersAlone(t *testing.T) {
	rounds := longtest.Pick(6, 30)
	var all sync.WaitGroup
	for worker := range 50 {
		all.Go(func() {
			pages := pageKinds[worker%len(pageKinds)]
			for round := range rounds {
				if n := countWrong(t, pages, 500+100*worker, round); n != 0 {
					t.Errorf("worker %d: %d elements are wrong, or a call failed", worker, n)
					return
				}
			}
		})
	}
	all.Wait()
}

// kept has garbage and stale pointers for the collector.
var kept [50]struct {
	sync.Mutex
	garbage [][]byte
	pointer *record
}

// countWrong fills an array, a pool and a dense with n elements each. It returns the number of indexes at
// which an element differs from the inserted value, plus 1 if a call fails.
func countWrong(t *testing.T, pages vm.Pages, n, round int) (wrong int) {
	a, err := NewArray[record](Options{Pages: pages, Capacity: 10_000})
	if err != nil {
		t.Error(err)
		return 1
	}
	p, err := NewPool[record](Options{Pages: pages, Capacity: 10_000})
	if err != nil {
		t.Error(err)
		return 1
	}
	d, err := NewDense[record](Options{Pages: pages, Capacity: 10_000})
	if err != nil {
		t.Error(err)
		return 1
	}
	handles, places := make([]Handle[record], n), make([]Handle[record], n)
	for i := range n {
		e := a.Append(numbered(i))
		handles[i], _ = p.Insert(numbered(i))
		places[i], _ = d.Insert(numbered(i))
		if i%100 == 0 {
			k := &kept[(n+i/100)%len(kept)]
			k.Lock()
			k.garbage = append(k.garbage, make([]byte, 1000+i))
			k.pointer = e // goes stale when the array is closed
			if len(k.garbage) > 20 {
				k.garbage = nil
			}
			k.Unlock()
		}
	}
	if round%3 == 0 {
		runtime.GC()
	}
	for i, h := range handles {
		if *a.At(i) != numbered(i) || *p.Get(h) != numbered(i) || *d.Get(places[i]) != numbered(i) {
			wrong++
		}
	}
	if a.Close() != nil || p.Close() != nil || d.Close() != nil {
		wrong++
	}
	return wrong
}
