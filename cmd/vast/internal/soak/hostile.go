package soak

import (
	"math/rand/v2"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/probe"
)

// hostileShare is the number of references from forge that a hostile churn looks up in each world or pool.
const hostileShare = 100_000

// forge returns a reference that usually refers to no element. The low 32 bits of a reference are the slot.
// The high 32 bits are the generation, whose high 8 bits are the mark of the container.
func forge(r *rand.Rand, valid, stale []uint64) uint64 {
	v := valid[r.IntN(len(valid))]
	switch r.IntN(10) {
	case 0:
		return r.Uint64()
	case 1:
		return 0
	case 2:
		return ^uint64(0)
	case 3:
		return v ^ 1<<r.IntN(64)
	case 4: // the next slot
		return v + 1
	case 5: // the previous slot
		return v - 1
	case 6: // the next generation
		return v + 1<<32
	case 7: // the previous generation
		return v - 1<<32
	case 8: // another mark
		return v ^ uint64(1+r.IntN(255))<<56
	default:
		return stale[r.IntN(len(stale))]
	}
}

// hostileEntities looks up forged and stale entities in a world. The world must find an entity only if the
// model has it. A forged entity may be valid by chance.
func hostileEntities(t *tally) churn {
	return churn{name: "hostile entities", round: func(r *rand.Rand) {
		n := newTown(t, vast.Options{Name: "soak hostile"}, 1<<10)
		n.live(r, 500)
		other := newTown(t, vast.Options{Name: "soak other"}, 64)
		other.live(r, 50)
		stale := []uint64{1}
		for _, e := range n.gone {
			stale = append(stale, e.ID())
		}
		for e := range other.people {
			stale = append(stale, e.ID())
		}
		valid := []uint64{1 << 32}
		for e := range n.people {
			valid = append(valid, e.ID())
		}
		for i := range hostileShare {
			e := vast.EntityOf(forge(r, valid, stale))
			if p := n.people[e]; p != nil {
				n.compareOne(e, p)
				continue
			}
			must(!n.world.Alive(e) && n.at.Get(e) == nil && n.goods.Get(e) == nil && n.note.Get(e) == nil &&
				!n.ill.Has(e), "the world finds %v, which is forged or stale", e)
			switch i % 8 {
			case 0:
				_, has := n.boss.Target(e)
				must(!has && n.boss.CountSources(e) == 0 && n.boss.Depth(e) == 0 && !n.boss.Remove(e),
					"%v has a boss", e)
			case 1:
				must(n.roads.CountSources(e) == 0 && n.roads.CountTargets(e) == 0 &&
					!n.roads.RemoveTargets(e), "%v has roads", e)
			case 2:
				must(n.at.Add(e, place{}) == nil && !n.at.Set(e, place{}) && !n.at.Remove(e) &&
					n.at.Edit(e) == nil, "%v has a place", e)
			case 3:
				_, named := n.names.Of(e)
				must(!named && !n.names.Remove(e) && !n.world.Delete(e), "%v has a name or can be deleted", e)
			case 4:
				must(n.world.Query(n.at).To(n.boss, e).Count() == 0, "%v has staff", e)
			case 5:
				n.world.Sprint(e)
				must(len(probe.ComponentsOf(n.world, e)) == 0, "%v has components", e)
			case 6:
				n.at.AddLater(n.commands, e, place{})
				n.boss.SetLater(n.commands, e, e)
				n.roads.AddLater(n.commands, e, e, 1)
				n.commands.Delete(e)
			case 7:
				must(n.world.Query().Among([]vast.Entity{e, e}).Count() == 0, "a query finds %v", e)
			}
			if i%1000 == 999 {
				mustReturn(n.world.Apply(n.commands))
			}
		}
		mustReturn(n.world.Apply(n.commands))
		t.hostile.Add(hostileShare)
		n.compare()
		n.close()
		other.close()
	}}
}

// hostileHandles looks up forged and stale handles in pools. A pool must find a handle only if the model has
// it. A forged handle may be valid by chance.
func hostileHandles(t *tally) churn {
	return churn{name: "hostile handles", round: func(r *rand.Rand) {
		o := bulk.Options{Capacity: 2000}
		pool, dense, shared := mustReturn(bulk.NewPool[place](o)), mustReturn(bulk.NewDense[place](o)),
			mustReturn(bulk.NewSharedPool[place](o))
		var before []uint64 // valid references of the previous container
		for _, in := range []handled{pool, dense, shared} {
			held := newHolder(in, 1000)
			held.use(r, 2000)
			valid, stale := []uint64{1 << 32}, append([]uint64{1}, before...)
			for _, h := range held.gone {
				stale = append(stale, h.ID())
			}
			for h := range held.model {
				valid = append(valid, h.ID())
			}
			before = valid
			for i := range hostileShare {
				v := forge(r, valid, stale)
				h := bulk.HandleOf[place](v)
				p := in.Get(h)
				if w, ok := held.model[h]; ok {
					must(p != nil && *p == w, "the pool does not find the element of %v", h)
					continue
				}
				must(p == nil, "the pool finds %v, which is forged or stale", h)
				if i%4 == 0 {
					must(!in.Remove(h), "the pool removes %v, which is forged or stale", h)
				}
			}
			held.use(r, 0)
			t.hostile.Add(hostileShare)
		}
		mustSucceed(pool.Close())
		mustSucceed(dense.Close())
		mustSucceed(shared.Close())
	}}
}
