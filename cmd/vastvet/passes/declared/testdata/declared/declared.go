// Package declared has systems that touch declared and undeclared columns.
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
			p, v := g.pos.Slice(run), g.vel.Slice(run) // want `system "move" reads g.vel and does not declare it, so other systems may write it at the same time: add it to Reads`
			for i := range p {
				p[i].X += v[i].X
			}
		}
	}})
	s.Add(sched.System{Name: "stop", Reads: sched.Columns(g.vel), Run: func(c *sched.Context) {
		for run := range g.moves.Runs() {
			v := g.vel.Slice(run)
			for i := range v {
				v[i].X = 0 // want `system "stop" writes g.vel and declares it as read only, so other systems may read it at the same time: move it to Writes`
			}
		}
	}})
	s.Add(sched.System{Name: "weigh", Reads: sched.Columns(g.pos), Run: func(c *sched.Context) {
		for e := range g.moves.All() {
			if g.pos.Get(e).X > 0 && *g.mass.Get(e) > 0 { // want `system "weigh" reads g.mass`
				g.vel.Set(e, velocity{}) // want `system "weigh" writes g.vel and does not declare it, so other systems may touch it at the same time: add it to Writes`
			}
		}
	}})
	s.Add(sched.System{Name: "sum", Reads: sched.Columns(g.vel), Run: func(c *sched.Context) {
		sum := mass(0)
		for _, m := range g.mass.All() { // want `system "sum" reads g.mass`
			sum += *m
		}
	}})
	s.Add(sched.System{Name: "halve", Reads: sched.Columns(g.mass), Run: func(c *sched.Context) {
		for _, m := range g.mass.All() {
			*m /= 2 // want `system "halve" writes g.mass and declares it as read only`
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
	v := g.vel.Get(e)
	v.X, v.Y = v.Y, -v.X // want `system "turn" writes g.vel`
	p := g.pos.Get(e)
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

func wrongSeveral(s *sched.Schedule, pos vast.Column[position], vel vast.Column[velocity],
	weight vast.Column[mass]) {
	s.Add(sched.System{Name: "several", Run: func(c *sched.Context) {
		p := pos.Get(vast.Entity{})
		p.X += vel.Get(vast.Entity{}).X            // want `system "several" writes pos` `system "several" reads vel`
		p.Y *= float64(*weight.Get(vast.Entity{})) // want `system "several" reads weight`
	}})
}

func (g *game) wrongHeld(s *sched.Schedule) {
	move := sched.System{Name: "held", Writes: sched.Columns(g.pos), Run: func(c *sched.Context) {
		_ = g.vel.Get(vast.Entity{}) // want `system "held" reads g.vel`
	}}
	s.Add(move)
	reads := sched.Columns(g.pos)
	systems := []sched.System{
		{Name: "first", Reads: reads, Run: func(*sched.Context) { _ = g.vel.Get(vast.Entity{}) }}, // want `system "first" reads g.vel`
	}
	for _, system := range systems {
		s.Add(system)
	}
}

func (g *game) wrongHanded(s *sched.Schedule) {
	s.Add(g.moving())
	for _, system := range g.systems() {
		add(s, system)
	}
	add(s, sched.System{Name: "passed", Reads: sched.Columns(g.pos), Run: func(*sched.Context) {
		_ = g.vel.Get(vast.Entity{}) // want `system "passed" reads g.vel`
	}})
}

func (g *game) moving() sched.System {
	return sched.System{Name: "returned", Reads: sched.Columns(g.pos), Run: func(*sched.Context) {
		_ = g.vel.Get(vast.Entity{}) // want `system "returned" reads g.vel`
	}}
}

func (g *game) systems() []sched.System {
	return []sched.System{{Name: "listed", Reads: sched.Columns(g.pos), Run: func(*sched.Context) {
		_ = g.vel.Get(vast.Entity{}) // want `system "listed" reads g.vel`
	}}}
}

func add(s *sched.Schedule, system sched.System) { s.Add(system) }

func (g *game) wrongCalled(s *sched.Schedule) {
	s.Add(sched.System{Name: "called", Reads: sched.Columns(g.pos), Run: func(c *sched.Context) {
		func() { _ = g.vel.Get(vast.Entity{}) }() // want `system "called" reads g.vel`
		weigh := func() {
			_ = g.mass.Get(vast.Entity{}) // want `system "called" reads g.mass`
		}
		weigh()
	}})
	s.Add(sched.System{Name: "split", Run: func(c *sched.Context) {
		c.Split(2, func(c *sched.Context, i int) {
			_ = g.pos.Get(vast.Entity{}) // want `system "split" reads g.pos`
		})
		_ = sched.Reduce(c, g.moves, 64, func(c *sched.Context, b vast.Batch) int {
			_ = g.vel.Get(vast.Entity{}) // want `system "split" reads g.vel`
			return 1
		}, func(a, b int) int { return a + b })
		twice(func() {
			_ = g.mass.Get(vast.Entity{}) // want `system "split" reads g.mass`
		})
	}})
	s.Add(sched.System{Name: "walked", If: sched.Not(g.still), Run: func(c *sched.Context) {
		for range g.fast() {
		}
	}})
}

func twice(f func()) { f(); f() }

func (g *game) still(*sched.Context) bool {
	return g.pos.Get(vast.Entity{}).X == 0 // want `system "walked" reads g.pos`
}

func (g *game) fast() func(yield func(vast.Entity) bool) {
	return func(yield func(vast.Entity) bool) {
		for e := range g.moves.All() {
			if g.vel.Get(e).X > 100 && !yield(e) { // want `system "walked" reads g.vel`
				return
			}
		}
	}
}

func wrongResults(w *vast.World, s *sched.Schedule) {
	pos, vel := columns(w)
	s.Add(sched.System{Name: "results", Reads: sched.Columns(pos), Run: func(c *sched.Context) {
		_ = vel.Get(vast.Entity{}) // want `system "results" reads vel`
	}})
}

func columns(w *vast.World) (vast.Column[position], vast.Column[velocity]) {
	g := vast.Resource[game](w)
	return g.pos, g.vel
}

func (g *game) right(w *vast.World, s *sched.Schedule, tag vast.Tag, cols []vast.AnyColumn,
	any vast.Column[mass]) {
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
		//vastvet:ignore declared: no system writes it after the start
		_ = g.vel.Get(vast.Entity{})
	}})
}

func helper(m vast.Column[mass]) *mass { return m.Get(vast.Entity{}) }

// later may hold any column.
type later struct{ col vast.Column[position] }

func (l *later) set(col vast.Column[position]) { l.col = col }

// other holds columns that other code sets.
type other struct{ col vast.Column[position] }

func (l *later) share(s *sched.Schedule, o *other) {
	s.Add(sched.System{Name: "share", Reads: sched.Columns(o.col), Run: func(*sched.Context) { l.col.Get(vast.Entity{}) }})
}

func (l *later) add(s *sched.Schedule, col vast.Column[position]) {
	l.set(col)
	s.Add(sched.System{Name: "later", Reads: sched.Columns(col), Run: func(*sched.Context) { l.col.Get(vast.Entity{}) }})
}

// Systems that are completed before they are added.
func (g *game) rightCompleted(s *sched.Schedule, more bool) {
	assigned := sched.System{Name: "assigned", Run: g.readVel}
	assigned.Reads = sched.Columns(g.vel)
	s.Add(assigned)
	appended := sched.System{Name: "appended", Reads: sched.Columns(g.pos), Run: g.readVel}
	appended.Reads = append(appended.Reads, g.vel)
	s.Add(appended)
	alone := sched.System{Name: "alone", Run: g.readVel}
	alone.Exclusive = true
	s.Add(alone)
	s.Add(reading(sched.System{Name: "passed", Run: g.readVel}, g.vel))
	systems := []sched.System{{Name: "first", Run: g.readVel}, {Name: "second", Run: g.readVel}}
	for i := range systems {
		systems[i].Reads = sched.Columns(g.vel)
		s.Add(systems[i])
	}
}

func (g *game) rightCompletedElsewhere(s *sched.Schedule) {
	system := g.incomplete()
	system.Reads = sched.Columns(g.vel)
	s.Add(system)
	s.Add(g.Public())
	addReading(s, sched.System{Name: "completed", Run: g.readVel}, g.vel)
	again(s, sched.System{Name: "again", Run: g.readVel}, 3)
}

func (g *game) incomplete() sched.System { return sched.System{Name: "incomplete", Run: g.readVel} }

// Public returns a system that other packages may complete.
func (g *game) Public() sched.System { return sched.System{Name: "public", Run: g.readVel} }

func addReading(s *sched.Schedule, system sched.System, col vast.AnyColumn) {
	system.Reads = append(system.Reads, col)
	s.Add(system)
}

func again(s *sched.Schedule, system sched.System, n int) {
	if n > 0 {
		again(s, system, n-1)
	}
}

func (g *game) readVel(*sched.Context) { _ = g.vel.Get(vast.Entity{}) }

func reading(sys sched.System, cols ...vast.AnyColumn) sched.System {
	sys.Reads = cols
	return sys
}

// Velocity is an accessor.
func (g *game) Velocity() vast.Column[velocity] { return g.vel }

func (g *game) rightAccessors(w *vast.World, s *sched.Schedule) {
	s.Add(sched.System{Name: "accessor", Reads: sched.Columns(g.Velocity()), Run: func(*sched.Context) {
		_ = g.Velocity().Get(vast.Entity{})
	}})
	pos, vel := columns(w)
	s.Add(sched.System{Name: "twice", Reads: sched.Columns(pos, vel), Run: func(c *sched.Context) {
		pos, vel := columns(c.World())
		_, _ = pos.Get(vast.Entity{}), vel.Get(vast.Entity{})
	}})
}

func rightOneOfTwo(w *vast.World, s *sched.Schedule, fast bool) {
	slow, quick := vast.NewColumn[velocity](w), vast.NewColumn[velocity](w)
	vel := slow
	if fast {
		vel = quick
	}
	s.Add(sched.System{Name: "one of two", Reads: sched.Columns(slow, quick), Run: func(*sched.Context) { _ = vel.Get(vast.Entity{}) }})
}

// pair holds two columns in either order.
type pair struct{ from, to vast.Column[position] }

func (p *pair) run(*sched.Context) { p.to.Set(vast.Entity{}, *p.from.Get(vast.Entity{})) }

func (g *game) rightPairs(s *sched.Schedule) {
	there, back := &pair{g.pos, g.old}, &pair{g.old, g.pos}
	s.Add(sched.System{Name: "back", Reads: sched.Columns(there.to), Writes: sched.Columns(there.from), Run: back.run})
}

func rightParameters(s *sched.Schedule, a, b vast.Column[position]) {
	s.Add(sched.System{Name: "maybe one", Reads: sched.Columns(a), Run: func(*sched.Context) { _ = b.Get(vast.Entity{}) }})
}

// velocities is an alias, because a type that this module declares counts as a type of Vast.
type velocities = struct{ vast.Column[velocity] }

func rightEmbedded(s *sched.Schedule, v velocities) {
	s.Add(sched.System{Name: "embedded", Reads: sched.Columns(v.Column), Run: func(*sched.Context) { _ = v.Get(vast.Entity{}) }})
}

// store may hold any component.
type store[T any] struct{ col vast.Column[T] }

func (s *store[T]) get(e vast.Entity) *T { return s.col.Get(e) }

func rightGeneric(s *sched.Schedule, v *store[velocity]) {
	s.Add(sched.System{Name: "generic", Reads: sched.Columns(v.col), Run: func(*sched.Context) { _ = v.get(vast.Entity{}) }})
}

// Functions that do not run with the system that mentions them.
func (g *game) rightLater(s *sched.Schedule, on func(func(*sched.Context))) {
	var later []func()
	s.Add(sched.System{Name: "note", Run: func(c *sched.Context) {
		later = append(later, func() { g.vel.Set(vast.Entity{}, velocity{}) })
		on(g.readVel)
		keep(g.readVel)
	}})
	s.Add(sched.System{Name: "made", Run: g.made()})
}

var kept func(*sched.Context)

func keep(f func(*sched.Context)) { kept = f }

// made reads the column once, before the system runs.
func (g *game) made() func(*sched.Context) {
	v := *g.vel.Get(vast.Entity{})
	return func(*sched.Context) { _ = v }
}

// Config may be set by other packages.
type Config struct{ Reads []vast.AnyColumn }

func (g *game) rightLists(s *sched.Schedule, c *Config) {
	_ = Config{Reads: sched.Columns(g.pos)}
	s.Add(sched.System{Name: "configured", Reads: c.Reads, Run: g.readVel})
	list := []vast.AnyColumn{g.pos, nil}
	list[1] = g.vel
	s.Add(sched.System{Name: "set", Reads: list, Run: g.readVel})
	s.Add(sched.System{Name: "keyed", Reads: []vast.AnyColumn{0: g.vel}, Run: g.readVel})
}

// Shared may be set by other packages.
var Shared = sched.Columns()

func (g *game) rightShared(s *sched.Schedule) {
	s.Add(sched.System{Name: "shared", Reads: Shared, Run: g.readVel})
}

func (g *game) bySlots(s *sched.Schedule) {
	s.Add(sched.System{Name: "glide", Reads: sched.Columns(g.pos), Run: func(c *sched.Context) {
		for slot := range g.moves.Slots() {
			if g.pos.At(slot).X > 0 {
				g.vel.EditAt(slot).X++ // want `system "glide" writes g.vel and does not declare it`
			}
		}
	}})
}
