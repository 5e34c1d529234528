package sched

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/vastgo/vast"
)

// eventKeeper is a keeper that lists the calls of Begin, End, Writes and Changed, and the runs of the
// systems.
type eventKeeper struct {
	mu     sync.Mutex
	events []string
}

func (k *eventKeeper) note(what string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.events = append(k.events, what)
}

func (k *eventKeeper) Begin() error         { k.note("begin"); return nil }
func (k *eventKeeper) End(bool) error       { k.note("end"); return nil }
func (k *eventKeeper) Writes(columns []int) { k.note(fmt.Sprint("writes ", columns, columns == nil)) }
func (k *eventKeeper) Changed()             { k.note("changed") }
func (k *eventKeeper) Visits() bool         { return true }

// TestKeeperGetsWrites: before a system with Writes runs, the keeper gets the columns that the system writes.
// For an exclusive system, which may write all columns, the keeper gets nil.
func TestKeeperGetsWrites(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	a, b := vast.NewColumn[int32](w).Named("a"), vast.NewColumn[int32](w).Named("b")
	for _, workers := range []int{1, 2} {
		k := new(eventKeeper)
		s := New(w, Options{Workers: workers})
		run := func(name string) func(*Context) { return func(*Context) { k.note(name) } }
		s.Add(System{Name: "reads", Reads: Columns(a), Run: run("reads")})
		s.Add(System{Name: "writes", Writes: Columns(b, a), Run: run("writes")})
		s.Add(System{Name: "never", Writes: Columns(b), If: func(*Context) bool { return false },
			Run: run("never")})
		s.Add(System{Name: "alone", Exclusive: true, Writes: Columns(b), Run: run("alone")})
		if !(schedules{}).Keep(s, k, nil) {
			t.Fatal("the schedule is not kept")
		}
		if err := s.Tick(); err != nil {
			t.Fatal(err)
		}
		want := []string{"begin", "reads", "writes [1 0] false", "writes", "writes [] true", "alone", "end"}
		if !slices.Equal(k.events, want) {
			t.Errorf("%d workers: %q, want %q", workers, k.events, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
