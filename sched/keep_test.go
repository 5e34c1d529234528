package sched

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/vastgo/vast"
)

// listener is a keeper that notes what systems are about to write.
type listener struct {
	mu   sync.Mutex
	said []string
}

func (k *listener) say(what string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.said = append(k.said, what)
}

func (k *listener) Begin() error         { k.say("begin"); return nil }
func (k *listener) End(bool) error       { k.say("end"); return nil }
func (k *listener) Writes(columns []int) { k.say(fmt.Sprint("writes ", columns, columns == nil)) }
func (k *listener) Reset()               {}
func (k *listener) Visits() bool         { return true }

// TestKeeperHearsOfWrites: a keeper hears which columns a system writes before the system runs, if the system
// runs and writes any.
func TestKeeperHearsOfWrites(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	a, b := vast.NewColumn[int32](w).Named("a"), vast.NewColumn[int32](w).Named("b")
	for _, workers := range []int{1, 2} {
		k := new(listener)
		s := New(w, Options{Workers: workers})
		run := func(name string) func(*Context) { return func(*Context) { k.say(name) } }
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
		if !slices.Equal(k.said, want) {
			t.Errorf("%d workers: %q, want %q", workers, k.said, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
