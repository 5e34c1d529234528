package soak

import (
	"math/rand/v2"

	"github.com/vastgo/vast"
)

// sweep changes some entities with AddAll, RemoveAll, EditRun or Exchange.
func (n *town) sweep(r *rand.Rand) {
	switch r.IntN(4) {
	case 0:
		v, few := place{r.Int64N(1000), 7}, n.few(r)
		must(n.at.AddAll(n.world.Query().Among(few), v) == len(few),
			"AddAll of places returned the wrong number")
		for _, e := range few {
			at := v
			n.people[e].at = &at
		}
	case 1:
		few, had := n.few(r), 0
		for _, e := range few {
			if n.people[e].goods != nil {
				n.people[e].goods = nil
				had++
			}
		}
		must(n.goods.RemoveAll(n.world.Query().Among(few)) == had,
			"RemoveAll of goods returned the wrong number")
	case 2:
		for run := range n.world.Query(n.at, n.ill).Runs() {
			places := n.at.EditRun(run)
			for i := range places {
				places[i].X++
				n.people[run.Entity(i)].at.X++
			}
		}
	case 3:
		few := n.few(r)
		must(n.world.Exchange(n.world.Query().Among(few), []vast.AnyColumn{n.ill},
			[]vast.AnyColumn{n.note, n.at}) == len(few), "Exchange returned the wrong number")
		for _, e := range few {
			p := n.people[e]
			p.ill, p.note, p.at = true, nil, nil
		}
	}
}

// few returns up to nine live entities, without duplicates.
func (n *town) few(r *rand.Rand) (es []vast.Entity) {
	chosen := map[vast.Entity]bool{}
	for range r.IntN(10) {
		if e := n.any(r); n.people[e] != nil && !chosen[e] {
			chosen[e] = true
			es = append(es, e)
		}
	}
	return es
}

// look compares a part of the world with the model, trims the world, or advances the tracker.
func (n *town) look(r *rand.Rand) {
	switch r.IntN(8) {
	case 0:
		n.tracker.Next()
	case 1:
		for e := range n.tracker.Added(n.at) {
			must(n.people[e] != nil && n.people[e].at != nil, "the tracker yields %v, which has no place", e)
		}
	case 2:
		n.compareOrder()
	case 3:
		mustSucceed(n.world.Trim())
	default:
		e := n.any(r)
		n.compareOne(e, n.people[e])
	}
}

func (n *town) compareOrder() {
	last, count := int64(-1), 0
	for s, p := range n.order.Ascending() {
		e := s.Entity()
		must(p.X >= last && *n.people[e].at == *p,
			"the order yields %v with the place %v after a place with X = %d", e, *p, last)
		last = p.X
		count++
	}
	must(count == n.at.Len(), "the order yields %d of %d entities", count, n.at.Len())
}

// compareOne compares all data of an entity with the model. p is nil if e is stale.
func (n *town) compareOne(e vast.Entity, p *person) {
	must(n.world.Alive(e) == (p != nil), "%v is alive: %v in the world, %v in the model", e, n.world.Alive(e),
		p != nil)
	if p == nil {
		p = &person{}
	}
	at, goods, note := n.at.Get(e), n.goods.Get(e), n.note.Get(e)
	must((at == nil) == (p.at == nil) && (at == nil || *at == *p.at),
		"the place of %v differs from the model", e)
	must((goods == nil) == (p.goods == nil) && (goods == nil || *goods == *p.goods),
		"the goods of %v differ from the model", e)
	must((note == nil) == (p.note == nil) && (note == nil || *note == *p.note),
		"the note of %v differs from the model", e)
	must(n.ill.Has(e) == p.ill, "the tag of %v differs from the model", e)
	boss, _ := n.boss.Target(e)
	must(boss == p.boss, "the boss of %v is %v, not %v", e, boss, p.boss)
	staff := 0
	for s := range n.boss.Sources(e) {
		must(p.staff[s], "%v is staff of %v in the world, but not in the model", s, e)
		staff++
	}
	must(staff == len(p.staff) && n.boss.CountSources(e) == staff,
		"%v has %d staff, CountSources returns %d, the model has %d", e, staff, n.boss.CountSources(e),
		len(p.staff))
	roads := 0
	for to, v := range n.roads.Targets(e) {
		w, ok := p.roads[to]
		must(ok && w == *v, "the road from %v to %v differs from the model", e, to)
		roads++
	}
	must(roads == len(p.roads) && n.roads.CountSources(e) == len(p.sources),
		"the roads of %v differ from the model", e)
	name, _ := n.names.Of(e)
	must(name == p.name, "the name of %v is %q, not %q", e, name, p.name)
	if name != "" {
		found, ok := n.names.Find(name)
		must(ok && found == e, "the name %q belongs to %v, not to %v", name, found, e)
	}
}

func (n *town) compare() {
	at, ill, both := 0, 0, 0
	for e, p := range n.people {
		n.compareOne(e, p)
		if p.at != nil {
			at++
		}
		if p.ill {
			ill++
		}
		if p.ill && p.at != nil {
			both++
		}
	}
	for _, e := range n.gone {
		n.compareOne(e, nil)
	}
	must(n.world.Len() == len(n.people), "the world has %d entities, not %d", n.world.Len(), len(n.people))
	must(n.at.Len() == at && n.ill.Len() == ill && n.places == at,
		"the world has %d places and %d tags, the model has %d and %d; the hooks counted %d places",
		n.at.Len(), n.ill.Len(), at, ill, n.places)
	w := n.world
	must(w.Query(n.at, n.ill).Count() == both && w.Query(n.at).Without(n.ill).Count() == at-both,
		"queries count the wrong number of entities")
	seen := 0
	for batch := range w.Query().Any(n.at, n.ill).Batches(100) {
		seen += batch.Len()
	}
	must(seen == at+ill-both, "batches have %d entities, not %d", seen, at+ill-both)
	n.compareOrder()
}
