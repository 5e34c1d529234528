package vast

import (
	"fmt"
	"iter"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// OnDelete says what happens to the sources of a target that is deleted.
type OnDelete uint8

const (
	// Orphan removes the link. The sources live on.
	Orphan OnDelete = iota
	// Cascade also deletes the sources, and in turn their sources in all relations with Cascade.
	Cascade
	// Refuse keeps a target alive if some of its sources survive the deletion: [World.Delete] returns false
	// and changes nothing, and [World.DeleteAll] deletes the other entities.
	Refuse
)

// RelationOptions say how a relation is made. The zero value works.
type RelationOptions struct {
	// OnDelete says what happens to the sources when their target is deleted. Default: Orphan.
	OnDelete OnDelete
	// Cyclic allows circles: an entity may be its own target, directly or through others, as in "follows" or
	// "aims at". Such a relation is not a hierarchy. It has no depths, and the methods of hierarchies, such
	// as [Relation.Ancestors], panic. Default: false; a link that would close a circle panics.
	Cyclic bool
}

// Relation links each source to one target, such as each part of a ship to the part that it is mounted on. It
// finds the target of a source, and the sources of a target in the order in which they were linked. A link
// ends when either entity is deleted, so a target is never stale. A Relation is a small value; copy it
// freely. Make a Relation with [NewRelation].
//
// A Relation is also the column of the entities that have a target: World.Query(childOf) matches them, and
// Query.Without(childOf) matches the others. [Relation.TargetColumn] is the column of the entities that are a
// target. Links are intrusive: linking and unlinking take a few writes and allocate nothing. In a hierarchy,
// linking or unlinking an entity with sources moves all its descendants to their new depth, one step for
// each.
//
// Links are part of the structure of the world; the rules of [World] and [Query.Runs] hold.
type Relation struct {
	r *relation
}

// none stands for no slot.
const none = ^uint32(0)

// link holds the data that a relation stores about a source, besides the source's target.
type link struct {
	next, prev uint32 // neighbours of the source in the list of the target's sources, or none
	level      uint32 // min(depth of the source, deep); 0 in a cyclic relation and in unused links
}

// family holds the data that a relation stores about a target.
type family struct {
	first, last uint32 // slots of the first and the last source; a target has at least one source
	count       uint32 // number of sources
}

// relation is a Relation's storage.
type relation struct {
	world    *World
	sources  *column // elements: each source's target
	targets  *column // elements: each target's family
	onDelete OnDelete
	cyclic   bool

	links    vm.Span // a link for each slot
	linkBase unsafe.Pointer
	linkRoom uint32        // number of slots whose links are committed; all sources lie in these slots
	levels   []*bitset.Set // levels[i] has the sources of level i+1

	detached []uint32 // slots of targets that lost their own target in the running operation
}

// NewRelation registers a relation with the world. name appears in statistics and messages. NewRelation
// reserves only addresses, and panics with a [*vm.Error] if no addresses are left.
func NewRelation(w *World, name string, o RelationOptions) Relation {
	w.mustTakeColumns("NewRelation")
	mustKnow("NewRelation", o.OnDelete)
	k := &relation{world: w, onDelete: o.OnDelete, cyclic: o.Cyclic}
	bytes := w.options.MaxEntities * int(unsafe.Sizeof(link{}))
	if err := w.prepare(); err != nil {
		panic(err)
	}
	r, err := w.memory.room(w.options, bytes+vm.PageSize())
	if err != nil {
		panic(err)
	}
	if k.links, err = r.Carve(bytes, 0); err != nil {
		panic(err)
	}
	k.linkBase = k.links.Base()
	k.sources, k.targets, err = w.registerLinked(name, reflect.TypeFor[Entity](), reflect.TypeFor[family]())
	if err != nil {
		panic(err)
	}
	k.sources.recorded = typeEntity
	k.sources.later, k.sources.adding, k.sources.removing = k.later, opRelate, opUnrelate
	k.sources.keep(sourceStore{k: k})
	k.targets.keep(inPlace{})
	w.relations = append(w.relations, k)
	return Relation{k}
}

func mustKnow(what string, o OnDelete) {
	if o > Refuse {
		panic(fmt.Sprintf("vast: %s: OnDelete is %d: use Orphan, Cascade or Refuse", what, o))
	}
}

func (r Relation) made() *relation {
	if r.r == nil {
		panic("vast: the zero Relation belongs to no world: make relations with NewRelation")
	}
	return r.r
}

func (r Relation) column() *column {
	if r.r == nil {
		return nil
	}
	return r.r.sources
}

// TargetColumn returns the column of the entities that are a target, for queries.
func (r Relation) TargetColumn() AnyColumn { return columnOfAnyType{r.made().targets} }

// Name returns the relation's name.
func (r Relation) Name() string { return r.made().sources.name }

// Len returns the number of entities that have a target. Complexity: as [Column.Len].
func (r Relation) Len() int { return r.made().sources.len() }

// Has reports whether source is alive and has a target.
func (r Relation) Has(source Entity) bool { return r.made().sources.has(source) }

// Target returns the target of source, and whether there is one.
func (r Relation) Target(source Entity) (target Entity, ok bool) {
	k := r.made()
	if k.sources.has(source) { // in this form Target is small enough for inlining
		return *k.target(source.slot), true
	}
	return
}

// CountSources returns the number of sources of target. Complexity: constant.
func (r Relation) CountSources(target Entity) (n int) {
	k := r.made()
	if k.targets.has(target) {
		n = int(k.family(target.slot).count)
	}
	return
}

// Sources yields the sources of target, in the order in which they were linked to it. If the structure of the
// world changes, the next step panics: collect the entities first, and change the structure afterwards.
func (r Relation) Sources(target Entity) iter.Seq[Entity] {
	return func(yield func(Entity) bool) {
		k := r.made()
		if k.targets.has(target) {
			k.sourcesFrom(k.family(target.slot).first, yield)
		}
	}
}

// SourcesAfter yields the sources that [Relation.Sources] yields after source, to walk over a long list in
// parts. It yields nothing if source has no target.
func (r Relation) SourcesAfter(source Entity) iter.Seq[Entity] {
	return func(yield func(Entity) bool) {
		k := r.made()
		if k.sources.has(source) {
			k.sourcesFrom(k.link(source.slot).next, yield)
		}
	}
}

// sourcesFrom yields the source in a slot and the sources after it.
func (k *relation) sourcesFrom(slot uint32, yield func(Entity) bool) {
	before := k.world.changes
	for ; slot != none; slot = k.link(slot).next {
		if !yield(k.entity(slot)) {
			return
		}
		k.world.unchanged(before, "the sources of a target were walked over")
	}
}

// Set makes target the target of source, in place of source's present target. It reports whether source and
// target are alive. Set panics if the link would close a circle in a hierarchy, and if the world is closed.
// It panics with a [*vm.Error] if it needs memory and gets none: see [Relation.GrowLevels]. Complexity:
// constant if source has no sources itself or the relation is cyclic; otherwise one step for each ancestor of
// target and for each descendant of source.
func (r Relation) Set(source, target Entity) bool {
	k := r.made()
	w := k.world
	if !w.Alive(source) || !w.Alive(target) {
		w.mustBeOpen("Relation.Set")
		return false
	}
	had := k.sources.has(source)
	if had && *k.target(source.slot) == target {
		return true
	}
	if invariants.Enabled {
		k.sources.touch(true) // before the first change, because touch may panic
	}
	w.mustNotBeInCallback(opRelate)
	if !k.cyclic && (source == target || k.first(source.slot) != none) {
		k.mustNotClose(source, target)
	}
	if err := k.room(source.slot, target.slot); err != nil {
		panic(err)
	}
	if had {
		k.unlink(source.slot)
		k.enter(source.slot, target)
		if k.sources.tracked {
			k.sources.wrote(source.slot)
		}
		w.changedAll(opRelate, 1)
		return true
	}
	k.enter(source.slot, target)
	k.sources.add(source)
	k.sources.tellAdded(source.slot)
	return true
}

// Remove removes the link of source and reports whether there was a link. Complexity: constant if source has
// no sources itself or the relation is cyclic; otherwise one step for each descendant of source.
func (r Relation) Remove(source Entity) bool { return r.made().sources.remove(source) }

// SetLater records that target becomes the target of source, as by [Relation.Set]. Both entities may be
// placeholders. World.Apply panics if the link would close a circle in a hierarchy.
func (r Relation) SetLater(cs *Commands, source, target Entity) {
	*(*Entity)(cs.recordFor(r.made().sources, commandSet, source, unsafe.Sizeof(target))) = target
}

// RemoveLater records that source loses its target, as by [Relation.Remove].
func (r Relation) RemoveLater(cs *Commands, source Entity) {
	cs.recordFor(r.made().sources, commandRemove, source, 0)
}

func (k *relation) later(cs *Commands, kind commandKind, source Entity, v unsafe.Pointer) bool {
	if kind == commandRemove {
		return k.sources.remove(source)
	}
	return Relation{k}.Set(source, cs.resolve(*(*Entity)(v)))
}

// GrowLevels makes room for links. Afterwards [Relation.Set] cannot run out of memory for entities that fit
// into the world's present memory, in hierarchies of at most the given depth. GrowLevels returns a
// [*vm.Error] as [Archetype.Grow] does.
func (r Relation) GrowLevels(levels int) error {
	k := r.made()
	w := k.world
	w.mustBeOpen("Relation.GrowLevels")
	if w.size == 0 {
		return nil
	}
	level := uint32(min(max(levels, 1), deep))
	if k.cyclic {
		level = 0
	}
	if k.reaches(w.size, level) && w.size <= k.targets.slots {
		return nil // without allocating, because programs call GrowLevels each tick
	}
	return k.try(func() error {
		if err := k.reach(w.size, level); err != nil {
			return err
		}
		return k.targets.grow(w.size)
	})
}

// OnAdd registers a callback for each entity that gains a target, as [Column.OnAdd] does. Changing the target
// does not count as a gain.
func (r Relation) OnAdd(f func(source, target Entity)) {
	k := r.made()
	k.sources.hookAdd(func(e Entity) { f(e, *k.target(e.slot)) })
}

// OnRemove registers a callback for each entity that loses its target, as [Column.OnRemove] does. f runs
// while the entity still has the target. The deletion of the target also counts as a loss.
func (r Relation) OnRemove(f func(source, target Entity)) {
	k := r.made()
	k.sources.hookRemove(func(e Entity) { f(e, *k.target(e.slot)) })
}

// unchanged panics if w.changes, the number of structural changes, is not equal to before.
func (w *World) unchanged(before uint64, while string) {
	if w.changes != before {
		w.changedWhile(while)
	}
}

// mustStandAlone panics if one of the columns belongs to a relation, to edges or to the world's Names. In
// these columns, an added component would be a link without a target, or a name that the index lacks.
func mustStandAlone(what string, columns []*column) {
	for _, c := range columns {
		if c.world.namedBy(c) {
			panic(fmt.Sprintf("vast: %s: %s is the column of the world's Names: make the entities first and "+
				"use Names.Set", what, c.name))
		}
		if c.linked != "" {
			panic(fmt.Sprintf("vast: %s: %s holds links, and a link needs a target: make the entities first "+
				"and use Set, SetAll, SetRun or Add of the relation or the edges", what, c.linked))
		}
	}
}
