package vast

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// visiting starts a visit, waits until the visit is in the queue, and returns a channel for its result.
func visiting(t *testing.T, w *World, ctx context.Context, look func() bool) <-chan error {
	t.Helper()
	before := w.visits.waiting.Load()
	result := make(chan error, 1)
	go func() { result <- w.Visit(ctx, look) }()
	for w.visits.waiting.Load() == before {
		runtime.Gosched()
	}
	return result
}

func (v *visits) untilOneWaits() {
	for v.waiting.Load() == 0 {
		runtime.Gosched()
	}
}

func TestVisit(t *testing.T) {
	w := NewWorld(Options{})
	defer w.Close()
	if w.Admit(0) {
		t.Error("visitors wait in a new world")
	}
	col := NewColumn[uint64](w)
	e := w.Archetype(col).New()
	calls := 0
	result := visiting(t, w, context.Background(), func() bool {
		*col.Get(e)++
		calls++
		return calls == 3
	})
	for w.Admit(0) {
	}
	if err := <-result; err != nil || *col.Get(e) != 3 {
		t.Errorf("returned %v after %d calls, want 3", err, *col.Get(e))
	}
	if w.Admit(time.Hour) || calls != 3 {
		t.Errorf("look was called %d times, want 3", calls)
	}
}

func TestVisitorsTakeTurns(t *testing.T) {
	w := NewWorld(Options{})
	defer w.Close()
	var order []int
	var results []<-chan error
	for i := range 3 {
		left := 2
		results = append(results, visiting(t, w, context.Background(), func() bool {
			order = append(order, i)
			left--
			return left == 0
		}))
	}
	w.Admit(time.Hour)
	for _, r := range results {
		if err := <-r; err != nil {
			t.Error(err)
		}
	}
	for i, want := range []int{0, 1, 2, 0, 1, 2} {
		if order[i] != want {
			t.Fatalf("the order is %v", order)
		}
	}
}

func TestVisitWithdrawn(t *testing.T) {
	w := NewWorld(Options{})
	defer w.Close()
	ended, cancel := context.WithCancel(context.Background())
	result := visiting(t, w, ended, func() bool {
		t.Error("look was called after its context ended")
		return true
	})
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("returned %v", err)
	}
	w.Admit(time.Hour)
	if err := w.Visit(ended, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a visit with an ended context returned %v", err)
	}

	// If the context ends during a call of look, Visit waits until look returns.
	ctx, cancel := context.WithCancel(context.Background())
	inside, calls := true, 0
	result = visiting(t, w, ctx, func() bool {
		calls++
		cancel()
		time.Sleep(10 * time.Millisecond)
		inside = false
		return false
	})
	w.Admit(time.Hour)
	if err := <-result; !errors.Is(err, context.Canceled) || inside || calls != 1 {
		t.Errorf("returned %v after %d calls, want 1; the call was still running: %t", err, calls, inside)
	}
}

func TestVisitClosedWorld(t *testing.T) {
	w := NewWorld(Options{})
	result := visiting(t, w, context.Background(), func() bool {
		t.Error("look was called after Close")
		return true
	})
	closing := visiting(t, w, context.Background(), func() bool { return false })
	w.Close()
	for _, r := range []<-chan error{result, closing} {
		if err := <-r; !errors.Is(err, ErrClosed) {
			t.Errorf("returned %v", err)
		}
	}
	if err := w.Visit(context.Background(), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("a visit after Close returned %v", err)
	}
	if w.Admit(time.Hour) {
		t.Error("visitors wait at a closed world")
	}

	w = NewWorld(Options{})
	result = visiting(t, w, context.Background(), func() bool { w.Close(); return false })
	w.Admit(time.Hour)
	if err := <-result; !errors.Is(err, ErrClosed) {
		t.Errorf("in a world that a visitor closed, Visit returned %v", err)
	}
}

func TestVisitorPanics(t *testing.T) {
	w := NewWorld(Options{})
	defer w.Close()
	seen := make(chan any, 1)
	go func() {
		defer func() { seen <- recover() }()
		_ = w.Visit(context.Background(), func() bool { panic("mine") })
	}()
	w.visits.untilOneWaits()
	w.Admit(time.Hour)
	if v := <-seen; v != "mine" {
		t.Errorf("Visit panicked with %v", v)
	}
	result := visiting(t, w, context.Background(), func() bool { runtime.Goexit(); return true })
	var admitting sync.WaitGroup
	admitting.Go(func() { w.Admit(time.Hour) })
	admitting.Wait()
	if err := <-result; err != errGoexit {
		t.Errorf("returned %v", err)
	}
}

