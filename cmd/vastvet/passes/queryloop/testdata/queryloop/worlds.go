package queryloop

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

type pair struct{ src, dst *game }

func newPair(a, b *game) *pair { return &pair{src: a, dst: b} }

func (p *pair) swap() { p.src, p.dst = p.dst, p.src }

func choose(i int) *game { return nil }

func (g *game) fleet() *vast.Archetype { return g.ships }

type holder interface{ game() *game }

func rightElsewhere(gs []*game, byName map[string]*game, a, b holder, p *pair) {
	for range gs[0].alive.All() {
		gs[1].ships.New()
	}
	for range byName["a"].alive.All() {
		byName["b"].ships.New()
	}
	for range choose(0).alive.All() {
		choose(1).ships.New()
	}
	for range a.game().alive.All() {
		b.game().fleet().New()
	}
	for range gs[0].w.Query(gs[0].hp).All() {
		gs[1].hp.Remove(vast.Entity{})
	}
	src, dst := gs[0], gs[1]
	for range src.alive.All() {
		dst.ships.New()
	}
	q := p.src.alive
	p.swap()
	for range q.All() {
		p.src.ships.New()
	}
}

func rightByAlias(a, b *game) {
	q, ships := a.alive, b.ships
	for range q.All() {
		ships.New()
	}
	w, v := a.w, b.w
	for range w.Query().All() {
		v.Reset()
	}
}

func rightReplica(w, replica *vast.World, a, b *game) {
	for e := range w.Query().All() {
		replica.Delete(e)
	}
	for e := range a.alive.All() {
		b.w.Delete(e)
	}
}

func rightSwapped(front, back *vast.World) {
	q := front.Query()
	front, back = back, front
	for range q.All() {
		front.Archetype().New()
	}
}

func rightEarlier() {
	var prev vast.Query
	for i := range 3 {
		w := vast.NewWorld(vast.Options{})
		if i > 0 {
			for range prev.All() {
				w.Archetype().New()
			}
		}
		prev = w.Query()
	}
}

var last vast.Query

func rightLast(w *vast.World) {
	for range last.All() {
		w.Archetype().New()
	}
	last = w.Query()
}

var (
	theWorld = vast.NewWorld(vast.Options{})
	theShips *vast.Archetype
	theQuery vast.Query
)

func setUp() {
	theShips = theWorld.Archetype()
	theQuery = theWorld.Query()
}

func wrongVariables() {
	for range theQuery.All() {
		theShips.New()                      // want `New changes the structure`
		theShips.NewN(3, func(vast.Run) {}) // want `NewN changes the structure`
	}
}

type later struct {
	w     *vast.World
	ships *vast.Archetype
	alive vast.Query
}

func (l *later) start(w *vast.World) {
	l.w = w
	l.ships = l.w.Archetype()
	l.alive = l.w.Query()
}

func (l *later) wrong() {
	for range l.alive.Runs() {
		l.ships.New() // want `New changes the structure`
		w := l.w
		w.Reset() // want `Reset changes the structure`
	}
}

type squad struct {
	w     *vast.World
	ships *vast.Archetype
	alive vast.Query
}

func newSquad(w *vast.World) *squad {
	return &squad{w: w, ships: w.Archetype(), alive: w.Query()}
}

func (s *squad) wrong() {
	for range s.alive.All() {
		s.ships.New() // want `New changes the structure`
		s.w.Reset()   // want `Reset changes the structure`
	}
}

type nested struct{ inner *later }

func (n *nested) wrong() {
	in := n.inner
	for range in.alive.All() {
		n.inner.ships.New() // want `New changes the structure`
	}
}

func wrongLocals() {
	w := vast.NewWorld(vast.Options{})
	p := vast.NewColumn[hp](w)
	ships, q := w.Archetype(p), w.Query(p)
	g := squad{w: w, ships: ships, alive: q}
	for range q.Runs() {
		ships.New()   // want `New changes the structure`
		g.ships.New() // want `New changes the structure`
	}
	for range g.alive.All() {
		w.Archetype().New() // want `New changes the structure`
		g.w.Reset()         // want `Reset changes the structure`
	}
	for batch := range q.Batches(64) {
		for range batch.All() {
			break
		}
		ships.New() // want `New changes the structure`
	}
}

func wrongByCall(g *game, p vast.Column[hp]) {
	w := g.world()
	for range w.Query(p).All() {
		w.Archetype(p).New() // want `New changes the structure`
	}
}

func wrongContext(c *sched.Context, p vast.Column[hp]) {
	for range c.World().Query(p).All() {
		c.World().Reset() // want `Reset changes the structure`
	}
}
