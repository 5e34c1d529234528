package metamorphic

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/event"
	"github.com/vastgo/vast/sched"
)

// newSchedule makes a schedule with systems that write columns, record commands, send and read events,
// disable and enable entities, start jobs, and call an observer. The workers share the batches of a system.
// The results depend only on keys, values, and the numbers of the operation and of the tick. The system named
// "change" makes the keys of new entities from keys and these numbers.
func (p *player) newSchedule() {
	w, a, b := p.world, p.columns[0], p.columns[1]
	p.schedule = sched.New(w, sched.Options{Workers: p.Workers,
		Commands: vast.CommandsOptions{Bytes: 1 << 16}})
	news := event.New[uint64](p.schedule, event.Options{})
	reader := news.NewReader()
	p.schedule.Add(sched.System{Name: "hear", ReadsResources: sched.Resources(news.Resource()),
		Run: func(c *sched.Context) {
			for _, key := range reader.Next(c) {
				p.heard += key * key // a sum, because the order of the events depends on slots
			}
		}})
	p.schedule.Add(sched.System{Name: "grow", Reads: sched.Columns(p.key), Writes: sched.Columns(a.In()),
		Run: func(c *sched.Context) {
			c.Each(w.Query(p.key, a.In()), 64, func(_ *sched.Context, part vast.Batch) {
				for e := range part.All() {
					a.Edit(e, func(v uint64) uint64 { return v*31 + p.keyOf(e)&0xff + 1 })
				}
			})
		}})
	p.schedule.Add(sched.System{Name: "change", Reads: sched.Columns(p.key, a.In()),
		WritesResources: sched.Resources(news.Resource()),
		Run: func(c *sched.Context) {
			c.Each(w.Query(p.key, a.In()), 64, func(c *sched.Context, part vast.Batch) {
				for e := range part.All() {
					v, _ := a.Get(e)
					switch v % 16 {
					case 1:
						made := c.Commands().New(p.archetypes[v/16%3])
						p.key.SetLater(c.Commands(), made,
							p.keyOf(e)*0x9e3779b97f4a7c15+uint64(p.at)<<2+uint64(p.turn))
					case 2:
						c.Commands().Delete(e)
					case 3, 4, 5:
						b.AddLater(c.Commands(), e, v)
					case 6:
						a.RemoveLater(c.Commands(), e)
					case 7:
						p.tag.AddLater(c.Commands(), e)
					case 8, 9:
						news.Send(c, p.keyOf(e))
					}
				}
			})
		}})
	p.addToggling()
	p.schedule.Add(sched.System{Name: "mix", Reads: sched.Columns(a.In()), Writes: sched.Columns(b.In()),
		Run: func(c *sched.Context) {
			c.Each(w.Query(a.In(), b.In()), 64, func(_ *sched.Context, part vast.Batch) {
				for e := range part.All() {
					v, _ := a.Get(e)
					b.Edit(e, func(u uint64) uint64 { return u ^ v })
				}
			})
		}})
	p.addJobs()
	p.schedule.Add(p.watch.observers.System("observers"))
}
