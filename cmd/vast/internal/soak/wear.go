package soak

import (
	"math/rand/v2"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/generation"
)

const (
	// uses is how often a slot is used in a round. After generation.MaxCount of them it is used up.
	uses = 1 << 19
	// mostWorn is how many slots of a container are used up before it is closed and another one made.
	mostWorn = 60
)

// wearing is the wearing out of a container, slot by slot. The references R are handles or entities.
type wearing[R comparable] struct {
	insert func() R
	remove func(R) bool
	alive  func(R) bool
	slot   func(R) uint32
	first  R // of the slot that is being worn out
	last   R
	count  int // its uses
	worn   []R // the first and the last reference to each slot that is worn out
}

// use uses the lowest free slot again and again. When that is another one than before, the one before must have been used as
// often as can be counted, and no reference to it be good.
func (w *wearing[R]) use(t *tally) {
	for range uses {
		ref := w.insert()
		if w.count > 0 && w.slot(ref) != w.slot(w.first) {
			must(w.count == generation.MaxCount, "slot %d was retired after %d uses", w.slot(w.first), w.count)
			w.worn = append(w.worn, w.first, w.last)
			w.count = 0
			t.wraps.Add(1)
		}
		if w.count == 0 {
			w.first = ref
		}
		must(w.count == 0 || ref != w.first && ref != w.last, "%v was good before", ref)
		must(w.remove(ref) && !w.alive(ref), "%v is there after its removal", ref)
		w.last = ref
		w.count++
	}
	for _, ref := range append(w.worn, w.first, w.last) {
		must(!w.alive(ref) && !w.remove(ref), "%v is good again", ref)
	}
	t.operations.Add(2 * uses)
}

// container is one that is worn out, and how to get another one: at once, so that a round ends with as many as the one before.
type container[R comparable] struct {
	wearing[R]
	close func() error
	open  func() container[R]
}

func (c *container[R]) round(t *tally) {
	if c.use(t); len(c.worn) >= 2*mostWorn {
		none(c.close())
		*c = c.open()
	}
}

// wornPools wear out the slots of a Pool and a Dense.
func wornPools(t *tally) churn {
	wear := func(in handled, close func() error, open func() container[bulk.Handle[place]]) container[bulk.Handle[place]] {
		return container[bulk.Handle[place]]{wearing[bulk.Handle[place]]{
			insert: func() bulk.Handle[place] { h, _ := in.Insert(place{}); return h },
			remove: in.Remove,
			alive:  func(h bulk.Handle[place]) bool { return in.Get(h) != nil },
			slot:   bulk.Handle[place].Slot,
		}, close, open}
	}
	var pool, dense func() container[bulk.Handle[place]]
	pool = func() container[bulk.Handle[place]] {
		p := some(bulk.NewPool[place](bulk.Options{Capacity: 128}))
		return wear(p, p.Close, pool)
	}
	dense = func() container[bulk.Handle[place]] {
		d := some(bulk.NewDense[place](bulk.Options{Capacity: 128}))
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
			none(c.close())
		}
	}}
}

// wornWorlds wear out the slots of a world.
func wornWorlds(t *tally) churn {
	var c container[vast.Entity]
	return churn{name: "worn worlds", round: func(*rand.Rand) {
		if c.open == nil {
			c = openWorn()
		}
		c.round(t)
	}, close: func() { none(c.close()) }}
}

func openWorn() container[vast.Entity] {
	w := vast.NewWorld(vast.Options{Name: "soak worn", MaxEntities: 128})
	births := w.Archetype(vast.NewColumn[place](w))
	return container[vast.Entity]{
		wearing[vast.Entity]{insert: births.New, remove: w.Delete, alive: w.Alive, slot: vast.Entity.Slot}, w.Close, openWorn,
	}
}
