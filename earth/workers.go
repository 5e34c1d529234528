package earth

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// workers are goroutines that stay, so that a tick starts none and allocates nothing. The caller of run is one of them.
type workers struct {
	wake []chan struct{} // one for each further worker
	busy sync.WaitGroup
	gone sync.WaitGroup
	work func(job int)
	jobs int64

	failed atomic.Pointer[failure] // the first job that panicked

	_    [64]byte
	next atomic.Int64 // alone on its cache line: every worker writes it
	_    [64]byte
}

// failure is what a job panicked with, and where.
type failure struct {
	value any
	stack []byte
}

func newWorkers(n int) *workers {
	w := &workers{wake: make([]chan struct{}, n-1)}
	for i := range w.wake {
		wake := make(chan struct{})
		w.wake[i] = wake
		w.gone.Go(func() {
			for range wake {
				w.takeSafely()
				w.busy.Done()
			}
		})
	}
	return w
}

// run calls work for each job from 0 to jobs-1, in any order and on any worker, and returns when all are done. Jobs must
// not write what others read or write. When one panics, run does too once the others are done, so that the caller can
// still put its house in order.
func (w *workers) run(jobs int, work func(job int)) {
	w.work, w.jobs = work, int64(jobs)
	w.next.Store(0)
	w.busy.Add(len(w.wake))
	for _, wake := range w.wake {
		wake <- struct{}{}
	}
	w.takeSafely()
	w.busy.Wait()
	if f := w.failed.Load(); f != nil {
		panic(fmt.Sprintf("earth: a worker panicked: %v\n\n%s", f.value, f.stack))
	}
}

// takeSafely keeps what a job panics with for run to tell.
func (w *workers) takeSafely() {
	defer func() {
		if v := recover(); v != nil {
			w.failed.CompareAndSwap(nil, &failure{value: v, stack: debug.Stack()})
		}
	}()
	w.take()
}

func (w *workers) take() {
	for job := w.next.Add(1) - 1; job < w.jobs; job = w.next.Add(1) - 1 {
		w.work(int(job))
	}
}

// close ends the goroutines and waits until they have.
func (w *workers) close() {
	for _, wake := range w.wake {
		close(wake)
	}
	w.gone.Wait()
}
