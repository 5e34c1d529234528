package declared

import (
	"context"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

type fuel struct{ Left int }

type refill struct {
	Ship vast.Entity
	Left int
}

type tanks struct {
	left  vast.Column[fuel]
	work  *sched.Jobs[refill, int]
	other *sched.Jobs[int, int]
}

func wrongJobs(s *sched.Schedule, t *tanks) {
	t.work = sched.NewJobs(s, func(_ context.Context, r refill) int {
		for range 3 {
			t.left.Get(r.Ship).Left++ // want `a job touches t.left beside the ticks, so systems may write it at the same time: read t.left before Start, and pass the value in the input`
		}
		return t.left.Get(r.Ship).Left
	}, sched.JobsOptions{})
	s.Add(sched.System{Name: "ask", Run: func(c *sched.Context) {
		_ = t.work.Start(c, refill{}) // want `system "ask" calls Start of t.work and does not declare it, and the call panics: add sched.Resources\(t.work\) to WritesResources`
	}})
	s.Add(sched.System{Name: "use", WritesResources: sched.Resources(t.work), Run: func(c *sched.Context) {
		for range t.work.Results(c) {
		}
		for range t.other.Results(c) { // want `system "use" calls Results of t.other`
		}
	}})
}

func rightJobs(s *sched.Schedule, t *tanks, scratch func() (*vast.World, vast.Column[fuel])) {
	t.work = sched.NewJobs(s, func(_ context.Context, r refill) int {
		w, left := scratch()
		defer w.Close()
		return left.Get(r.Ship).Left + r.Left
	}, sched.JobsOptions{})
	s.Add(sched.System{Name: "right", Reads: sched.Columns(t.left),
		WritesResources: sched.Resources(t.work.Resource()), Run: func(c *sched.Context) {
			for r, left := range t.work.Results(c) {
				_ = t.work.Start(c, refill{r.Ship, left + t.left.Get(r.Ship).Left})
			}
			_ = t.work.Start(nil, refill{}) // panics for another reason
		}})
	s.Add(sched.System{Name: "alone", Exclusive: true, Run: func(c *sched.Context) {
		for range t.work.Results(c) {
		}
	}})
}
