// Package queryloop changes the structure inside loops.
package queryloop

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

type hp struct{ Points int }

type game struct {
	w     *vast.World
	hp    vast.Column[hp]
	dead  vast.Tag
	ships *vast.Archetype
	alive vast.Query
}

func newGame(w *vast.World) *game {
	g := &game{w: w, hp: vast.NewColumn[hp](w), dead: vast.NewTag(w, "dead")}
	g.ships = w.Archetype(g.hp)
	g.alive = w.Query(g.hp).Without(g.dead)
	return g
}

func (g *game) wrong(childOf vast.Relation, target vast.Entity) {
	for e := range g.alive.All() {
		if g.hp.Get(e).Points == 0 {
			g.w.Delete(e) // want `Delete changes the structure during the loop over g.alive.All, so the next step of the loop panics: record it with Commands.Delete and apply it after the loop`
		}
		g.dead.Add(e)      // want `Add changes the structure during the loop over g.alive.All, so the next step of the loop panics: record it with AddLater`
		e := g.ships.New() // want `New changes the structure`
		_ = e
	}
	for run := range g.alive.Runs() {
		for i := range run.Len() {
			g.hp.Remove(run.Entity(i)) // want `Remove changes the structure during the loop over g.alive.Runs, so the next step of the loop panics: record it with RemoveLater`
			e := run.Entity(i)
			childOf.Set(e, target) // want `Set changes the structure`
		}
		g.ships.Pack(vast.MoveOptions{})         // want `Pack changes the structure`
		g.w.Regroup(g.alive, vast.MoveOptions{}) // want `Regroup changes the structure`
		g.w.DeleteAll(g.alive)                   // want `DeleteAll changes the structure during the loop over g.alive.Runs, so the next step of the loop panics: make the change after the loop`
	}
	for range g.w.Query(g.hp).Batches(64) {
		g.ships.NewN(5, nil) // want `NewN changes the structure`
	}
	for e := range childOf.Sources(target) {
		childOf.Remove(e) // want `Remove changes the structure during the loop over childOf.Sources,`
	}
	seq := g.alive.All()
	for range seq {
		g.w.Reset() // want `Reset changes the structure`
	}
	order := vast.NewOrder(g.alive, g.hp, func(p *hp) int { return p.Points })
	for s := range order.Ascending() {
		g.dead.Add(s.Entity()) // want `Add changes the structure`
	}
}

func wrongTracker(w *vast.World, p vast.Column[hp], tr *vast.Tracker) {
	for e := range tr.Added(p) {
		p.Remove(e) // want `Remove changes the structure during the loop over tr.Added,`
	}
	for e := range w.Query(p).All() {
		for f := range w.Query().All() {
			if e == f {
				continue
			}
			if w.Delete(f) { // want `Delete changes the structure`
				break
			}
		}
	}
}

func wrongWithCommands(w *vast.World, a *vast.Archetype, p, q vast.Column[hp], rel vast.Relation,
	cs *vast.Commands) {
	for e := range w.Query(p).Without(q).All() {
		w.Delete(e)          // want `Delete changes the structure`
		q.Add(e, hp{1})      // want `Add changes the structure`
		p.Remove(e)          // want `Remove changes the structure`
		rel.Set(e, e)        // want `Set changes the structure`
		_ = p.Remove(e)      // want `Remove changes the structure`
		w.Archetype(p).New() // want `New changes the structure`
	}
	_ = a
	w.Apply(cs)
}

func wrongSystem(w *vast.World, p vast.Column[hp]) sched.System {
	return sched.System{Name: "die", Run: func(c *sched.Context) {
		for e := range w.Query(p).All() {
			w.Delete(e) // want `Delete changes the structure`
		}
	}}
}

func right(w, other *vast.World, p vast.Column[hp], cs *vast.Commands) (gone vast.Entity) {
	for e := range w.Query(p).All() {
		cs.Delete(e)
		p.RemoveLater(cs, e)
		p.Set(e, hp{})
		p.Add(e, hp{}) // overwrites
		other.Archetype().New()
		defer w.Delete(e)
	}
	for e := range w.Query(p).All() {
		if p.Get(e).Points == 0 {
			w.Delete(e)
			break
		}
	}
	for e := range w.Query(p).All() {
		if w.Delete(e) {
			break
		}
	}
	for e := range w.Query(p).All() {
		if !p.Remove(e) {
			continue
		}
		return e
	}
	for range 3 {
		for e := range w.Query(p).All() {
			w.Delete(e)
			break
		}
	}
	var later []func()
	for e := range w.Query(p).All() {
		later = append(later, func() { w.Delete(e) })
	}
	for _, f := range later {
		f()
	}
	var list []vast.Entity
	for e := range w.Query(p).All() {
		list = append(list, e)
	}
	for _, e := range list {
		w.Delete(e)
	}
	for e := range w.Query(p).All() {
		w.Delete(e)
		panic("no next step")
	}
	return gone
}

func (g *game) right(other *game, q vast.Query, p vast.Column[hp]) {
	for e := range g.alive.All() {
		other.ships.New()
		other.hp.Get(e)
	}
	for e := range q.All() {
		p.Add(e, hp{}) // may overwrite
	}
	//vastvet:ignore queryloop: a test of the panic
	for e := range g.alive.All() {
		g.w.Delete(e)
	}
}

func rightNames(w *vast.World, roads vast.Edges[int]) {
	names := w.Names()
	for e := range w.Query(names, roads).All() {
		if ok, err := names.Set(e, "another"); !ok || err != nil { // replaces the name
			continue
		}
		roads.Add(e, e, 5) // the link may exist already
	}
}

func wrongNames(w *vast.World) {
	names := w.Names()
	for e := range w.Query().Without(names).All() {
		if _, err := names.Set(e, "x"); err != nil { // want `Set changes the structure during .*: record it with SetLater and apply it after the loop`
			continue
		}
	}
}
