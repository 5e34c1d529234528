package sched

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
)

// Pool is a pool of goroutines that the schedules of several worlds share: see Options.Pool. A program with
// fifty small worlds then has the goroutines of one schedule, not of fifty. Make a Pool with [NewPool].
//
// The schedules of a pool may tick at the same time, each on a goroutine of its own, or one after the other
// on one goroutine. The goroutine that calls [Schedule.Tick] is a worker of its schedule, as always, so a
// tick makes progress even if all goroutines of the pool are at work for other schedules. A goroutine that
// becomes idle helps the schedule that has waited longest. The result of a tick does not depend on the pool.
// A schedule that makes no tick uses no goroutine of the pool.
//
// All methods may be called from any goroutine at any time.
type Pool struct {
	workers int
	gone    sync.WaitGroup
	wake    chan struct{} // receives a token for each goroutine that must stop sleeping

	mu          sync.Mutex
	first, last *worker // the list of workers that wait for a goroutine, oldest first
	idle        int     // number of goroutines that sleep, or are about to sleep
	schedules   int     // number of open schedules
	closed      bool
}

// NewPool makes a pool. Like Options.Workers, the number of workers includes the goroutine that ticks, so the
// pool starts one goroutine less. 0 stands for runtime.GOMAXPROCS(0). NewPool panics if workers is negative.
func NewPool(workers int) *Pool {
	if workers < 0 {
		panic(fmt.Sprintf("sched: NewPool(%d): the number of workers cannot be negative", workers))
	}
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	p := &Pool{workers: workers, wake: make(chan struct{}, workers)}
	for range workers - 1 {
		p.gone.Add(1)
		go p.run(nil)
	}
	return p
}

// Close ends the goroutines and waits for them. Close the schedules of the pool first: otherwise Close
// panics. A second Close does nothing.
func (p *Pool) Close() {
	p.mustBeMade("Close")
	p.mu.Lock()
	if n := p.schedules; n > 0 {
		p.mu.Unlock()
		panic(fmt.Sprintf("sched: Pool.Close: %d schedules still use the pool: close the schedules first", n))
	}
	p.closed = true
	for ; p.idle > 0; p.idle-- {
		p.wake <- struct{}{}
	}
	p.mu.Unlock()
	p.gone.Wait()
}

func (p *Pool) mustBeMade(what string) {
	if p == nil || p.workers == 0 {
		panic(fmt.Sprintf("sched: Pool.%s on a nil or zero Pool: make one with NewPool", what))
	}
}

// enter adds an open schedule.
func (p *Pool) enter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		panic("sched: New: Options.Pool is closed: close a pool after its last schedule")
	}
	p.schedules++
}

func (p *Pool) leave() {
	p.mu.Lock()
	p.schedules--
	p.mu.Unlock()
}

// run serves workers until the pool is closed, beginning with w if w is not nil.
func (p *Pool) run(w *worker) {
	debug.SetPanicOnFault(true)
	ended := false
	defer func() {
		if ended {
			p.gone.Done()
			return
		}
		// A system or a part has called runtime.Goexit, so start another goroutine. A panic cannot be the
		// cause, because Schedule.run and division.help recover panics.
		w.team.recoverWorker(w)
		go p.run(w)
	}()
	for {
		if w != nil {
			w.team.runWorker(w)
		}
		if w = p.next(); w == nil {
			break
		}
	}
	ended = true
}

// serve lets a goroutine run the worker. It reports whether it has woken a sleeping goroutine; otherwise the
// worker waits for a goroutine that is at work.
func (p *Pool) serve(w *worker) (woken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first == nil {
		p.first = w
	} else {
		p.last.next = w
	}
	p.last = w
	if p.idle == 0 {
		return false
	}
	p.idle--
	p.wake <- struct{}{}
	return true
}

// next waits for a worker and returns it. It returns nil when the pool is closed.
func (p *Pool) next() *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.first == nil {
		if p.closed {
			return nil
		}
		p.idle++
		p.mu.Unlock()
		<-p.wake
		p.mu.Lock()
	}
	w := p.first
	p.first, w.next = w.next, nil
	return w
}
