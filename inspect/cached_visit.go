package inspect

import (
	"context"
	"sync"
	"time"

	"github.com/vastgo/vast"
)

// cachedVisit visits a world on demand, and its callers share the answers. There is at most one visit at a
// time. Fresh answers are reused. A caller that has waited too long for the world gets the last answer.
type cachedVisit[A any] struct {
	world *vast.World
	// look fills in the answer. It is called between ticks until it returns true.
	look func(w *vast.World, answer *A) (done bool)

	mu      sync.Mutex
	answer  A
	at      time.Time     // time of the answer; zero if there is no answer yet
	pending chan struct{} // closed at the end of the visit; nil if no visit is under way
	asking  sync.WaitGroup
}

// ask returns the last answer if that answer is younger than maxAge or ctx has ended. Otherwise ask waits for
// the end of a visit, but not longer than maxWait, and then returns the last answer. Before a visit has
// succeeded, the answer is zero. ctx bounds the visit, not this call.
func (q *cachedVisit[A]) ask(ctx context.Context, maxAge, maxWait time.Duration) (answer A, at time.Time) {
	q.mu.Lock()
	if !q.at.IsZero() && time.Since(q.at) < maxAge || ctx.Err() != nil {
		defer q.mu.Unlock()
		return q.answer, q.at
	}
	if q.pending == nil {
		q.pending = make(chan struct{})
		q.asking.Go(func() { q.visit(ctx) })
	}
	pending := q.pending
	q.mu.Unlock()

	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case <-pending:
	case <-timer.C:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.answer, q.at
}

// visit visits the world. While the world does not admit visitors, this visit waits, and no other visit
// starts.
func (q *cachedVisit[A]) visit(ctx context.Context) {
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
