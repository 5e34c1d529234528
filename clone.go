package vast

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/probing"
)

// Clone makes a copy of e and returns the copy. If e is stale, Clone returns the zero Entity.
//
// The copy has all components of e with their values, tags too. It has the same target as e in each
// [Relation], and edges to the same targets with the same values in all [Edges]. It has no sources, no edges
// lead to it, and it has no name, because names are unique. [World.Require] adds nothing: the copy has
// exactly the components that e has now. The copy is born in the archetype of these components.
//
// Values are copied as Go assigns them. In a [HeapColumn], the two entities therefore share the memory behind
// slices, maps and pointers. If e refers to itself, the copy refers to itself. This holds for links, for
// edges, and for an [Entity] in a field or an array of a component or of the value of an edge. References
// behind slices, maps and pointers stay unchanged. Package clone copies whole subtrees, and copies entities
// into other worlds.
//
// Callbacks of [Column.OnAdd] run when all components of the copy have their values. After these callbacks,
// Clone makes the links and edges, and the callbacks of relations run. If a callback panics, the copy exists
// and may lack links. Clone is a structural change. It makes room before it changes anything: if it gets no
// room, it panics with a [*vm.Error].
//
// Complexity: a few instructions for each column of the copy, a copy of each value, and a few writes for each
// link. If e lost a component, or entities in e's 64-slot word gained components or links after their birth,
// also one step for each column of the world.
func (w *World) Clone(e Entity) Entity {
	if !w.Alive(e) {
		w.mustBeOpen("World.Clone")
		return Entity{}
	}
	w.mustNotBeInCallback(opClone)
	o := w.owner(e.slot / 64)
	if a := w.extents[o.extent].archetype; o.extra == 0 && !a.observed && !a.refers && !invariants.Enabled {
		if n, ok := a.newLike(e); ok {
			return n
		}
	}
	a, linked := w.archetypeAt(e.slot)
	return w.cloneRuns(opClone, a, e, 1, linked, nil)
}

// newLike is Archetype.New for an archetype without hooks, trackers and groups, and without stores except
// those of package shared. It copies the components of e in place of zeros. newLike repeats the code of New,
// because New is too hot for one more test. If e lacks a component of the archetype, or the slot is worn,
// newLike makes no entity and returns false.
func (a *Archetype) newLike(e Entity) (n Entity, ok bool) {
	before := *a.vacancy
	if before == ^uint64(0) {
		if !a.isComplete(e.slot) {
			return n, false
		}
		a.seek(1)
		before = *a.vacancy
	}
	w := a.world
	word := uintptr(a.word) * 8
	slot := a.word*64 + trailingZeros(^before)
	if w.worn > 0 && generation.Exhausted(*w.generation(slot)) {
		return n, false
	}
	from, has := uintptr(e.slot/64)*8, uint64(1)<<(e.slot%64)
	bit := ^before & (before + 1) // the lowest clear bit
	summaryChanged := before == 0 || before|bit == ^uint64(0)
	births := a.births
	for i := range births {
		b := &births[i]
		if *(*uint64)(unsafe.Add(b.words, from))&has == 0 {
			a.clearNew(births[:i], bit)
			return n, false
		}
		p := (*uint64)(unsafe.Add(b.words, word))
		before := *p
		*p = before | bit
		summaryChanged = summaryChanged || before == 0 || before|bit == ^uint64(0)
		dst, src := unsafe.Add(b.base, uintptr(slot)*b.bytes), unsafe.Add(b.base, uintptr(e.slot)*b.bytes)
		switch b.bytes {
		case 0:
		case 8:
			*(*uint64)(dst) = *(*uint64)(src)
		case 16:
			*(*[2]uint64)(dst) = *(*[2]uint64)(src)
		default:
			copyBytes(dst, src, b.bytes)
		}
	}
	*a.vacancy = before | bit
	gen := w.generation(slot)
	next := generation.Next(*gen, w.mark)
	*gen = next
	if generation.Exhausted(next) {
		w.worn++
	}
	if summaryChanged {
		a.summarize(a.word)
	}
	a.at.used++
	w.changed(opClone, 1)
	return Entity{slot: slot, generation: next}, true
}

