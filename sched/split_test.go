package sched

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/vm"
)

func TestSplit(t *testing.T) {
	type number struct{ N int }
	for _, workers := range []int{1, 2, 5} {
		w := vast.NewWorld(vast.Options{})
		numbers := vast.NewColumn[number](w)
		made := w.Archetype(numbers)
		s := New(w, Options{Workers: workers})
		calls := make([]int, 100)
		s.Add(System{Name: "split", Run: func(c *Context) {
			c.Split(0, func(*Context, int) { t.Error("Split(0) called a part") })
			c.Split(len(calls), func(c *Context, i int) {
				calls[i]++
				numbers.SetLater(c.Commands(), c.Commands().New(made), number{i})
			})
		}})
		for range 3 {
			if err := s.Tick(); err != nil {
				t.Fatal(err)
			}
		}
		if slices.ContainsFunc(calls, func(n int) bool { return n != 3 }) {
			t.Errorf("%d workers: parts were called %v times", workers, calls)
		}
		i := 0
		for e := range w.Query(numbers).All() {
			if got := numbers.Get(e).N; got != i%len(calls) {
				t.Fatalf("%d workers: entity %d was made by part %d", workers, i, got)
			}
			i++
		}
		if i != 3*len(calls) {
			t.Errorf("%d workers: %d entities", workers, i)
		}
		if err := errors.Join(s.Close(), w.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestSplitPanics(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := New(w, Options{Workers: 2})
	defer s.Close()
	var part func(c *Context, i int)
	n, batches := 3, 0
	s.Add(System{Name: "split", Run: func(c *Context) {
		c.Split(n, part)
		c.Each(w.Query(), 1, func(*Context, vast.Batch) { batches++ })
	}})
	says := func(want string) {
		t.Helper()
		var failed *PanicError
		if err := s.Tick(); !errors.As(err, &failed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	part = func(_ *Context, i int) {
		if i == 2 {
			panic("part two")
		}
	}
	says("part two")
	part = func(c *Context, _ int) { c.Split(1, func(*Context, int) {}) }
	says("inside a part of another")
	n = -1
	says("Context.Split(-1)")
	n, part = 1, func(*Context, int) {}
	w.Archetype().New()
	if err := s.Tick(); err != nil || batches != 1 {
		t.Errorf("the tick after failed ticks: %v, %d batches, want 1", err, batches)
	}
}

func TestGrowCommandBytes(t *testing.T) {
	limit := vm.NewLimit(4 << 20)
	w := vast.NewWorld(vast.Options{Limit: limit})
	defer w.Close()
	s := New(w, Options{Workers: 2})
	defer s.Close()
	if err := s.GrowCommandBytes(1 << 20); err != nil {
		t.Fatal(err)
	}
	if used := limit.Used(); used < 2<<20 {
		t.Errorf("only %d bytes are committed for two workers", used)
	}
	if err := s.GrowCommandBytes(3 << 20); !errors.Is(err, vm.ErrLimit) {
		t.Errorf("%v, want the limit", err)
	}
}
