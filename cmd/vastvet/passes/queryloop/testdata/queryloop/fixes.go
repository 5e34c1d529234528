package queryloop

import "github.com/vastgo/vast"

func (g *game) world() *vast.World { return g.w }

func (g *game) fixed(p vast.Column[hp]) {
	w, cs := g.w, vast.NewCommands(g.w, vast.CommandsOptions{})
	for range w.Query(p).All() {
		w.Archetype([]vast.AnyColumn{p}...).New() // want `New changes the structure`
		(g.ships).New()                           // want `New changes the structure`
	}
	for e := range g.alive.All() {
		w.Delete(e) // want `Delete changes the structure`
	}
	w.Apply(cs)
}

// The fix would leave a variable unused.
func (g *game) unused(q vast.Query, cs *vast.Commands) {
	w := g.world()
	for e := range q.All() {
		w.Delete(e) // want `Delete changes the structure`
		w.Delete(e) // want `Delete changes the structure`
	}
	g.w.Apply(cs)
}

func shadowed(w *vast.World, q vast.Query, cs *vast.Commands) {
	for e := range q.All() {
		cs := 3
		w.Delete(e) // want `Delete changes the structure`
		_ = cs
	}
	w.Apply(cs)
}

func ofAnother(w, other *vast.World, p vast.Column[hp]) {
	cs := vast.NewCommands(other, vast.CommandsOptions{})
	for e := range w.Query(p).All() {
		w.Delete(e) // want `Delete changes the structure`
	}
	other.Apply(cs)
}

func notApplied(w *vast.World, p vast.Column[hp], cs *vast.Commands) {
	w.Apply(cs)
	for e := range w.Query(p).All() {
		w.Delete(e) // want `Delete changes the structure`
	}
}
