package metamorphic

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/group"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/shared"
)

const (
	maxEntities = 1 << 12
	// Most operations make no entities while maxLiving or more entities live. maxLiving is far below
	// maxEntities, so that no operation fails.
	maxLiving = 300
)

// keyed is an entity and its key, which is the same in every world.
type keyed struct {
	key uint64
	e   vast.Entity
}

// player plays a stream on one world.
type player struct {
	Configuration
	world      *vast.World
	key        vast.Column[uint64]
	columns    [2]Column
	tag        vast.Tag
	parent     vast.Relation // hierarchy; deleting an entity deletes its parts
	aim        vast.Relation // relation that may have cycles
	roads      vast.Edges[uint64]
	off        vast.Disabled // switches entities off
	mute       vast.Disabled // switches components of the first column and links of aim off
	kind       shared.Column[uint64]
	groups     []*group.Group // of the queries of plainQueries; empty without Grouping
	prefabs    prefabs
	archetypes []*vast.Archetype
	commands   *vast.Commands
	schedule   *sched.Schedule
	watch      watch

	living  []keyed   // sorted by key
	heard   uint64    // sum of the squares of the keys in the events that the system "hear" has read
	worked  []string  // jobs that the current tick has refused or ended
	told    []string  // hook calls of the current operation
	at      int       // index of the current operation
	turn    int       // index of the tick within the current operation, which runs up to 3 ticks
	meddled int       // number of calls of meddle
	out     io.Writer // receives the visible results
}

// Play plays a stream on a world of a configuration. It returns a hash of the visible results after each
// operation. If an operation panics, Play returns the hashes of the operations before it and the panic value.
func Play(c Configuration, ops []Op) (sums []uint64, panicked any) {
	p := &player{Configuration: c}
	p.open()
	defer func() {
		if panicked = recover(); panicked == nil {
			p.close()
		}
	}()
	for i, op := range ops {
		h := fnv.New64a()
		p.at, p.out, p.told = i, h, p.told[:0]
		if p.Growing {
			p.grow()
			if err := p.commands.GrowBytes(i % 5000); err != nil {
				panic(err)
			}
		}
		ordered := p.do(op)
		p.find()
		if !ordered {
			slices.Sort(p.told)
		}
		p.see("told", p.told)
		p.next()
		if p.TrimEvery > 0 && i%p.TrimEvery == 0 {
			if err := p.world.Trim(); err != nil {
				panic(err)
			}
		}
		if p.RegroupEvery > 0 && i%p.RegroupEvery == 0 {
			p.regroup()
		}
		p.look()
		sums = append(sums, h.Sum64())
	}
	return sums, nil
}

func (p *player) open() {
	w := vast.NewWorld(vast.Options{Name: "metamorphic", MaxEntities: maxEntities, Pages: p.Pages})
	p.world, p.key, p.tag = w, vast.NewColumn[uint64](w).Named("key"), vast.NewTag(w, "tag")
	for i := range p.columns {
		p.columns[i] = NewColumn(w, p.Storage, []string{"a", "b"}[i])
		if p.Wrap != nil {
			p.columns[i] = p.Wrap(p.columns[i])
		}
	}
	p.parent = vast.NewRelation(w, "parent", vast.RelationOptions{OnDelete: vast.Cascade})
	p.aim = vast.NewRelation(w, "aim", vast.RelationOptions{Cyclic: true})
	p.roads = vast.NewEdges[uint64](w, "roads", vast.EdgesOptions{Capacity: maxEntities})
	a, b := p.columns[0].In(), p.columns[1].In()
	p.off, p.mute = vast.NewDisabled(w, "off"), vast.NewDisabled(w, "mute", a, p.aim)
	p.kind, p.prefabs = shared.New[uint64](w).Named("kind"), newPrefabs(w)
	p.archetypes = []*vast.Archetype{w.Archetype(p.key), w.Archetype(p.key, a),
		w.Archetype(p.key, a, b, p.tag)}
	p.commands = vast.NewCommands(w, vast.CommandsOptions{Bytes: 1 << 16})
	p.living = nil
	p.newWatch()
	p.newSchedule()
	p.newGroups()
	w.OnMove(p.moved)
	tell := func(what string) func(vast.Entity, uint64) {
		return func(e vast.Entity, v uint64) {
			p.told = append(p.told, fmt.Sprint(what, p.keyOf(e), v))
			p.meddle()
		}
	}
	p.columns[0].Hook(tell("+a"), tell("-a"))
	p.parent.OnAdd(func(source, target vast.Entity) { tell("+parent")(source, p.keyOf(target)) })
	p.parent.OnRemove(func(source, target vast.Entity) { tell("-parent")(source, p.keyOf(target)) })
}

func (p *player) close() {
	for _, c := range []io.Closer{p.schedule, &p.watch, p.world, p.commands} {
		if err := c.Close(); err != nil {
			panic(err)
		}
	}
}

func (p *player) see(what string, a ...any) { fmt.Fprintln(p.out, what, a) }

// keyOf returns the key of an entity, which is the same in every world. It returns 0 for an entity under
// construction, which has no key yet.
func (p *player) keyOf(e vast.Entity) uint64 {
	if k := p.key.Get(e); k != nil {
		return *k
	}
	return 0
}

// find updates the list of living entities, which leaves out the bases of prefabs.
func (p *player) find() {
	p.living = p.living[:0]
	last := -1
	for r := range probe.All(p.world.Query(p.key)).Without(p.prefabs.base).Runs() {
		if r.Start() <= last {
			panic("metamorphic: the runs of a query do not ascend")
		}
		last = r.Start() + r.Len() - 1
		for i, k := range p.key.Slice(r) {
			p.living = append(p.living, keyed{k, r.Entity(i)})
		}
	}
	slices.SortFunc(p.living, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
}

// entity returns the living entity that a number selects, or the zero entity if there is none.
func (p *player) entity(n uint16) vast.Entity {
	if len(p.living) == 0 {
		return vast.Entity{}
	}
	return p.living[int(n)%len(p.living)].e
}

// look writes the visible state of the world and of its entities to out.
func (p *player) look() {
	p.see("counts", p.world.Len(), p.heard, p.columns[0].Len(), p.columns[1].Len(), p.tag.Len(),
		p.off.Len(), p.mute.Len(), p.kind.Len(), p.parent.Len(), p.aim.Len(), p.roads.Len())
	for _, one := range p.living {
		e := one.e
		a, hasA := p.columns[0].Get(e)
		b, hasB := p.columns[1].Get(e)
		parent, _ := p.parent.Target(e)
		aim, _ := p.aim.Target(e)
		kind, hasKind := p.kind.Get(e)
		node, _ := p.prefabs.NodeOf(e)
		p.see("entity", one.key, a, hasA, b, hasB, p.tag.Has(e), p.off.Has(e), p.mute.Has(e),
			p.keyOf(parent), p.parent.Depth(e),
			p.keyOf(aim), p.roads.CountSources(e),
			kind, hasKind, p.keyOf(node), p.prefabs.Tag().Has(e), p.differs(e))
		for s := range p.parent.Sources(e) {
			p.see("part", p.keyOf(s))
		}
		var aiming, roads []string
		for s := range p.aim.Sources(e) { // LinkAll adds sources in the order of slots, which is not compared
			aiming = append(aiming, fmt.Sprint(p.keyOf(s)))
		}
		for to, v := range p.roads.Targets(e) {
			roads = append(roads, fmt.Sprint(p.keyOf(to), *v))
		}
		slices.Sort(aiming)
		slices.Sort(roads)
		p.see("others", aiming, roads)
	}
}