func TestVisitsFromManyGoroutines(t *testing.T) {
	w := NewWorld(Options{})
	defer w.Close()
	const visitors, each = 8, 200
	total := 0
	var all sync.WaitGroup
	for range visitors {
		all.Go(func() {
			for range each {
				if err := w.Visit(context.Background(), func() bool { total++; return true }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	// The owner is in Admit, in Idle, and at work in turn.
	for turn := 0; ; turn++ {
		select {
		case <-ended:
			if total != visitors*each {
				t.Errorf("%d calls, want %d", total, visitors*each)
			}
			return
		default:
			if turn%2 == 0 {
				w.Admit(time.Microsecond)
			} else {
				w.Idle(runtime.Gosched)
			}
			total++
			total--
		}
	}
}

func TestVisitFromLook(t *testing.T) {
	w := NewWorld(Options{Name: "home"})
	defer w.Close()
	told := make(chan any)
	go func() {
		told <- panicOf(func() {
			_ = w.Visit(context.Background(), func() bool {
				_ = w.Visit(context.Background(), func() bool { return true })
				return true
			})
		})
	}()
	w.visits.untilOneWaits()
	w.Admit(time.Hour)
	if s, _ := (<-told).(string); !strings.Contains(s, `code that the owner of world "home" runs`) {
		t.Errorf("Visit panics with %q", s)
	}
}

// TestIdle checks that visitors enter one at a time, and that Idle waits for the last visitor. After a panic
// or the end of a context, the next visitor must enter.
func TestIdle(t *testing.T) {
	w := NewWorld(Options{})
	waiting := visiting(t, w, context.Background(), func() bool { return true })
	var inside atomic.Int32
	var all sync.WaitGroup
	begin := make(chan struct{})
	look := func(steps int) func() bool {
		return func() bool {
			if inside.Add(1) != 1 {
				t.Error("two visitors are inside")
			}
			runtime.Gosched()
			inside.Add(-1)
			steps--
			return steps == 0
		}
	}
	for i := range 8 {
		all.Go(func() {
			<-begin
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			for range 50 {
				if err := w.Visit(ctx, look(3)); err != nil {
					t.Error(err)
				}
				if v := panicOf(func() { _ = w.Visit(ctx, func() bool { panic(i) }) }); v != i {
					t.Errorf("Visit panicked with %v, want %d", v, i)
				}
			}
			calls := 0
			if err := w.Visit(ctx, func() bool { calls++; cancel(); return false }); calls != 1 ||
				!errors.Is(err, context.Canceled) {
				t.Errorf("after its context ended, Visit returned %v after %d calls", err, calls)
			}
		})
	}
	w.Idle(func() {
		if err := <-waiting; err != nil {
			t.Error(err)
		}
		close(begin)
		all.Wait()
	})
	if w.visits.waiting.Load() != 0 || w.visits.inside {
		t.Error("after Idle, a visitor waits or is inside")
	}

	entered, leave := make(chan struct{}), make(chan struct{})
	last := make(chan error, 1)
	left := false
	w.Idle(func() {
		go func() {
			last <- w.Visit(context.Background(), func() bool {
				close(entered)
				<-leave
				left = true
				return true
			})
		}()
		<-entered
		close(leave)
	})
	if !left {
		t.Error("Idle returned while a visitor was inside")
	}
	if err := <-last; err != nil {
		t.Error(err)
	}
	nested := ""
	w.Idle(func() { nested, _ = panicOf(func() { w.Idle(func() {}) }).(string) })
	if !strings.Contains(nested, "World.Idle was called while another Idle") {
		t.Errorf("Idle in Idle panics with %q", nested)
	}
	inner := ""
	w.Idle(func() {
		inner, _ = panicOf(func() {
			_ = w.Visit(context.Background(), func() bool {
				_ = w.Visit(context.Background(), func() bool { return true })
				return true
			})
		}).(string)
	})
	if !strings.Contains(inner, "code that the owner of world") {
		t.Errorf("Visit in a visit panics with %q", inner)
	}
	w.Idle(func() {
		err := w.Visit(context.Background(), func() bool { w.Close(); return false })
		if !errors.Is(err, ErrClosed) {
			t.Errorf("in a world that a visitor closed, Visit returned %v", err)
		}
	})
}

// BenchmarkVisit visits a world whose owner is idle.
func BenchmarkVisit(b *testing.B) {
	w := NewWorld(Options{})
	defer w.Close()
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		w.Idle(func() { <-end })
	}()
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Visit(context.Background(), func() bool { return true }); err != nil {
			b.Fatal(err)
		}
	}
	close(end)
	<-ended
}