// isComplete reports whether the entity in a slot of the archetype has all components of the archetype.
func (a *Archetype) isComplete(slot uint32) bool {
	present := ^uint64(0)
	for i := range a.births {
		present &= *(*uint64)(unsafe.Add(a.births[i].words, uintptr(slot/64)*8))
	}
	return present>>(slot%64)&1 != 0
}

// clearNew clears the presence bits of a new entity in the current word.
//
//go:noinline
func (a *Archetype) clearNew(births []birth, bit uint64) {
	for _, b := range births {
		*(*uint64)(unsafe.Add(b.words, uintptr(a.word)*8)) &^= bit
	}
}

// CloneN makes n copies of e as [World.Clone] does, and calls fill for each run of copies. fill can change
// the values of the copies as slices, and may be nil. The callbacks of [Column.OnAdd] for a run come after
// fill. The links of all copies come last. If fill or a callback of a column panics, the copies of this run
// and of the earlier runs exist without links. If a callback of a relation panics, all copies exist, and may
// lack links. Otherwise the rules of [Archetype.NewN] hold for fill, for panics and for memory. If e is
// stale, CloneN makes no copies. CloneN handles 64 slots at a time.
func (w *World) CloneN(e Entity, n int, fill func(Run)) {
	w.mustBeOpen("World.CloneN")
	w.mustNotBeInCallback(opCloneN)
	if n < 0 {
		panic(fmt.Sprintf("vast: World.CloneN(%d): the number of entities cannot be negative", n))
	}
	if n > 0 && w.Alive(e) {
		a, linked := w.archetypeAt(e.slot)
		w.cloneRuns(opCloneN, a, e, n, linked, fill)
	}
}

var fillClones = callback{what: "World.CloneN was filling new entities"}

// cloneRuns makes n copies of e in archetype a, and returns the first copy. linked says whether e has links.
// If memory runs out, cloneRuns panics before it changes anything.
func (w *World) cloneRuns(op operation, a *Archetype, e Entity, n int, linked bool, fill func(Run)) (
	first Entity) {
	var k *copying
	var err error
	if linked {
		k = w.copyingOf(e, a, n)
		err = k.room()
	} else if err = a.roomForReferences(n); err == nil {
		err = a.ensure(n)
	}
	if err != nil {
		panic(err)
	}
	for left := n; left > 0; {
		lo := a.seek(left)
		hi := min(w.live.Next(uint(lo)), uint(a.at.end()), uint(lo)+uint(left))
		run := a.take(lo, uint32(hi), false)
		w.last = op
		if left == n {
			first = run.Entity(0)
		}
		left -= run.Len()
		a.repeat(run, e)
		if linked {
			for slot := run.start; slot < run.start+run.n; slot++ {
				k.copies = append(k.copies, w.entityIn(slot))
			}
		}
		if fill != nil {
			a.fill(run, fill, fillClones)
		} else if a.observed {
			a.tellBirths(run.start, run.start+run.n)
		}
	}
	if linked {
		k.copyLinks(op)
	}
	return first
}

// copyingOf returns a copying of one entity, whose copies are born in archetype a. It reuses the memory of
// the previous copying.
func (w *World) copyingOf(e Entity, a *Archetype, n int) *copying {
	if w.clones == nil {
		w.clones = &copying{from: w, to: w, originals: make([]Entity, 1), groups: []*copyGroup{{count: 1}}}
	}
	k := w.clones
	k.originals[0], k.groups[0].archetype, k.n, k.copies = e, a, n, k.copies[:0]
	k.links = k.links[:0]
	for _, l := range w.relations {
		if sources, _ := l.columns(); sources.hasAt(e.slot) {
			k.links = append(k.links, linkPair{l, l})
		}
	}
	return k
}

// archetypeAt returns the archetype with exactly the components of the entity in a slot, and whether the
// entity has a target or an edge to a target.
func (w *World) archetypeAt(slot uint32) (a *Archetype, linked bool) {
	o := w.owner(slot / 64)
	a = w.extents[o.extent].archetype
	if o.extra == 0 && a.isComplete(slot) {
		return a, false
	}
	return w.archetypeOfExtra(o, slot)
}

