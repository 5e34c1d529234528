package vast

import (
	"fmt"
	"sync/atomic"

	"github.com/vastgo/vast/internal/invariants"
)

// Disabled is a [Tag] that switches entities off, or some of their components, without moving or removing
// them. Make a Disabled with [NewDisabled].
//
// A Disabled without columns switches entities off: queries pass over the entities that have the tag. A query
// that names the tag decides for itself: World.Query(tag) and [Query.Any] ask for it, [Query.Optional]
// matches entities with and without it, and [Query.Without] leaves it out. This holds for all uses of a
// query, such as loops, batches, Count and bulk operations, and for queries that were made before the tag.
// [World.Regroup], [World.Reset], [World.Delete], look-ups and relations ignore it.
//
// A Disabled with columns switches components off. While an entity has the tag, its components in these
// columns count as absent in World.Query, [Query.Any], [Query.Without], [Query.To], [Query.Where],
// [Query.Up], [Query.Changed] and shared.Column.Where. They keep their values: [Query.Optional],
// [Query.Exactly], Get, Has, At and TrySlice find them. So World.Query(tag).Optional(col) yields the
// components of col that the tag switches off. Several tags may switch off components of one column; a
// component counts as present if none of them does.
//
// Disable, Enable, DisableAt, EnableAt, DisableRun and EnableRun are not structural changes:
//
//   - A loop over a query may call them. A change of the entity at hand does not affect the loop. If another
//     entity ahead of the loop is disabled or enabled, the loop may yield it or not. A hook may call them,
//     too; a bulk operation still changes the entities that matched at its start.
//   - Several goroutines may call them at the same time for different entities, also while goroutines run
//     queries and call [Disabled.Has], [Disabled.HasAt] and [Disabled.In]. A system of package sched names
//     the tag in its Writes.
//   - They need no memory, so they cannot fail. They call no hooks, and a Disabled takes none. A [Tracker] of
//     the tag notes disabled entities as added, and enabled entities as removed.
//   - They do not count in [World.Changes], and add no components that [World.Require] names.
//
// The methods of Tag that add or remove the tag are structural changes, as for every Tag. An archetype may
// have the tag: its entities are born disabled.
//
// A world pays for a Disabled with 1 bit for each slot. A query pays a few instructions for each 64-slot word
// and each tag that it obeys. If whole blocks of 4,096 slots are disabled by AddAll, a query skips each
// block in one step. After Disable and Enable, queries may look at each 64-slot word of such a block, until
// AddAll, RemoveAll or [World.Trim] is called.
type Disabled struct{ Tag }

// NewDisabled registers a Disabled with the world. Without cols it switches entities off, and with cols their
// components in these columns. name appears in statistics and messages. NewDisabled is not a structural
// change, but must run alone. It panics if the world has a tag of this name, and if a column is of another
// world, is named twice or belongs to a Disabled. If it gets no memory for the bits of the world's slots, it
// panics with a [*vm.Error] and changes nothing.
func NewDisabled(w *World, name string, cols ...AnyColumn) Disabled {
	w.mustTakeColumns("NewDisabled")
	w.mustBeNewTag("NewDisabled", name)
	switched := w.columnsOf("NewDisabled", cols)
	for _, c := range switched {
		if c.switches {
			panic(fmt.Sprintf("vast: NewDisabled: column %s belongs to a Disabled itself: name columns with "+
				"components that the tag switches off", c.name))
		}
	}
	c, err := w.newColumn(len(w.columns), name, nil)
	if err == nil {
		err = c.grow(w.size)
	}
	if err != nil {
		panic(err)
	}
	w.columns = append(w.columns, c)
	c.switches, c.switched = true, switched
	for _, other := range switched {
		other.off = append(other.off, c)
	}
	w.disabled = append(w.disabled, c)
	w.epoch++
	w.all = w.allTerms().compile().q
	return Disabled{tagOf(c)}
}

// made returns the column of the tag.
func (d Disabled) made() *column {
	if d.c == nil {
		panic("vast: the zero Disabled belongs to no world: make one with NewDisabled")
	}
	return d.c
}

// Disable gives e the tag and reports whether e is alive. It panics if the world is closed.
func (d Disabled) Disable(e Entity) bool {
	c := d.made()
	if !c.world.Alive(e) {
		c.world.mustBeOpen("Disabled.Disable")
		return false
	}
	c.disable(e.slot/64, 1<<(e.slot%64))
	return true
}

// Enable takes the tag from e and reports whether e had it.
func (d Disabled) Enable(e Entity) bool {
	c := d.made()
	return d.Has(e) && c.enable(e.slot/64, 1<<(e.slot%64)) != 0
}

// DisableAt gives the tag to a slot's entity. It panics if the slot belongs to another world or holds no
// entity.
func (d Disabled) DisableAt(s Slot) {
	c := d.made()
	c.mustHold("DisableAt", s)
	c.disable(s.n/64, 1<<(s.n%64))
}

// EnableAt takes the tag from a slot's entity. It panics as [Disabled.DisableAt] does.
func (d Disabled) EnableAt(s Slot) {
	c := d.made()
	c.mustHold("EnableAt", s)
	c.enable(s.n/64, 1<<(s.n%64))
}

