package main

import (
	"sync/atomic"

	"github.com/vastgo/vast"
)

// Work query_parallel: two goroutines move n entities with Position and Velocity in 32 steps. Vast cuts the
// query into batches in each repetition. The calling goroutine and a second goroutine, which stays alive,
// share the batches. In rows with the peer self, the other side is Vast on one goroutine, which moves the
// entities run by run.

const (
	parallelSteps   = 32
	parallelWorkers = 2
	parallelLeast   = 1024 // least entities of a batch: a smaller batch is not worth a goroutine
	parallelBatches = 8    // batches for each goroutine, so that neither waits long for the other
)

// parallelBatch returns the number of entities in a batch of a query with n entities.
func parallelBatch(n int) int {
	return max(parallelLeast, n/(parallelWorkers*parallelBatches))
}

// step moves one entity through all steps.
func step(p *Position, v *Velocity) {
	x, y := p.X, p.Y
	for range parallelSteps {
		x += v.X
		y += v.Y
	}
	p.X, p.Y = x, y
}

// stepAll moves many entities. Both sides of Vast call this function.
//
//go:noinline
func stepAll(p []Position, v []Velocity) {
	v = v[:len(p)]
	for i := range p {
		step(&p[i], &v[i])
	}
}

// vastParallel is a query of Vast with the second goroutine.
type vastParallel struct {
	vastQuery
	size    int          // entities of a batch
	batches []vast.Batch // of the current query
	taken   atomic.Int64 // number of batches taken so far
	wake    chan bool    // a value makes the second goroutine take batches; closing the channel ends it
	done    chan bool    // receives a value when the second goroutine has finished
}

// moveVastParallel is the timed work.
//
//go:noinline
func moveVastParallel(s *vastParallel) {
	s.batches = s.batches[:0]
	for b := range s.query.Batches(s.size) {
		s.batches = append(s.batches, b)
	}
	s.taken.Store(0)
	s.wake <- true
	s.take()
	<-s.done
}

// take moves the entities of one batch after another, until all batches are taken.
func (s *vastParallel) take() {
	for {
		i := int(s.taken.Add(1)) - 1
		if i >= len(s.batches) {
			return
		}
		for run := range s.batches[i].Runs() {
			stepAll(s.pos.Slice(run), s.vel.Slice(run))
		}
	}
}

// moveVastSerial is the timed work of one goroutine.
//
//go:noinline
func moveVastSerial(s *vastParallel) {
	for run := range s.query.Runs() {
		stepAll(s.pos.Slice(run), s.vel.Slice(run))
	}
}

// newParallelVast sets the work up.
func newParallelVast(work func(*vastParallel)) func(n int) side {
	return func(n int) side {
		w := newSizedVastWorld(n)
		s := &vastParallel{
			vastQuery: vastQuery{world: w, pos: vast.NewColumn[Position](w),
				vel: vast.NewColumn[Velocity](w)},
			size: parallelBatch(n), wake: make(chan bool), done: make(chan bool),
		}
		s.query = w.Query(s.pos, s.vel)
		i := 0
		w.Archetype(s.pos, s.vel).NewN(n, func(run vast.Run) {
			v := s.vel.Slice(run)
			for j := range v {
				v[j] = velocityOf(i)
				i++
			}
		})
		go func() {
			for range s.wake {
				s.take()
				s.done <- true
			}
		}()
		made := s.side(n, n)
		made.sample = timeAll(s, work)
		made.close = func() {
			close(s.wake)
			closeVast(w)()
		}
		return inSteps(made)
	}
}

// inSteps changes the check of s: it expects parallelSteps steps of each entity per repetition, instead of
// one.
func inSteps(s side) side {
	check := s.check
	s.check = func(done int) error { return check(done * parallelSteps) }
	return s
}
