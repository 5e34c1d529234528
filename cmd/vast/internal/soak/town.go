package soak

import (
	"math/rand/v2"
	"strconv"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/vm"
)

// maxDepth is the largest number of levels of staff below a person.
const maxDepth = 12

type place struct{ X, Y int64 }

type person struct {
	at      *place
	ill     bool
	goods   *[5]uint64
	note    *string
	boss    vast.Entity
	staff   map[vast.Entity]bool
	roads   map[vast.Entity]uint64 // the value of the person's road to each target
	sources map[vast.Entity]bool   // the entities whose roads lead to the person
	name    string
}

// town is a world and its model in plain Go maps. The world has columns of all storages and links of all
// kinds.
type town struct {
	*tally
	world    *vast.World
	at       vast.Column[place]
	ill      vast.Tag
	goods    vast.SparseColumn[[5]uint64]
	note     vast.HeapColumn[string]
	boss     vast.Relation
	roads    vast.Edges[uint64]
	names    *vast.Names
	tracker  *vast.Tracker
	commands *vast.Commands
	order    *vast.Order[place, int64]
	births   []*vast.Archetype
	born     [][2]bool // for each archetype of births: whether it has the column at, and the tag ill

	moved     func(old, now vast.Entity) // called for each entity that changes its slot
	people    map[vast.Entity]*person
	list      []vast.Entity // all people and some deleted people, in any order
	gone      []vast.Entity // some deleted people
	places    int           // the number of places according to OnAdd and OnRemove
	maxPeople int           // the largest number of people
	label     int           // the number of names that nextName has returned
}

// newTown makes a town for maxPeople people. The world has four times as many slots, because each archetype
// owns whole words of 64 slots.
func newTown(t *tally, o vast.Options, maxPeople int) *town {
	o.MaxEntities = 4 * maxPeople
	w := vast.NewWorld(o)
	n := &town{
		tally: t, world: w, at: vast.NewColumn[place](w),
		ill: vast.NewTag(w, "ill"), goods: vast.NewSparseColumn[[5]uint64](w),
		note: vast.NewHeapColumn[string](w), boss: vast.NewRelation(w, "boss",
			vast.RelationOptions{OnDelete: vast.Cascade}),
		roads:    vast.NewEdges[uint64](w, "roads", vast.EdgesOptions{Capacity: 4 * maxPeople}),
		names:    w.Names(),
		commands: vast.NewCommands(w, vast.CommandsOptions{Bytes: mebibyte}),
		people:   map[vast.Entity]*person{}, maxPeople: maxPeople,
	}
	n.births = []*vast.Archetype{w.Archetype(), w.Archetype(n.at), w.Archetype(n.at, n.ill)}
	n.born = [][2]bool{{}, {true, false}, {true, true}}
	n.tracker = vast.NewTracker(w, n.at, n.ill)
	n.order = vast.NewOrder(w.Query(n.at), n.at, func(p *place) int64 { return p.X })
	n.at.OnAdd(func(vast.Entity, *place) { n.places++ })
	n.at.OnRemove(func(vast.Entity, *place) { n.places-- })
	w.OnMove(func(old, now vast.Entity) { n.moved(old, now) })
	// A world allocates memory for a level of a hierarchy when an entity first has that depth. newTown uses
	// all levels, because an allocation in a later round would look like a leak.
	top := n.births[0].New()
	for boss, depth := top, 0; depth < maxDepth; depth++ {
		e := n.births[0].New()
		must(n.boss.Set(e, boss), "Set gives %v no boss", e)
		boss = e
	}
	w.Delete(top)
	return n
}

// passingTowns makes, uses and closes worlds with all kinds of pages. It resets about half of the worlds, and
// uses them a second time.
func passingTowns(t *tally) churn {
	return churn{name: "worlds", round: func(r *rand.Rand) {
		for range 2 {
			maxPeople := 64 << r.IntN(7)
			n := newTown(t, vast.Options{Name: "soak passing", Pages: vm.Pages(r.IntN(4))}, maxPeople)
			n.live(r, 1000)
			if r.IntN(2) == 0 {
				n.world.Reset()
				clear(n.people)
				n.list, n.gone = nil, nil
				n.live(r, 200)
			}
			n.close()
		}
	}}
}

// lastingTown uses one world that stays open.
func lastingTown(t *tally) churn {
	var n *town
	return churn{name: "lasting world", round: func(r *rand.Rand) {
		if n == nil {
			n = newTown(t, vast.Options{Name: "soak lasting"}, 1<<12)
		}
		n.live(r, 2000)
		mustSucceed(n.world.Trim())
	}, close: func() { n.close() }}
}

