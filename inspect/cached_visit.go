package inspect

import (
	"context"
	"sync"
	"time"

	"github.com/vastgo/vast"
)

// cachedVisit visits a world on demand and caches the answer. At most one visit is under way at a time.
type cachedVisit[A any] struct {
	world *vast.World
	// look fills in the answer. It is called between ticks until it returns true.
	look func(w *vast.World, answer *A) (done bool)

	mu      sync.Mutex
	answer  A
	at      time.Time      // time of the answer; zero before the first answer
	pending chan struct{}  // closed at the end of the visit; nil if no visit is under way
	asking  sync.WaitGroup // visits under way
}

// ask returns the last answer and its time. If there is no answer, or if the answer is older than maxAge, ask
// first waits for a visit, but at most for maxWait. The answer is zero before the first successful visit. If
// ctx has ended, ask starts no visit and does not wait. When ctx ends later, the visit that ask has started
// ends.
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
