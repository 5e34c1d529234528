package declared

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/event"
	"github.com/vastgo/vast/sched"
)

type hit struct{ Damage int }

type battle struct {
	hits, misses *event.Queue[hit]
	turns        *event.Queue[int]
}

func newBattle(s *sched.Schedule) *battle {
	b := &battle{turns: event.New[int](s, event.Options{})}
	b.hits = event.New[hit](s, event.Options{})
	b.misses = event.New[hit](s, event.Options{Name: "misses"})
	return b
}

func (b *battle) wrongQueues(s *sched.Schedule, e vast.Entity) {
	s.Add(sched.System{Name: "shoot", Run: func(c *sched.Context) {
		b.hits.Send(c, hit{1}) // want `system "shoot" calls Send of b.hits and does not declare it, and the call panics: add sched.Resources\(b.hits\) to WritesResources`
		b.hits.SendTo(c, e, hit{1})
		b.hits.Send(nil, hit{1}) // panics for another reason
	}})
	s.Add(sched.System{Name: "suffer", WritesResources: sched.Resources(b.hits),
		Run: func(c *sched.Context) {
			for range b.hits.All(c) { // want `system "suffer" calls All of b.hits and does not declare it, and the call panics: add sched.Resources\(b.hits\) to ReadsResources`
			}
			for range b.hits.Of(c, e) {
			}
			if b.turns.Len(c) > 0 { // want `system "suffer" calls Len of b.turns`
				return
			}
		}})
	s.Add(sched.System{Name: "count", ReadsResources: sched.Resources(b.hits.Resource(), sched.ResourceOf[int]()),
		Run: b.count})
}

func (b *battle) count(c *sched.Context) {
	c.Split(2, func(c *sched.Context, i int) {
		b.turns.Send(c, i) // want `system "count" calls Send of b.turns`
	})
	b.misses.Len(c) // want `system "count" calls Len of b.misses`
}

func (b *battle) rightQueues(s *sched.Schedule, given []sched.Resource, q *event.Queue[hit]) {
	shoot := func(c *sched.Context) { b.hits.Send(c, hit{1}) }
	s.Add(sched.System{Name: "shoot", WritesResources: sched.Resources(b.hits.Resource()), Run: shoot})
	s.Add(sched.System{Name: "alone", Exclusive: true, Run: shoot})
	s.Add(sched.System{Name: "itself", WritesResources: sched.Resources(sched.ResourceOf[int](), b.hits), Run: shoot})
	s.Add(sched.System{Name: "hidden", WritesResources: sched.Resources(struct{ *event.Queue[hit] }{b.hits}),
		Run: shoot})
	s.Add(sched.System{Name: "given", WritesResources: given, Run: shoot})
	s.Add(sched.System{Name: "same", WritesResources: sched.Resources(q.Resource()), Run: shoot})
	both := b.hits.Resource()
	s.Add(sched.System{Name: "both", WritesResources: sched.Resources(both), ReadsResources: sched.Resources(both),
		If: func(c *sched.Context) bool { return b.hits.Len(c) > 0 }, Run: shoot})
}
