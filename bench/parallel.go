package main

import (
	"sync/atomic"

	"github.com/vastgo/vast"
)

// Work query_parallel: two goroutines move n entities with Position and Velocity by 32 steps. On Vast, each
// repetition divides the query into batches. The calling goroutine and a second goroutine, which stays alive,
// share the batches. The peer "self" is Vast on one goroutine, run by run.

const (
	parallelSteps   = 32
	parallelWorkers = 2
	minBatch        = 1024 // minimum entities per batch; a smaller batch is not worth a goroutine
	parallelBatches = 8    // batches per goroutine, so that no goroutine waits long for the other
)

func parallelBatch(n int) int {
	return max(minBatch, n/(parallelWorkers*parallelBatches))
}

func step(p *Position, v *Velocity) {
	x, y := p.X, p.Y
	for range parallelSteps {
		x += v.X
		y += v.Y
	}
	p.X, p.Y = x, y
}

// moveVastParallel and moveVastSerial both call stepAll, so that they run the same machine code.
//
//go:noinline
func stepAll(p []Position, v []Velocity) {
	v = v[:len(p)]
	for i := range p {
		step(&p[i], &v[i])
	}
}

type vastParallel struct {
	vastQuery
	size    int          // entities per batch
	batches []vast.Batch // batches of the current repetition
	taken   atomic.Int64 // number of batches taken so far
	wake    chan bool    // a value makes the second goroutine take batches; closing the channel ends it
	done    chan bool    // receives a value when the second goroutine finds no more batches
}

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

// take takes batches and moves their entities, until all batches are taken.
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

//go:noinline
func moveVastSerial(s *vastParallel) {
	for run := range s.query.Runs() {
		stepAll(s.pos.Slice(run), s.vel.Slice(run))
	}
}

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

// inSteps makes the check of s expect parallelSteps steps per repetition.
func inSteps(s side) side {
	check := s.check
	s.check = func(done int) error { return check(done * parallelSteps) }
	return s
}
