package vast

import (
	"fmt"
	"iter"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/vm"
)

// OnDelete says what becomes of the sources of a target that is deleted.
type OnDelete uint8

const (
	// Orphan takes the link away; the sources live on.
	Orphan OnDelete = iota
	// Cascade deletes the sources too, and theirs, through all relations that say so.
	Cascade
	// Refuse keeps a target alive as long as it has sources that are not deleted by the same call: [World.Delete] returns
	// false and changes nothing, [World.DeleteAll] leaves out what cannot go.
	Refuse
)

// RelationOptions say how a relation is made. The zero value works.
type RelationOptions struct {
	// OnDelete is what becomes of the sources when their target is deleted. Default: Orphan.
	OnDelete OnDelete
	// Cyclic allows an entity to be its own target, be it by way of others, as in "follows" or "aims at". Such a relation
	// is no hierarchy: it has no depths, and [Relation.Ancestors] and the like panic. Default: false, and a link that
	// would close a circle panics.
	Cyclic bool
}

// Relation links entities to others: each source to one target, such as each part of a ship to what it is mounted on.
// Sources know their target and targets their sources, in the order in which they were related. A link ends when either
// is deleted, so a target is never stale. It is a small value; copy it freely. Make one with [NewRelation].
//
// A Relation is a column too, of those that have a target: World.Query(childOf) finds them, Query.Without(childOf) the
// others, and [Relation.TargetColumn] stands for those that are one. Links are intrusive: linking and unlinking are a few writes
// and allocate nothing. In a relation that is a hierarchy, linking or unlinking an entity that has sources of its own also
// moves all below it to their new depth: one step for each of them.
//
// Links change the structure of the world; the rules of [World] and [Query.Runs] hold.
type Relation struct {
	r *relation
}

// none is the slot of no entity.
const none = ^uint32(0)

// link is what a relation knows of a source besides its target.
type link struct {
	next, prev uint32 // its neighbours among the target's sources, or none
	level      uint32 // depth, at most deep; 0 where the slot holds no source, and in relations that allow circles
}

// family is what a relation knows of a target.
type family struct {
	first, last uint32 // of its sources; there is at least one
	count       uint32
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
	linkRoom uint32        // slots whose links are committed; beyond them no slot was ever a source
	levels   []*bitset.Set // the sources of depth 1, 2 and so on; the last of all possible ones holds all deeper ones too

	detached []uint32 // sources that lost their target in the running operation and have sources of their own
}

// NewRelation registers a relation with the world; name stands in statistics and messages. It takes addresses only, and
// panics with a [*vm.Error] where there are none left.
func NewRelation(w *World, name string, o RelationOptions) Relation {
	w.mustBeOpen("NewRelation")
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
	if k.sources, k.targets, err = w.registerLinked(name, reflect.TypeFor[Entity](), reflect.TypeFor[family]()); err != nil {
		panic(err)
	}
	k.sources.later = k.later
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

// made returns the relation's storage. It panics for the zero Relation.
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

// TargetColumn returns the column of the entities that are somebody's target, for queries.
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
	if k.sources.has(source) { // in this form it is small enough to be inlined
		return *k.target(source.slot), true
	}
	return
}

// Slice returns the targets of a run's entities, as [Column.Slice] returns components. The slice is for reading only: it is
// one half of the links.
func (r Relation) Slice(run Run) []Entity {
	c := r.made().sources
	return Column[Entity]{base: c.base, c: c}.Slice(run)
}

// CountSources returns how many entities have the given target. Complexity: constant.
func (r Relation) CountSources(target Entity) (n int) {
	k := r.made()
	if k.targets.has(target) {
		n = int(k.family(target.slot).count)
	}
	return
}

// Sources yields the entities that have the given target, in the order in which they were related to it. When the
// structure of the world was changed, the next step panics: collect the entities first.
func (r Relation) Sources(target Entity) iter.Seq[Entity] {
	return func(yield func(Entity) bool) {
		k := r.made()
		if k.targets.has(target) {
			k.sourcesFrom(k.family(target.slot).first, yield)
		}
	}
}

// SourcesAfter yields those that [Relation.Sources] yields after the given source, of the same target: so a long list is
// looked at a part at a time. It yields nothing for an entity that has no target, any more or at all.
func (r Relation) SourcesAfter(source Entity) iter.Seq[Entity] {
	return func(yield func(Entity) bool) {
		k := r.made()
		if k.sources.has(source) {
			k.sourcesFrom(k.link(source.slot).next, yield)
		}
	}
}

// sourcesFrom yields the source in a slot and those after it.
func (k *relation) sourcesFrom(slot uint32, yield func(Entity) bool) {
	before := k.world.changes
	for ; slot != none; slot = k.link(slot).next {
		if !yield(k.entity(slot)) {
			return
		}
		k.world.unchanged(before, "the sources of a target were walked over")
	}
}

// Set makes target the target of source, in place of the one that it has, and reports whether both are alive. It panics
// when that would close a circle, unless the relation allows it; when the world is closed; and with a [*vm.Error] when
// memory is needed and cannot be had, see [Relation.GrowLevels]. Complexity: constant; for a source that has sources itself, the
// number of target's ancestors and of those below source.
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

// Remove takes its target from source and reports whether it had one. Complexity: constant; for a source that has sources
// itself, the number of those below it.
func (r Relation) Remove(source Entity) bool { return r.made().sources.remove(source) }

// SetLater records that target becomes source's target, as by [Relation.Set]. Both may be placeholders. World.Apply
// panics at a link that would close a circle.
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

// GrowLevels makes every [Relation.Set] between entities that the world has room for now, in hierarchies as deep as levels says,
// unable to fail. It returns a [*vm.Error] as [Archetype.Grow] does.
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
		return nil // what is called each tick allocates nothing
	}
	return k.try(func() error {
		if err := k.reach(w.size, level); err != nil {
			return err
		}
		return k.targets.grow(w.size)
	})
}

// OnAdd registers f to be told of each entity that gains a target, as [Column.OnAdd] does. A change of the target is no
// gain.
func (r Relation) OnAdd(f func(source, target Entity)) {
	k := r.made()
	k.sources.hookAdd(func(e Entity) { f(e, *k.target(e.slot)) })
}

// OnRemove registers f to be told of each entity that loses its target, while it still has it, as [Column.OnRemove] does:
// also when the target is deleted and leaves it an orphan.
func (r Relation) OnRemove(f func(source, target Entity)) {
	k := r.made()
	k.sources.hookRemove(func(e Entity) { f(e, *k.target(e.slot)) })
}

// unchanged panics when the structure has changed.
func (w *World) unchanged(before uint64, while string) {
	if w.changes != before {
		w.changedWhile(while)
	}
}

// mustStandAlone panics when a component of one of the columns means nothing by itself: in a relation it
// would be a link without a target, in the world's Names a name that is not one.
func mustStandAlone(what string, columns []*column) {
	for _, c := range columns {
		if c.world.namedBy(c) {
			panic(fmt.Sprintf("vast: %s: %s is the column of the world's Names: make the entities first and use Names.Set", what,
				c.name))
		}
		if c.linked != "" {
			panic(fmt.Sprintf("vast: %s: %s is a relation, and a link needs a target: make the entities first and use its Set, "+
				"SetAll, SetRun or Add", what, c.linked))
		}
	}
}
