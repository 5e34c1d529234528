package sched

import (
	"context"
	"testing"
	"time"

	"github.com/vastgo/vast"
)

// visit has a goroutine visit the world once, and returns what it will have got.
func visit(w *vast.World) <-chan error {
	result := make(chan error, 1)
	calls := 0
	go func() {
		result <- w.Visit(context.Background(), func() bool { calls++; return calls == 3 })
	}()
	return result
}

func TestTickAdmitsVisitors(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := New(w, Options{Workers: 1, Visits: time.Hour})
	defer s.Close()
	for result := visit(w); ; {
		if err := s.Tick(); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-result:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
}

func TestTickLeavesVisitorsToOthers(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := New(w, Options{Workers: 1, Visits: -1})
	defer s.Close()
	bell := make(chan struct{}, 1)
	defer w.NotifyVisits(bell)()
	result := visit(w)
	<-bell
	if err := s.Tick(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-result:
		t.Fatalf("let in by a schedule that is not to: %v", err)
	default:
	}
	for w.Admit(0) {
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
}

func TestRunAdmitsVisitors(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := New(w, Options{Workers: 1, Rate: 1}) // a second of waiting between ticks
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	if err := <-visit(w); err != nil {
		t.Error("while it waits:", err)
	}
	s.Pause()
	if err := <-visit(w); err != nil {
		t.Error("while it is paused:", err)
	}
	s.Step(1)
	if err := <-visit(w); err != nil {
		t.Error("after a step:", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A schedule that is always late has no time to wait, but its visitors are let in all the same.
func TestLateRunAdmitsVisitors(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := New(w, Options{Workers: 1, Rate: 1e9})
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	if err := <-visit(w); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
