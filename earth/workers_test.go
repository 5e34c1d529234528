package earth

import (
	"sync/atomic"
	"testing"
)

func TestWorkersDoEachJobOnce(t *testing.T) {
	for _, n := range []int{1, 2, 7} {
		w := newWorkers(n)
		for round := range 200 {
			done := make([]atomic.Int32, round)
			w.run(round, func(job int) { done[job].Add(1) })
			for job := range done {
				if got := done[job].Load(); got != 1 {
					t.Fatalf("%d workers, %d jobs: job %d was done %d times", n, round, job, got)
				}
			}
		}
		w.close()
	}
}
