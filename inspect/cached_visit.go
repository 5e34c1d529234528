package inspect

import (
	"context"
	"sync"
	"time"

	"github.com/vastgo/vast"
)

// question is something that is asked of a world again and again, by whoever wants to know: not more often than is of use,
// once at a time, and with the last answer for those who cannot wait until the world lets somebody look.
type question[A any] struct {
	world *vast.World
	// look is called while the world lets the inspector look, until it returns true, and fills the answer in.
	look func(w *vast.World, answer *A) (done bool)

	mu      sync.Mutex
	answer  A
	at      time.Time     // when it was given; zero: never
	pending chan struct{} // closed when the world has answered; nil while it is not asked
	asking  sync.WaitGroup
}

// ask returns an answer that is at most so old, or where the world does not give one within the wait, the last one, which
// may be zero. ctx must live for as long as answers are of use to anybody.
func (q *question[A]) ask(ctx context.Context, age, wait time.Duration) (answer A, at time.Time) {
	q.mu.Lock()
	if !q.at.IsZero() && time.Since(q.at) < age || ctx.Err() != nil {
		defer q.mu.Unlock()
		return q.answer, q.at
	}
	if q.pending == nil {
		q.pending = make(chan struct{})
		q.asking.Go(func() { q.visit(ctx) })
	}
	pending := q.pending
	q.mu.Unlock()

	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-pending:
	case <-timer.C:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.answer, q.at
}

// visit asks the world. A hanging one is waited for, however long that takes: it is the one question that it is asked.
func (q *question[A]) visit(ctx context.Context) {
	var answer A
	err := q.world.Visit(ctx, func() bool { return q.look(q.world, &answer) })
	q.mu.Lock()
	defer q.mu.Unlock()
	if err == nil {
		q.answer, q.at = answer, time.Now()
	}
	close(q.pending)
	q.pending = nil
}
