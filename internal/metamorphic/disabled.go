package metamorphic

import (
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/sched"
)

// query returns the query that a number selects.
func (p *player) query(n uint16) vast.Query {
	q := p.baseQuery(n)
	switch n >> 7 {
	case 1:
		return q.Optional(p.off)
	case 2:
		return q.Without(p.off)
	case 3:
		return q.Any(p.off, p.mute)
	case 4:
		return probe.All(q).Without(p.prefabs.base)
	case 5:
		return q.Optional(p.mute)
	case 6, 7:
		return p.join(q, n)
	case 8:
		return p.kind.Where(q, uint64(n)%kinds)
	}
	return q
}

// joins reports whether query(n) has a join.
func joins(n uint16) bool { return n>>7 == 6 || n>>7 == 7 }

// toggle disables or enables entity e, the entities of a query, or their components.
func (p *player) toggle(op Op, e vast.Entity) {
	d := p.off
	if op.V%2 == 1 {
		d = p.mute
	}
	loop := op.B
	if joins(loop) {
		loop %= 128 // it is open whether a loop that disables targets yields their sources
	}
	switch op.V / 2 % 8 {
	case 0:
		p.see("Enable", d.Enable(e))
	case 1:
		p.see("AddAll", d.AddAll(p.query(op.B)))
	case 2:
		p.see("RemoveAll", d.RemoveAll(probe.All(p.query(op.B))))
	case 3:
		p.see("slots", p.toggleSlots(p.query(loop), d))
	case 4:
		n := 0
		for r := range p.query(loop).Runs() {
			d.EnableRun(r)
			n += r.Len()
		}
		p.see("runs", n)
	default:
		p.see("Disable", d.Disable(e))
	}
}

// toggleSlots disables the entities of a query whose keys are even, and enables the others. It returns the
// sorted keys.
func (p *player) toggleSlots(q vast.Query, d vast.Disabled) (keys []uint64) {
	for s := range q.Slots() {
		key := *p.key.At(s)
		if key%2 == 0 {
			d.DisableAt(s)
		} else {
			d.EnableAt(s)
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// addToggling adds a system that disables and enables entities and components on several workers.
func (p *player) addToggling() {
	q := p.world.Query(p.key).Optional(p.off)
	p.schedule.Add(sched.System{Name: "toggle", Reads: sched.Columns(p.key),
		Writes: sched.Columns(p.off, p.mute),
		Run: func(c *sched.Context) {
			c.Each(q, 64, func(_ *sched.Context, part vast.Batch) {
				for s := range part.Slots() {
					switch key := *p.key.At(s) >> 3; {
					case key%16 == uint64(p.turn):
						p.off.DisableAt(s)
					case p.off.HasAt(s):
						p.off.EnableAt(s)
						p.mute.DisableAt(s)
					default:
						p.mute.EnableAt(s)
					}
				}
			})
		}})
}
