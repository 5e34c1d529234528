package soak

import (
	"math/rand/v2"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/generation"
)

const (
	// insertions is the number of elements that one call of the method use inserts. A slot is worn out after
	// generation.MaxCount insertions.
	insertions = 1 << 19
	// maxWorn is the number of worn-out slots after which the method round replaces a container.
	maxWorn = 60
)

// wearing wears out a container, slot by slot. The references R are handles or entities.
type wearing[R comparable] struct {
	insert func() R
	remove func(R) bool
	alive  func(R) bool
	slot   func(R) uint32
	first  R   // the first reference to the current slot
	last   R   // the last reference to the current slot
	count  int // insertions into the current slot
	worn   []R // the first and the last reference to each worn-out slot
}

// The method use inserts elements, and removes each element before the next insertion. The container takes
// its lowest free slot for each insertion: one slot until that slot is worn out, and then the next slot. The
// method checks that a slot is worn out after exactly generation.MaxCount insertions, and that the references
// to removed elements stay invalid.
func (w *wearing[R]) use(t *tally) {
	for range insertions {
		ref := w.insert()
		if w.count > 0 && w.slot(ref) != w.slot(w.first) {
			must(w.count == generation.MaxCount, "slot %d was worn out after %d insertions, not %d",
				w.slot(w.first), w.count, generation.MaxCount)
			w.worn = append(w.worn, w.first, w.last)
			w.count = 0
			t.wraps.Add(1)
		}
		if w.count == 0 {
			w.first = ref
		}
		must(w.count == 0 || ref != w.first && ref != w.last, "an insertion returned %v a second time", ref)
		must(w.remove(ref) && !w.alive(ref), "%v was not removed, or is alive after its removal", ref)
		w.last = ref
		w.count++
	}
	for _, ref := range append(w.worn, w.first, w.last) {
		must(!w.alive(ref) && !w.remove(ref), "the stale reference %v is valid again", ref)
	}
	t.operations.Add(2 * insertions)
}

// container is a container whose slots the method round wears out. When maxWorn slots are worn out, the
// method replaces the container by a new container.
type container[R comparable] struct {
	wearing[R]
	close func() error
	open  func() container[R]
}

func (c *container[R]) round(t *tally) {
	if c.use(t); len(c.worn) >= 2*maxWorn {
		mustSucceed(c.close())
		*c = c.open()
	}
}

// wornPools wears out the slots of a Pool and a Dense.
func wornPools(t *tally) churn {
	wear := func(in handled, close func() error,
		open func() container[bulk.Handle[place]]) container[bulk.Handle[place]] {
		return container[bulk.Handle[place]]{wearing[bulk.Handle[place]]{
			insert: func() bulk.Handle[place] { h, _ := in.Insert(place{}); return h },
			remove: in.Remove,
			alive:  func(h bulk.Handle[place]) bool { return in.Get(h) != nil },
			slot:   bulk.Handle[place].Slot,
		}, close, open}
	}
	var pool, dense func() container[bulk.Handle[place]]
	pool = func() container[bulk.Handle[place]] {
		p := mustReturn(bulk.NewPool[place](bulk.Options{Capacity: 128}))
		return wear(p, p.Close, pool)
	}
	dense = func() container[bulk.Handle[place]] {
		d := mustReturn(bulk.NewDense[place](bulk.Options{Capacity: 128}))
		return wear(d, d.Close, dense)
	}
	var both []container[bulk.Handle[place]]
	return churn{name: "worn pools", round: func(*rand.Rand) {
		if both == nil {
			both = []container[bulk.Handle[place]]{pool(), dense()}
		}
		for i := range both {
			both[i].round(t)
		}
	}, close: func() {
		for _, c := range both {
			mustSucceed(c.close())
		}
	}}
}

// wornWorlds wears out the slots of a world.
func wornWorlds(t *tally) churn {
	var c container[vast.Entity]
	return churn{name: "worn worlds", round: func(*rand.Rand) {
		if c.open == nil {
			c = openWorn()
		}
		c.round(t)
	}, close: func() { mustSucceed(c.close()) }}
}

func openWorn() container[vast.Entity] {
	w := vast.NewWorld(vast.Options{Name: "soak worn", MaxEntities: 128})
	births := w.Archetype(vast.NewColumn[place](w))
	return container[vast.Entity]{
		wearing[vast.Entity]{insert: births.New, remove: w.Delete, alive: w.Alive,
			slot: vast.Entity.Slot}, w.Close, openWorn,
	}
}
