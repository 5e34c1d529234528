package vast

import (
	"context"
	"testing"
	"time"
)

// TestSettle: each method calls the callback before it writes to the world. The callback therefore reads the
// value from before the write.
func TestSettle(t *testing.T) {
	w := NewWorld(Options{})
	defer w.Close()
	c := NewColumn[int](w)
	e := w.Archetype(c).New()
	calls, value := 0, 0
	states{}.OnSettle(w, func() {
		calls++
		if p := c.Get(e); p != nil {
			value = *p
		}
	})
	mustHaveRun := func(what string, want int) {
		t.Helper()
		if calls != 1 || value != want {
			t.Errorf("%s: the callback ran %d times, want once; it read %d, want %d", what, calls, value,
				want)
		}
		calls = 0
	}
	cs := NewCommands(w, CommandsOptions{})
	defer cs.Close()
	c.SetLater(cs, e, 7)
	if _, err := w.Apply(cs); err != nil {
		t.Fatal(err)
	}
	mustHaveRun("World.Apply", 0)

	if w.Admit(time.Second); calls != 0 {
		t.Error("the callback ran although no visitor waits")
	}
	done := make(chan error)
	go func() { done <- w.Visit(context.Background(), func() bool { *c.Edit(e) = 8; return true }) }()
	w.visits.untilOneWaits()
	w.Admit(-1)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	mustHaveRun("World.Admit", 7)

	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	mustHaveRun("World.Trim", 8)
	w.Reset()
	mustHaveRun("World.Reset", 8)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	mustHaveRun("World.Close", 8) // Reset has deleted e, so value is from the call by Reset
}