// DisableRun gives the tag to the entities of a run. It panics if the run belongs to another world or has a
// slot without an entity. Complexity: one step for each 64-slot word.
func (d Disabled) DisableRun(r Run) {
	c := d.made()
	c.mustHoldRun("DisableRun", r)
	for lo, end := r.start, r.start+r.n; lo < end; {
		word, mask, hi := wordOf(lo, end)
		c.disable(word, mask)
		lo = hi
	}
}

// EnableRun takes the tag from the entities of a run. It panics as [Disabled.DisableRun] does. Complexity:
// one step for each 64-slot word.
func (d Disabled) EnableRun(r Run) {
	c := d.made()
	c.mustHoldRun("EnableRun", r)
	for lo, end := r.start, r.start+r.n; lo < end; {
		word, mask, hi := wordOf(lo, end)
		c.enable(word, mask)
		lo = hi
	}
}

// Has reports whether e is alive and has the tag. Unlike [Tag.Has], it may run while other goroutines disable
// and enable entities. The same holds for HasAt and In.
func (d Disabled) Has(e Entity) bool {
	c := d.made()
	return e.slot < c.slots && *c.world.generation(e.slot) == e.generation && c.hasNow(e.slot)
}

// HasAt reports whether a slot's entity has the tag.
func (d Disabled) HasAt(s Slot) bool {
	c := d.made()
	return s.n < c.slots && c.hasNow(s.n)
}

// In reports whether the entities of a run have the tag, as [Tag.In] does.
func (d Disabled) In(r Run) bool {
	c := d.made()
	return r.n > 0 && r.start < c.slots && c.hasNow(r.start)
}

// hasNow reports whether the presence bit of a usable slot is set, also while goroutines change such bits.
func (c *column) hasNow(slot uint32) bool { return c.set.Load64(uint(slot/64))>>(slot%64)&1 != 0 }

// disable gives the tag of a Disabled to the entities in the slots of mask in a word. Several goroutines may
// call it at the same time for different entities.
func (c *column) disable(word uint32, mask uint64) {
	if invariants.Enabled {
		c.touch(true)
	}
	before := c.set.TurnOn(uint(word), mask)
	if before == 0 {
		// This does the work of World.addedTo, with atomic operations, because other goroutines may do it at
		// the same time.
		w := c.world
		o, bit := w.owner(word), uint64(1)<<(c.id%64)
		if atomic.LoadUint64(&o.extra)&bit == 0 && !w.bornWith(c, o.extent) {
			atomic.OrUint64(&o.extra, bit)
		}
	}
	if c.followed {
		if gained := mask &^ before; gained != 0 {
			c.gained(word, gained)
		}
	}
}

// enable takes the tag of a Disabled from the entities in the slots of mask in a word, and returns the slots
// that had it. The rules of disable hold.
func (c *column) enable(word uint32, mask uint64) (lost uint64) {
	if invariants.Enabled {
		c.touch(true)
	}
	lost = mask & c.set.TurnOff(uint(word), mask)
	if c.followed && lost != 0 {
		c.lost(word, lost)
	}
	return lost
}

// mustHold panics if a slot does not belong to the column's world or holds no entity. Otherwise an entity
// that is born there later would have the tag, and neither its archetype nor the owner of its word would show
// it.
func (c *column) mustHold(method string, s Slot) {
	if s.world != c.world || s.n >= c.slots || *c.world.liveWord(s.n / 64)>>(s.n%64)&1 == 0 {
		c.mustHoldRun(method, Run{s.n, 1, s.world})
	}
}

// mustHoldRun is mustHold for the slots of a run.
func (c *column) mustHoldRun(method string, r Run) {
	if r.n == 0 {
		return
	}
	w := c.world
	if r.world != w {
		panic(fmt.Sprintf("vast: Disabled.%s: tag %s belongs to world %q, the slot or run to another world: "+
			"take it from a walk of this world", method, c.name, w.options.Name))
	}
	w.mustBeOpen("Disabled." + method)
	for lo, end := r.start, r.start+r.n; lo < end; {
		word, mask, hi := wordOf(lo, end)
		if hi > c.slots || mask&^*w.liveWord(word) != 0 {
			panic(fmt.Sprintf("vast: Disabled.%s: a slot of [%d, %d) holds no entity: use slots and runs in "+
				"the loop that yields them", method, r.start, r.start+r.n))
		}
		lo = hi
	}
}

// growDisabled makes the slots below end usable in the tags of all Disabled, so that disabling an entity
// needs no memory.
func (w *World) growDisabled(end uint32) error {
	for _, c := range w.disabled {
		if err := c.grow(end); err != nil {
			return err
		}
	}
	return nil
}

// withDisabled returns the columns together with the tags of all Disabled, which grow with the world.
func (w *World) withDisabled(columns []*column) []*column {
	if len(w.disabled) == 0 {
		return columns
	}
	return append(append(make([]*column, 0, len(columns)+len(w.disabled)), columns...), w.disabled...)
}

// lift returns the query without the effects of Disabled tags.
func (q Query) lift(method string) Query {
	made := q.clone(method)
	made.lifted = true
	made.liftJoins()
	return made.compile()
}

// pinForHooks returns the query for a bulk operation that calls hooks before it makes its changes. A hook may
// disable and enable entities, so pinForHooks pins the query in a world with Disabled tags. It also pins a
// query with joins, because hooks may write the components of targets.
func (q Query) pinForHooks() Query {
	if len(q.q.world.disabled) == 0 && q.q.joins == nil || q.q.pinned != nil {
		return q
	}
	return q.pin()
}