// archetypeOfExtra does the work of archetypeAt for an entity that may have gained or lost components after
// its birth.
func (w *World) archetypeOfExtra(o *owner, slot uint32) (a *Archetype, linked bool) {
	var buffer [32]*column
	columns := buffer[:0]
	for _, c := range w.columnsOfWord(o, buffer[:0]) {
		if c.hasAt(slot) {
			columns = append(columns, c)
		}
	}
	for _, l := range w.relations {
		sources, _ := l.columns()
		linked = linked || sources.hasAt(slot)
	}
	if a = w.archetypeOf(columns); a == nil {
		a = w.archetypeWith(slices.Clone(columns))
	}
	return a, linked
}

// repeat overwrites the components of a run of new entities by the components of e.
func (a *Archetype) repeat(run Run, e Entity) {
	lo, hi := run.start, run.start+run.n
	for _, c := range a.columns {
		switch {
		case !c.copiesTo(c):
			for slot := lo; slot < hi; slot++ {
				c.store.assign(slot, c.store.at(e.slot))
			}
		case c.bytes > 0:
			dst := c.elements(lo, hi)
			copy(dst, c.element(e.slot))
			repeatBytes(dst, c.bytes)
		}
	}
	if a.refers {
		a.renewSelf(lo, hi, e)
	}
}

// renewSelf replaces the references to e by references to the copy, in copies of e in the slots [lo, hi).
func (a *Archetype) renewSelf(lo, hi uint32, e Entity) {
	for _, c := range a.columns {
		r := referencesIn(c.typ)
		if r == nil {
			continue
		}
		if s, ok := c.store.(*sharedStore); ok {
			s.renewSelf(lo, hi, r, e)
			continue
		}
		for _, at := range r.at {
			for i := range at.n {
				offset := at.offset + uintptr(i)*bytesEntity
				if *(*Entity)(unsafe.Add(c.at(lo), offset)) != e { // the copies are equal
					continue
				}
				for slot := lo; slot < hi; slot++ {
					*(*Entity)(unsafe.Add(c.at(slot), offset)) = a.world.entityIn(slot)
				}
			}
		}
	}
}

// roomForReferences makes room for n values of each shared column of the archetype, if components of the
// archetype hold references. renewSelf changes such values.
func (a *Archetype) roomForReferences(n int) error {
	if !a.refers {
		return nil
	}
	return growShared([]*Archetype{a}, []int{n})
}

// copiesTo reports whether copying c's own bytes into the other column is enough to copy the components. In a
// shared column, these bytes are numbers of values, which only this column knows.
func (c *column) copiesTo(other *column) bool {
	if c == other && c.elsewhere() {
		return c.store.storage() == probing.StorageShared
	}
	return !c.elsewhere() && !other.elsewhere()
}

// assign overwrites the element of a slot that has the component by the value at v, which has the column's
// type.
func (c *column) assign(slot uint32, v unsafe.Pointer) {
	if c.elsewhere() {
		c.store.assign(slot, v)
		return
	}
	copyBytes(unsafe.Add(c.base, uintptr(slot)*uintptr(c.bytes)), v, uintptr(c.bytes))
}

// refers reports whether the components hold Entities, in fields and arrays.
func (c *column) refers() bool {
	r := referencesIn(c.typ)
	return r != nil && len(r.at) > 0
}

// copyBytes copies n bytes that hold no Go pointers. It copies up to 8 whole words without a call.
func copyBytes(dst, src unsafe.Pointer, n uintptr) {
	if n%8 == 0 && n <= 64 {
		for i := uintptr(0); i < n; i += 8 {
			*(*uint64)(unsafe.Add(dst, i)) = *(*uint64)(unsafe.Add(src, i))
		}
		return
	}
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
}

// repeatBytes repeats the first n bytes of b up to the end of b. It copies from a part of b that stays in the
// processor's cache.
func repeatBytes(b []byte, n int) {
	const most = 16 << 10
	for n < len(b) && n < most/2 {
		n += copy(b[n:], b[:n])
	}
	for at := n; at < len(b); {
		at += copy(b[at:], b[:n])
	}
}
