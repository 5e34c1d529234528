package vast

import (
	"fmt"
	"iter"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// Slot is the place of an entity in the columns of a world. Iterators such as [Query.Slots] yield slots.
// [Column.At] finds the entity's component by the slot, and is faster than [Column.Get], which checks that
// the entity is alive:
//
//	for s := range moving.Slots() {
//		p, v := position.At(s), velocity.At(s)
//		p.X += v.X
//	}
//
// A Slot is valid until the structure of the world changes. Use a Slot only in the loop step that yields
// it. To refer to the entity later, keep the result of [Slot.Entity].
type Slot struct {
	n     uint32
	world *World
}

// Index returns the number of the slot. It is equal to [Entity.Slot] of the slot's entity.
func (s Slot) Index() int { return int(s.n) }

// Entity returns the entity in the slot. The zero Slot gives the zero Entity. Entity panics if the world no
// longer has the slot, for example because the world is closed.
func (s Slot) Entity() Entity {
	if s.world == nil {
		return Entity{}
	}
	if s.n >= s.world.size {
		panic(outdated{s})
	}
	return s.world.entityIn(s.n)
}

// Slots yields the slots of the matching entities, in the order of [Query.All]. It is the loop to try first,
// because its cost does not depend on the length of the runs. [Query.Runs] is faster if runs are long and the
// loop uses slices.
//
// The loop may change values. If it changes the structure of the world, the next step panics. Complexity: a
// few instructions for each entity, and one call for each 64-slot word with matches. With [Query.To], there
// is instead one call for each run, or for each 64 entities of a longer run.
func (q Query) Slots() iter.Seq[Slot] {
	return func(yield func(Slot) bool) {
		var k walk
		k.start(q.q)
		for s := range k.each("a query was running") {
			if !yield(s) {
				k.release()
				return
			}
		}
	}
}

// Slots yields the slots of the batch's entities as [Query.Slots] does.
func (b Batch) Slots() iter.Seq[Slot] {
	return func(yield func(Slot) bool) {
		if b.q == nil {
			return // the zero Batch is empty
		}
		var k walk
		b.start(&k, "Batch.Slots")
		for s := range k.each("a batch of a query was running") {
			if !yield(s) {
				return
			}
		}
	}
}

// Slots yields the slots of the run's entities.
func (r Run) Slots() iter.Seq[Slot] {
	return func(yield func(Slot) bool) {
		for slot := r.start; slot < r.start+r.n; slot++ {
			if !yield(Slot{slot, r.world}) {
				return
			}
		}
	}
}

// All yields the entities of the run, each with its index in the slices of the run.
func (r Run) All() iter.Seq2[int, Entity] {
	return func(yield func(int, Entity) bool) {
		for i := range r.n {
			if !yield(int(i), Slot{r.start + i, r.world}.Entity()) {
				return
			}
		}
	}
}

// At returns the component of a slot's entity. The slot must come from a query that requires the column. For
// other columns, use [Column.TryAt]. The address stays valid as [Column] describes. At panics if the slot
// lies beyond the column's memory. In builds with the tag invariants, At also panics if the entity lacks the
// component, or if the slot belongs to another world. Complexity: constant; one comparison.
func (c Column[T]) At(s Slot) *T {
	if s.n >= c.c.slots {
		panic(lacking{c.c, s.n, "At"})
	}
	if invariants.Enabled {
		c.c.mustHaveSlot(s, "At")
		c.c.touch(false)
	}
	return c.at(s.n)
}

// EditAt is [Column.At] for writing. Unlike At, EditAt marks the component as written, as [Column.Edit] does.
func (c Column[T]) EditAt(s Slot) *T {
	if s.n >= c.c.slots {
		panic(lacking{c.c, s.n, "EditAt"})
	}
	if invariants.Enabled {
		c.c.mustHaveSlot(s, "EditAt")
		c.c.touch(true)
	}
	if c.c.tracked {
		atomic.OrUint64((*uint64)(unsafe.Add(c.c.dirty, s.n/64*8)), 1<<(s.n%64))
	}
	return c.at(s.n)
}

// TryAt returns the component of a slot's entity, or nil if the entity lacks it. Complexity: constant; one
// comparison and one test of a bit.
func (c Column[T]) TryAt(s Slot) *T {
	if !c.c.hasAt(s.n) {
		return nil
	}
	if invariants.Enabled {
		c.c.mustHaveSlot(s, "TryAt")
		c.c.touch(false)
	}
	return c.at(s.n)
}

// At returns the component of a slot's entity, as [Column.At] does. It panics if the entity lacks the
// component.
func (k stored[T]) At(s Slot) *T {
	if !k.c.hasAt(s.n) {
		panic(lacking{k.c, s.n, "At"})
	}
	if invariants.Enabled {
		k.c.mustHaveSlot(s, "At")
		k.c.touch(false)
	}
	return k.at(s.n)
}

// EditAt is At for writing. Like [Column.EditAt], it marks the component as written.
func (k stored[T]) EditAt(s Slot) *T {
	if !k.c.hasAt(s.n) {
		panic(lacking{k.c, s.n, "EditAt"})
	}
	if invariants.Enabled {
		k.c.mustHaveSlot(s, "EditAt")
		k.c.touch(true)
	}
	if k.c.tracked {
		k.c.wrote(s.n)
	}
	return k.at(s.n)
}

// TryAt returns the component of a slot's entity, or nil if the entity lacks it.
func (k stored[T]) TryAt(s Slot) *T {
	if !k.c.hasAt(s.n) {
		return nil
	}
	return k.At(s)
}

// HasAt reports whether a slot's entity has the tag.
func (t Tag) HasAt(s Slot) bool { return t.c.hasAt(s.n) }

// At returns the target of a slot's entity, or the zero Entity if the entity has no target.
func (r Relation) At(s Slot) Entity {
	c := r.made().sources
	if !c.hasAt(s.n) {
		return Entity{}
	}
	return *Column[Entity]{base: c.base, c: c}.At(s)
}

func (c *column) hasAt(slot uint32) bool {
	return slot < c.slots && *(*uint64)(unsafe.Add(c.words, uintptr(slot/64)*8))>>(slot%64)&1 != 0
}

// mustHaveSlot panics if a slot belongs to another world than the column, or if its entity lacks the
// component. Only builds that check invariants call mustHaveSlot.
func (c *column) mustHaveSlot(s Slot, method string) {
	if s.world != c.world {
		panic(fmt.Sprintf("vast: Column[%s].%s: the slot belongs to another world than %q: take slots from "+
			"a walk of this world", c.name, method, c.world.options.Name))
	}
	if !c.hasAt(s.n) {
		panic(lacking{c, s.n, method})
	}
}

// outdated is the value with which [Slot.Entity] panics if the slot lies beyond the world's slots.
type outdated struct{ s Slot }

func (o outdated) Error() string {
	if o.s.world.closed {
		return closedMessage("Slot.Entity or Run.Entity", o.s.world)
	}
	return fmt.Sprintf("vast: slot %d is beyond the %d slots of world %q: use slots and runs in the loop "+
		"that yields them, and keep entities", o.s.n, o.s.world.size, o.s.world.options.Name)
}

// lacking is the value with which methods such as [Column.At] panic if the slot's entity lacks the component.
// The message is made in Error and not in At, so that At is small enough for inlining.
type lacking struct {
	c      *column
	slot   uint32
	method string
}

func (l lacking) Error() string {
	if l.c.world.closed {
		return closedMessage("Column."+l.method, l.c.world)
	}
	return fmt.Sprintf("vast: Column[%s].%s: the entity in slot %d lacks the component: take the slot from "+
		"a query that has this column, or use TryAt", l.c.name, l.method, l.slot)
}
