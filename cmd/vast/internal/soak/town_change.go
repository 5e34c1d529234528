package soak

import (
	"math/rand/v2"

	"github.com/vastgo/vast"
)

// change adds, writes or removes random components of e: the place, the tag, the goods or the note. p is nil
// if e is stale.
func (n *town) change(r *rand.Rand, e vast.Entity, p *person) {
	switch r.IntN(8) {
	case 0, 1:
		n.move(e, p, place{r.Int64N(1000), r.Int64()})
	case 2:
		must(n.at.Remove(e) == (p != nil && p.at != nil),
			"Remove of the place of %v returned the wrong result", e)
		if p != nil {
			p.at = nil
		}
	case 3:
		must(n.ill.Add(e) == (p != nil), "Add of a tag to %v returned the wrong result", e)
		if p != nil {
			p.ill = true
		}
	case 4:
		must(n.ill.Remove(e) == (p != nil && p.ill), "Remove of a tag of %v returned the wrong result", e)
		if p != nil {
			p.ill = false
		}
	case 5:
		if v := (&[5]uint64{r.Uint64(), 1, 2, 3, 4}); n.goods.Add(e, *v) != nil {
			must(p != nil, "Add of goods to the stale entity %v did not return nil", e)
			p.goods = v
		} else {
			must(p == nil, "Add of goods to the live entity %v returned nil", e)
		}
	case 6:
		if v := n.nextName(); n.note.Add(e, v) != nil {
			must(p != nil, "Add of a note to the stale entity %v did not return nil", e)
			p.note = &v
		} else {
			must(p == nil, "Add of a note to the live entity %v returned nil", e)
		}
	case 7:
		must(n.goods.Remove(e) == (p != nil && p.goods != nil),
			"Remove of goods of %v returned the wrong result", e)
		must(n.note.Remove(e) == (p != nil && p.note != nil),
			"Remove of a note of %v returned the wrong result", e)
		if p != nil {
			p.goods, p.note = nil, nil
		}
	}
}

// move gives e the place v with Add, Set or Edit.
func (n *town) move(e vast.Entity, p *person, v place) {
	if p == nil || p.at == nil {
		must(!n.at.Set(e, v) && n.at.Edit(e) == nil && n.at.Get(e) == nil,
			"Set, Edit or Get finds a place of %v, which has none", e)
		must((n.at.Add(e, v) != nil) == (p != nil), "Add of a place to %v returned the wrong result", e)
	} else if v.Y%2 == 0 {
		must(n.at.Set(e, v), "Set of the place of %v returned false", e)
	} else {
		*n.at.Edit(e) = v
	}
	if p != nil {
		p.at = &v
	}
}

// link gives e a boss, or removes the boss of e.
func (n *town) link(r *rand.Rand, e vast.Entity, p *person) {
	if r.IntN(4) == 0 {
		must(n.boss.Remove(e) == (p != nil && !p.boss.IsZero()),
			"Remove of the boss of %v returned the wrong result", e)
		if p != nil {
			n.dismiss(e, p)
		}
		return
	}
	b := n.any(r)
	q := n.people[b]
	depth := n.height(e)
	for above := b; !above.IsZero() && n.people[above] != nil; above = n.people[above].boss {
		if depth++; above == e || depth > maxDepth {
			return // the link would make a cycle, or a hierarchy deeper than maxDepth
		}
	}
	must(n.boss.Set(e, b) == (p != nil && q != nil),
		"Set of the boss of %v to %v returned the wrong result", e, b)
	if p != nil && q != nil {
		n.dismiss(e, p)
		p.boss = b
		q.staff[e] = true
	}
}

// height returns the number of levels of staff below e.
func (n *town) height(e vast.Entity) (levels int) {
	if p := n.people[e]; p != nil {
		for s := range p.staff {
			levels = max(levels, 1+n.height(s))
		}
	}
	return levels
}

func (n *town) dismiss(e vast.Entity, p *person) {
	if b := n.people[p.boss]; b != nil {
		delete(b.staff, e)
	}
	p.boss = vast.Entity{}
}

// travel adds or removes a road of e.
func (n *town) travel(r *rand.Rand, e vast.Entity, p *person) {
	to := n.any(r)
	q := n.people[to]
	if r.IntN(3) == 0 {
		had := false
		if p != nil {
			_, had = p.roads[to]
		}
		must(n.roads.Remove(e, to) == had, "Remove of a road from %v to %v returned the wrong result", e, to)
		if had {
			delete(p.roads, to)
			delete(q.sources, e)
		}
		return
	}
	if n.roads.Len() >= n.maxPeople*3 {
		return
	}
	v := r.Uint64()
	must((n.roads.Add(e, to, v) != nil) == (p != nil && q != nil),
		"Add of a road from %v to %v returned the wrong result", e, to)
	if p != nil && q != nil {
		p.roads[to] = v
		q.sources[e] = true
	}
}

// call gives e a name, or removes the name of e.
func (n *town) call(r *rand.Rand, e vast.Entity, p *person) {
	if r.IntN(3) == 0 {
		must(n.names.Remove(e) == (p != nil && p.name != ""),
			"Remove of the name of %v returned the wrong result", e)
		if p != nil {
			p.name = ""
		}
		return
	}
	name := n.nextName()
	alive, err := n.names.Set(e, name)
	mustSucceed(err)
	must(alive == (p != nil), "Set of the name of %v returned alive = %v, unlike the model", e, alive)
	if p != nil {
		p.name = name
	}
}

func (n *town) record(r *rand.Rand) {
	type making struct {
		e    vast.Entity
		kind int
	}
	var made []making
	v := place{r.Int64N(1000), r.Int64()}
	later := map[vast.Entity]bool{}
	for range r.IntN(20) {
		e := n.any(r)
		switch r.IntN(3) {
		case 0:
			n.at.AddLater(n.commands, e, v)
			later[e] = n.people[e] != nil
		case 1:
			n.ill.RemoveLater(n.commands, e)
			if p := n.people[e]; p != nil {
				p.ill = false
			}
		case 2:
			kind := r.IntN(len(n.births))
			made = append(made, making{n.commands.New(n.births[kind]), kind})
			must(!n.world.Alive(made[len(made)-1].e), "a placeholder is alive before Apply")
		}
	}
	mustReturn(n.world.Apply(n.commands))
	for _, m := range made {
		n.arrive(n.commands.Resolve(m.e), n.born[m.kind])
	}
	for e, living := range later {
		if p := n.people[e]; living && p != nil {
			at := v
			p.at = &at
		}
	}
}
