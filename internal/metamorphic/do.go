package metamorphic

import (
	"math/rand/v2"
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// do performs an operation. ordered reports whether the library promises an order of the operation's hook
// calls that does not depend on slots.
func (p *player) do(op Op) (ordered bool) {
	e, c := p.entity(op.A), p.columns[op.B%2]
	switch op.Do {
	case New:
		if len(p.living) < maxLiving {
			p.make(op.B, 1)
		}
	case NewMany:
		p.make(op.B, min(int(op.A%100), max(0, maxLiving-len(p.living))))
	case Delete:
		p.see("Delete", p.world.Delete(e))
		return false // e and its descendants are deleted in the order of slots
	case DeleteAll:
		q := p.world.Query(p.tag)
		if op.B%2 == 1 {
			q = p.world.Query(p.columns[1].In()).Without(p.tag)
		}
		p.see("DeleteAll", p.world.DeleteAll(q))
		return false
	case Add:
		p.see("Add", c.Add(e, uint64(op.V)))
	case Set:
		p.see("Set", c.Set(e, uint64(op.V)))
	case Remove:
		p.see("Remove", c.Remove(e))
	case Tag:
		if op.V%3 == 0 {
			p.see("Remove", p.tag.Remove(e))
		} else {
			p.see("Add", p.tag.Add(e))
		}
	case Link:
		p.link(op, e, p.entity(op.B))
	case Unlink:
		p.see("Remove", p.parent.Remove(e), p.aim.Remove(e))
	case LinkAll:
		p.see("SetAll", p.aim.SetAll(p.query(op.A), p.entity(op.B)))
		return false
	case Connect:
		if p.roads.Len() < maxEntities/2 {
			p.see("Add", p.roads.Add(e, p.entity(op.B), uint64(op.V)) != nil)
		}
	case Cut:
		p.see("Remove", p.roads.Remove(e, p.entity(op.B)))
	case AddAll:
		p.see("AddAll", c.AddAll(p.query(op.A), uint64(op.V)))
		return false
	case SetAll:
		p.see("SetAll", c.SetAll(p.query(op.A), uint64(op.V)))
		return false
	case RemoveAll:
		p.see("RemoveAll", c.RemoveAll(p.query(op.A)))
		return false
	case Exchange:
		p.see("Exchange", p.world.Exchange(p.query(op.A), []vast.AnyColumn{p.tag}, []vast.AnyColumn{c.In()}))
		return false
	case Record:
		p.record(op)
		return false
	case Tick:
		if len(p.living) < maxLiving {
			for p.turn = range 1 + int(op.A%3) {
				if err := p.schedule.Tick(); err != nil {
					panic(err)
				}
				p.see("jobs", p.worked)
				p.worked = p.worked[:0]
				p.next()
			}
		}
		return false
	case Ask:
		p.ask(op)
	case Toggle:
		p.toggle(op, e)
	case Classify:
		p.classify(op, e)
		return false
	case Mark, Instantiate, Override, Apply, Revert:
		p.prefab(op, e)
		return false
	case Empty:
		p.empty()
		return false
	case Clone, CloneMany, CloneTree:
		return p.clone(op, e)
	}
	return true
}

// make makes n entities. Their keys contain the number of the operation.
func (p *player) make(archetype uint16, n int) {
	key := uint64(p.at+1) << 16
	a := p.archetypes[int(archetype)%len(p.archetypes)]
	if n == 1 {
		p.key.Set(a.New(), key)
		return
	}
	a.NewN(n, func(r vast.Run) {
		for i := range r.Len() {
			p.key.Set(r.Entity(i), key)
			key++
		}
		p.meddle()
	})
}

// link relates two entities. It makes no link that would close a cycle in the hierarchy.
func (p *player) link(op Op, e, target vast.Entity) {
	if op.V%2 == 1 {
		p.see("Set", p.aim.Set(e, target))
		return
	}
	if e == target || slices.Contains(slices.Collect(p.parent.Ancestors(target)), e) {
		return
	}
	p.see("Set", p.parent.Set(e, target))
}

// The queries of baseQuery that walk over links.
const (
	toParent = 4
	toAim    = 5
)

// baseQuery returns the query that a number selects, without the conditions that player.query adds.
func (p *player) baseQuery(n uint16) vast.Query {
	w, a := p.world, p.columns[0].In()
	switch kind := n % 9; kind {
	case toParent:
		return w.Query(p.key).To(p.parent, p.entity(n/9))
	case toAim:
		return w.Query(p.key).To(p.aim, p.entity(n/9))
	case 6:
		return w.Query(p.key, a).Exactly()
	case 7:
		return w.Query(p.parent.TargetColumn()).Without(p.tag)
	case 8:
		return w.Query(p.roads).Optional(a)
	default:
		if p.Grouping {
			return p.groups[kind].Query()
		}
		return p.plainQueries()[kind]
	}
}

// record records commands, mostly for living entities, and applies them.
func (p *player) record(op Op) {
	r := rand.New(rand.NewPCG(uint64(op.V), 0))
	made := 0
	for range 1 + op.A%16 {
		e, c, v := p.entity(uint16(r.IntN(1<<10))), p.columns[r.IntN(2)], r.Uint64N(1000)
		p.commands.At(r.IntN(3))
		switch r.IntN(8) {
		case 0:
			if len(p.living)+made < maxLiving {
				made++
				n := p.commands.New(p.archetypes[r.IntN(len(p.archetypes))])
				p.key.SetLater(p.commands, n, uint64(p.at+1)<<16|uint64(made))
				c.AddLater(p.commands, n, v)
				p.parent.SetLater(p.commands, n, e)
			}
		case 1:
			p.commands.Delete(e)
		case 2:
			c.RemoveLater(p.commands, e)
		case 3:
			c.SetLater(p.commands, e, v)
		case 4:
			p.tag.AddLater(p.commands, e)
		case 5:
			p.roads.AddLater(p.commands, e, p.entity(uint16(v)), v)
		default:
			c.AddLater(p.commands, e, v)
		}
	}
	applied, err := p.world.Apply(p.commands)
	if err != nil {
		panic(err)
	}
	p.see("applied", applied)
}

// ask evaluates a query in several ways. It also reads the links of entity B and the depths of all entities.
func (p *player) ask(op Op) {
	q := p.query(op.A)
	byLinks := op.A%9 == toParent || op.A%9 == toAim
	var keys []uint64
	last := -1
	for e := range q.All() {
		if !byLinks && int(e.Slot()) <= last {
			panic("metamorphic: the entities of a query do not ascend")
		}
		last = int(e.Slot())
		keys = append(keys, p.keyOf(e))
	}
	batched := []uint64{}
	for b := range q.Batches(1 + int(op.B%100)) {
		for e := range b.All() {
			batched = append(batched, p.keyOf(e))
		}
	}
	if op.A%9 != toParent || joins(op.A) { // else q yields sources in p.parent, whose order is promised
		slices.Sort(keys)
	}
	slices.Sort(batched)
	first, ok := q.First()
	p.see("query", keys, batched, q.Count(), ok, ok && slices.Contains(keys, p.keyOf(first)))
	p.askGroups(q)
	p.askLinks(q)
	depths := []uint64{}
	for r := range p.parent.InDepthOrder(p.world.Query(p.key)) {
		for i := range r.Len() {
			depths = append(depths, uint64(p.parent.Depth(r.Entity(i))))
		}
	}
	p.see("depths", depths)
	e := p.entity(op.B)
	p.see("above", p.keyOf(p.parent.Root(e)), p.parent.CountSources(e), p.roads.CountTargets(e))
	for d := range p.parent.Descendants(e) {
		p.see("below", p.keyOf(d))
	}
}

// empty empties the world as the configuration says. The order of the hook calls is not compared, because it
// differs between the ways to empty a world. The watch does not report the entities that leave, because a new
// world begins with a new watch.
func (p *player) empty() {
	switch p.Emptying {
	case ByReset:
		p.world.Reset()
	case ByReopening:
		p.world.DeleteAll(probe.All(p.world.Query()))
		p.close()
		told := p.told
		p.open()
		p.told = told
	case ByDeleteAll:
		p.world.DeleteAll(probe.All(p.world.Query()))
		if err := p.world.Trim(); err != nil {
			panic(err)
		}
	case OneByOne:
		for _, one := range p.living {
			p.world.Delete(one.e)
		}
	}
	if p.world.Len() != 0 {
		panic("metamorphic: the world is not empty")
	}
	if err := p.schedule.Reset(0); err != nil {
		panic(err)
	}
	p.prefabs.roots, p.heard = nil, 0
	p.watch.skip()
	clear(p.watch.keys)
	clear(p.watch.observed)
}
