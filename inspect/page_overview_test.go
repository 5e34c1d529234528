package inspect

import (
	"context"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
)

func TestPageOverview(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/overview")
	p.waitText("[data-reading=entities] .meter-value", "1,003")
	p.waitText("[data-reading=tick] .meter-note", "of 5.00\u00a0ms") // 200 ticks a second
	p.waitText("table.costs", "move")
	p.waitText("table.costs", "Velocity")
	p.Until(`document.querySelectorAll('.uplot canvas').length === 7`)
	p.Until("[...document.querySelectorAll('.uplot canvas, canvas.spark')].every((c) => (" + colorsIn +
		")(c) > 1)")

	f.see(t, func() { f.w.Delete(f.people[1]) })
	p.waitText("[data-reading=entities] .meter-value", "1,002")

	f.schedule.Pause()
	p.waitText("#state-word", "paused")
	f.schedule.Resume()
	p.waitText("#state-word", "live")
}

func TestPageOverviewOfHangingProgram(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/overview")
	p.waitText("#state-word", "live")
	release, hung := make(chan struct{}), make(chan error)
	go func() {
		hung <- f.w.Visit(context.Background(), func() bool { <-release; return true })
	}()
	p.waitText(".box", "has not admitted the inspector for")
	p.waitText("#state-word", "waiting")
	close(release)
	if err := <-hung; err != nil {
		t.Fatal(err)
	}
	p.Until("!document.querySelector('main .box')")
	p.waitText("#state-word", "live")
}

func TestPageOverviewWithoutSchedule(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	w := vast.NewWorld(vast.Options{Name: "by hand"})
	in, err := Serve(t.Context(), w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		w.Idle(func() { <-end })
	}()
	t.Cleanup(func() {
		in.Close()
		close(end)
		<-ended
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	p := openPage(t, &fixture{Inspector: in}, "/#/overview")
	p.waitText(".box", "This world has no schedule")
	p.waitText("[data-reading=entities] .meter-value", "0")
	p.waitText("[data-reading=rate] .meter-value", "–")
	p.waitText("#state-word", "live")
}
