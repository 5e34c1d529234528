package inspect

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/clock/clocktest"
)

func TestCachedVisit(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		w := vast.NewWorld(vast.Options{})
		defer w.Close()
		asked := 0
		q := cachedVisit[int]{world: w, look: func(_ *vast.World, answer *int) bool {
			asked++
			*answer = asked
			return true
		}}
		ctx := context.Background()
		answers := make(chan int)
		ask := func() {
			a, _ := q.ask(ctx, time.Second, time.Second)
			answers <- a
		}
		go ask()
		go ask()
		synctest.Wait()
		w.Admit(time.Second)
		if a, b := <-answers, <-answers; a != 1 || b != 1 {
			t.Errorf("two simultaneous calls of ask return %d and %d, want 1 from each", a, b)
		}
		if a, at := q.ask(ctx, time.Second, time.Second); a != 1 || !at.Equal(time.Now()) {
			t.Errorf("directly after the visit, ask returns %d with time %v, want 1 with the present time",
				a, at)
		}
		time.Sleep(time.Second)
		began := time.Now()
		if a, at := q.ask(ctx, time.Second, time.Second); a != 1 || time.Since(at) != 2*time.Second ||
			time.Since(began) != time.Second {
			t.Errorf("without a visit, ask returns %d with time %v after %v, want 1 after 1s",
				a, at, time.Since(began))
		}
		go ask() // waits for the visit that the previous call has started
		synctest.Wait()
		w.Admit(time.Second)
		if a := <-answers; a != 2 || asked != 2 {
			t.Errorf("after the next visit, ask returns %d, and look was called %d times; want 2 and 2",
				a, asked)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		time.Sleep(time.Minute)
		if a, _ := q.ask(ended, time.Second, time.Second); a != 2 || asked != 2 {
			t.Errorf("with a cancelled context, ask returns %d, and look was called %d times; want 2 and 2",
				a, asked)
		}
	})
}

func TestCachedVisitOfClosedWorld(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		w := vast.NewWorld(vast.Options{})
		q := cachedVisit[int]{world: w, look: func(*vast.World, *int) bool { return true }}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if a, at := q.ask(context.Background(), 0, time.Hour); a != 0 || !at.IsZero() ||
			time.Since(begin) != 0 {
			t.Errorf("ask returns %d with time %v after %v, want zeros", a, at, time.Since(begin))
		}
		q.asking.Wait()
	})
}