// live makes a number of steps, and then compares the whole world with the model.
func (n *town) live(r *rand.Rand, steps int) {
	for range steps {
		n.step(r)
	}
	n.operations.Add(int64(steps))
	n.compare()
}

func (n *town) close() {
	mustSucceed(n.commands.Close())
	mustSucceed(n.world.Close())
	mustSucceed(n.world.Close())
	must(n.world.Len() == 0, "a closed world has %d entities", n.world.Len())
}

// any returns a random entity: usually a live entity, sometimes a deleted entity or the zero Entity.
func (n *town) any(r *rand.Rand) vast.Entity {
	for len(n.list) > 0 && r.IntN(16) > 0 {
		i := r.IntN(len(n.list))
		if e := n.list[i]; n.people[e] != nil {
			return e
		}
		n.list[i] = n.list[len(n.list)-1]
		n.list = n.list[:len(n.list)-1]
	}
	if len(n.gone) == 0 {
		return vast.Entity{}
	}
	return n.gone[r.IntN(len(n.gone))]
}

func (n *town) arrive(e vast.Entity, born [2]bool) {
	must(n.people[e] == nil && n.world.Alive(e), "the new entity %v is in the model already, or not alive", e)
	p := &person{staff: map[vast.Entity]bool{}, roads: map[vast.Entity]uint64{},
		sources: map[vast.Entity]bool{}}
	if born[0] {
		p.at = &place{}
	}
	p.ill = born[1]
	n.people[e] = p
	n.list = append(n.list, e)
}

// leave removes e and all levels of staff below e from the model. The world has already deleted them.
func (n *town) leave(e vast.Entity) {
	p := n.people[e]
	delete(n.people, e)
	if b := n.people[p.boss]; b != nil {
		delete(b.staff, e)
	}
	for target := range p.roads {
		if q := n.people[target]; q != nil {
			delete(q.sources, e)
		}
	}
	for source := range p.sources {
		if q := n.people[source]; q != nil {
			delete(q.roads, e)
		}
	}
	for s := range p.staff {
		n.leave(s)
	}
	if len(n.gone) < 256 {
		n.gone = append(n.gone, e)
	} else {
		n.gone[len(n.people)%256] = e
	}
}

func (n *town) step(r *rand.Rand) {
	if len(n.people) > n.maxPeople*3/4 {
		n.thin()
	}
	e := n.any(r)
	p := n.people[e]
	switch r.IntN(16) {
	case 0, 1, 2:
		n.make(r)
	case 3:
		must(n.world.Delete(e) == (p != nil), "Delete of %v returned the wrong result", e)
		if p != nil {
			n.leave(e)
		}
	case 4, 5, 6:
		n.change(r, e, p)
	case 7, 8:
		n.link(r, e, p)
	case 9, 10:
		n.travel(r, e, p)
	case 11:
		n.call(r, e, p)
	case 12, 13:
		n.record(r)
	case 14:
		if r.IntN(16) == 0 {
			n.gather(r)
		} else {
			n.sweep(r)
		}
	default:
		n.look(r)
	}
}

// thin deletes all ill people. While more than half of maxPeople are left, it also deletes healthy people.
func (n *town) thin() {
	n.world.DeleteAll(n.world.Query(n.ill))
	for e, p := range n.people {
		if p.ill && n.people[e] != nil {
			n.leave(e)
		}
	}
	for e := range n.people {
		if len(n.people) <= n.maxPeople/2 {
			break
		}
		must(n.world.Delete(e), "Delete does not find %v", e)
		n.leave(e)
	}
	must(n.world.Len() == len(n.people), "%d entities are left, %d expected", n.world.Len(), len(n.people))
}

func (n *town) make(r *rand.Rand) {
	i := r.IntN(len(n.births))
	if r.IntN(4) > 0 {
		n.arrive(n.births[i].New(), n.born[i])
		return
	}
	count, made := r.IntN(n.maxPeople/16+1), 0
	mustSucceed(n.births[i].Grow(count))
	n.births[i].NewN(count, func(run vast.Run) {
		for k := range run.Len() {
			n.arrive(run.Entity(k), n.born[i])
			made++
		}
	})
	must(made == count, "%d of %d entities were made", made, count)
}

// nextName returns a name that no entity has had.
func (n *town) nextName() string {
	n.label++
	return "person " + strconv.Itoa(n.label)
}
