// Package declared has systems.
package declared

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

type position struct{ X, Y float64 }

type velocity struct{ X, Y float64 }

type mass float64

type game struct {
	pos   vast.Column[position]
	vel   vast.Column[velocity]
	old   vast.Column[position]
	mass  vast.SparseColumn[mass]
	gone  vast.Tag
	moves vast.Query
}

func newGame(w *vast.World) *game {
	g := &game{pos: vast.NewColumn[position](w), vel: vast.NewColumn[velocity](w)}
	g.old = vast.NewColumn[position](w)
	g.mass = vast.NewSparseColumn[mass](w)
	g.moves = w.Query(g.pos, g.vel)
	return g
}

func (g *game) wrong(s *sched.Schedule) {
	s.Add(sched.System{Name: "move", Writes: sched.Columns(g.pos), Run: func(c *sched.Context) {
		for run := range g.moves.Runs() {
			p, v := g.pos.Slice(run), g.vel.Slice(run) // want `system "move" reads g.vel and does not declare it: add it to Reads, or others write it meanwhile`
			for i := range p {
				p[i].X += v[i].X
			}
		}
	}})
	s.Add(sched.System{Name: "stop", Reads: sched.Columns(g.vel), Run: func(c *sched.Context) {
		for run := range g.moves.Runs() {
			v := g.vel.Slice(run)
			for i := range v {
				v[i].X = 0 // want `system "stop" writes g.vel and declares it as read only: move it to Writes, or others read it meanwhile`
			}
		}
	}})
	s.Add(sched.System{Name: "weigh", Reads: sched.Columns(g.pos), Run: func(c *sched.Context) {
		for e := range g.moves.All() {
			if g.pos.Get(e).X > 0 && *g.mass.Get(e) > 0 { // want `system "weigh" reads g.mass`
				g.vel.Set(e, velocity{}) // want `system "weigh" writes g.vel and does not declare it: add it to Writes, or others touch it meanwhile`
			}
		}
	}})
	s.Add(sched.System{
		Name: "turn", Reads: sched.Columns(g.old),
		Run: g.turn,
	})
	s.Add(sched.System{
		Name: "each",
		Run:  g.inParts(g.part),
	})
	s.Add(sched.System{Name: "if", Reads: []vast.AnyColumn{g.vel}, If: func(*sched.Context) bool {
		e, _ := g.moves.First()
		return g.pos.Get(e).X > 0 // want `system "if" reads g.pos`
	}, Run: func(*sched.Context) {}})
}

func (g *game) turn(c *sched.Context) {
	for e := range g.moves.All() {
		g.turnOne(e)
	}
}

func (g *game) turnOne(e vast.Entity) {
	v := g.vel.Get(e)                           // want `system "turn" reads g.vel`
	v.X, v.Y = v.Y, -v.X                        // want `system "turn" writes g.vel`
	p := g.pos.Get(e)                           // want `system "turn" reads g.pos`
	*p = *g.old.Get(e)                          // want `system "turn" writes g.pos`
	copy(g.old.Slice(vast.Run{}), []position{}) // want `system "turn" writes g.old and declares it as read only`
}

func (g *game) inParts(f func(*sched.Context, vast.Batch)) func(*sched.Context) {
	return func(c *sched.Context) { c.Each(g.moves, 64, f) }
}

func (g *game) part(c *sched.Context, b vast.Batch) {
	for run := range b.Runs() {
		g.pos.EditRun(run)[0].X++ // want `system "each" writes g.pos`
	}
}

func wrongLocal(w *vast.World, s *sched.Schedule, tr *vast.Tracker) {
	pos, vel := vast.NewColumn[position](w), vast.NewColumn[velocity](w)
	other := vast.NewColumn[position](w)
	s.Add(sched.System{Name: "copy", Reads: sched.Columns(pos), Run: func(c *sched.Context) {
		for e := range w.Query(pos).Changed(vel, tr).All() { // want `system "copy" reads vel`
			other.Set(e, *pos.Get(e)) // want `system "copy" writes other`
		}
	}})
}

func (g *game) right(w *vast.World, s *sched.Schedule, tag vast.Tag, cols []vast.AnyColumn, any vast.Column[mass]) {
	s.Add(sched.System{Name: "move", Reads: sched.Columns(g.vel), Writes: sched.Columns(g.pos), Run: func(c *sched.Context) {
		for run := range g.moves.Runs() {
			p, v := g.pos.Slice(run), g.vel.Slice(run)
			for i := range p {
				p[i].X += v[i].X
			}
		}
		for e := range w.Query(g.mass).Without(g.gone).All() {
			if g.mass.Has(e) {
				g.mass.RemoveLater(c.Commands(), e)
			}
			tag.AddLater(c.Commands(), e)
		}
	}})
	pos := g.pos
	s.Add(sched.System{Name: "aliased", Writes: sched.Columns(pos), Run: func(c *sched.Context) {
		e, _ := g.moves.First()
		g.pos.Get(e).X = 1
	}})
	s.Add(sched.System{Name: "alone", Exclusive: true, Run: g.turn})
	s.Add(sched.System{Name: "not known", Reads: cols, Run: g.turn})
	s.Add(sched.System{Name: "spread", Reads: sched.Columns(cols...), Run: g.turn})
	s.Add(sched.System{Name: "reads a copy", Reads: sched.Columns(g.pos), Run: func(c *sched.Context) {
		e, _ := g.moves.First()
		p := *g.pos.Get(e)
		p.X = 5
		list := g.pos.Slice(vast.Run{})
		list = list[:0]
		_ = list
	}})
	s.Add(sched.System{Name: "by a parameter", Run: func(c *sched.Context) { helper(any) }})
	s.Add(sched.System{Name: "ignored", Run: func(c *sched.Context) {
		//vastvet:ignore declared: nobody writes it after the start
		_ = g.vel.Get(vast.Entity{})
	}})
}

func helper(m vast.Column[mass]) *mass { return m.Get(vast.Entity{}) }

// later may be given any column.
type later struct{ col vast.Column[position] }

func (l *later) set(col vast.Column[position]) { l.col = col }

// other holds columns that it was given elsewhere.
type other struct{ col vast.Column[position] }

func (l *later) share(s *sched.Schedule, o *other) {
	s.Add(sched.System{Name: "share", Reads: sched.Columns(o.col), Run: func(*sched.Context) { l.col.Get(vast.Entity{}) }})
}

func (l *later) add(s *sched.Schedule, col vast.Column[position]) {
	l.set(col)
	s.Add(sched.System{Name: "later", Reads: sched.Columns(col), Run: func(*sched.Context) { l.col.Get(vast.Entity{}) }})
}
