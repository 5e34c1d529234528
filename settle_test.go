package vast

import (
	"context"
	"testing"
	"time"
)

// TestSettle: a store hears before commands and visitors may write, and before the world is reset or gives
// memory back.
func TestSettle(t *testing.T) {
	w := NewWorld(Options{})
	defer w.Close()
	c := NewColumn[int](w)
	e := w.Archetype(c).New()
	heard, value := 0, 0
	states{}.OnSettle(w, func() {
		heard++
		if p := c.Get(e); p != nil {
			value = *p
		}
	})
	hear := func(what string, want int) {
		t.Helper()
		if heard != 1 || value != want {
			t.Errorf("%s: the store heard %d times, when the component was %d, want %d", what, heard, value,
				want)
		}
		heard = 0
	}
	cs := NewCommands(w, CommandsOptions{})
	defer cs.Close()
	c.SetLater(cs, e, 7)
	if _, err := w.Apply(cs); err != nil {
		t.Fatal(err)
	}
	hear("World.Apply", 0)

	if w.Admit(time.Second); heard != 0 {
		t.Error("the store hears of visitors that are not there")
	}
	done := make(chan error)
	come := make(chan struct{}, 1)
	defer w.NotifyVisits(come)()
	go func() { done <- w.Visit(context.Background(), func() bool { *c.Edit(e) = 8; return true }) }()
	<-come
	w.Admit(-1)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	hear("World.Admit", 7)

	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	hear("World.Trim", 8)
	w.Reset()
	hear("World.Reset", 8)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	hear("World.Close", 8)
}
