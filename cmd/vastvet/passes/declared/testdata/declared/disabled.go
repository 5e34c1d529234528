package declared

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

type night struct {
	pos    vast.Column[position]
	asleep vast.Disabled
	all    vast.Query
}

func newNight(w *vast.World) *night {
	n := &night{pos: vast.NewColumn[position](w), asleep: vast.NewDisabled(w, "asleep")}
	n.all = w.Query(n.pos)
	return n
}

func (n *night) add(s *sched.Schedule) {
	s.Add(sched.System{Name: "sleep", Reads: sched.Columns(n.pos), Run: func(c *sched.Context) {
		for slot := range n.all.Slots() {
			if n.pos.At(slot).X > 0 {
				n.asleep.DisableAt(slot) // want `system "sleep" writes n.asleep and does not declare it, so other systems may touch it at the same time: add it to Writes`
			}
		}
	}})
	s.Add(sched.System{Name: "wake", Reads: sched.Columns(n.asleep), Run: func(c *sched.Context) {
		for run := range n.all.Optional(n.asleep).Runs() {
			n.asleep.EnableRun(run) // want `system "wake" writes n.asleep and declares it as read only`
		}
	}})
	s.Add(sched.System{Name: "right", Reads: sched.Columns(n.pos), Writes: sched.Columns(n.asleep),
		Run: func(c *sched.Context) {
			for e := range n.all.All() {
				n.asleep.Disable(e)
			}
		}})
}
