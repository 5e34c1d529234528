package earth

import (
	"strings"
	"sync/atomic"
	"testing"
)

func TestWorkersDoEachJobOnce(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		w := newWorkers(n)
		var done [100]atomic.Int32
		for range 3 {
			w.run(len(done), func(job int) { done[job].Add(1) })
		}
		w.close()
		for job := range done {
			if got := done[job].Load(); got != 3 {
				t.Errorf("%d workers: job %d was done %d times, want 3", n, job, got)
			}
		}
	}
}

func TestPanicOfAJobReachesTheCaller(t *testing.T) {
	for _, n := range []int{1, 4} {
		w := newWorkers(n)
		var text string
		func() {
			defer func() { text, _ = recover().(string) }()
			w.run(50, func(job int) {
				if job == 31 {
					panic("no such town")
				}
			})
		}()
		w.close()
		if !strings.Contains(text, "no such town") || !strings.Contains(text, "workers_test.go") {
			t.Errorf("%d workers: run panicked with %q, want the job's panic and where it was", n, text)
		}
	}
}
