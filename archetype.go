package vast

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// Archetype is a set of columns that entities are born with. Entities of one archetype lie side by side in
// memory. An entity that later gains or loses components stays where it is, and queries still find it: the
// archetype determines where an entity is born, not which components it may have later.
type Archetype struct {
	world   *World
	columns []*column
	births  []birth
	bytes   int // size of all elements of one entity
	widest  int // size of the largest element, in bytes

	extents []*extent // sorted by word
	words   uint32    // number of owned words
	word    uint32    // lowest owned word that can have a free slot
	at      *extent   // the extent that contains word
	vacancy *uint64   // live bits of word; &noVacancy if the archetype owns no word or is observed

	promised int    // number of future births for which stores have reserved room
	observed bool   // whether a column of the archetype has hooks, a store, trackers or groups
	refers   bool   // whether components hold Entities in fields or arrays
	id       uint32 // index in World.archetypes
}

// birth has the fields of a column that the creation of an entity needs.
type birth struct {
	words unsafe.Pointer // presence words
	base  unsafe.Pointer // elements
	bytes uintptr        // size of one element
}

// noVacancy is a word without a free slot. With it, New takes the long path.
var noVacancy = ^uint64(0)

// Archetype returns the archetype with the given columns and the columns that these require; see
// [World.Require]. Equal sets of columns give the same archetype. Archetype panics if a column belongs to
// another world, to a relation, to edges or to the world's Names, and if a column is named twice.
func (w *World) Archetype(cols ...AnyColumn) *Archetype {
	w.mustBeOpen("Archetype")
	columns := w.columnsOf("Archetype", cols)
	mustStandAlone("Archetype", columns)
	for _, c := range columns {
		columns = append(columns, c.requires...)
	}
	slices.SortFunc(columns, func(a, b *column) int { return int(a.id) - int(b.id) })
	return w.archetypeWith(slices.Compact(columns))
}

// archetypeWith returns the archetype with the given columns, which must be sorted by their numbers.
func (w *World) archetypeWith(columns []*column) *Archetype {
	if a := w.archetypeOf(columns); a != nil {
		return a
	}
	a := &Archetype{world: w, columns: columns, births: make([]birth, 0, len(columns)), vacancy: &noVacancy,
		id: uint32(len(w.archetypes))}
	for _, c := range columns {
		a.births = append(a.births, birth{words: c.words, base: c.base, bytes: uintptr(c.bytes)})
		a.bytes += c.bytes
		a.widest = max(a.widest, c.bytes)
		a.observed = a.observed || c.observed
		a.refers = a.refers || c.refers()
	}
	w.archetypes = append(w.archetypes, a)
	if len(w.archetypes) > fewArchetypes {
		w.index()
	}
	return a
}

// fewArchetypes is the number of archetypes up to which comparing all of them is faster than a map.
const fewArchetypes = 8

// archetypeOf returns the archetype with the given columns, which must be sorted by their numbers. It returns
// nil if there is no such archetype.
func (w *World) archetypeOf(columns []*column) *Archetype {
	if w.bySet != nil {
		var buffer [64]byte
		return w.bySet[string(appendKey(buffer[:0], columns))]
	}
	for _, a := range w.archetypes {
		if slices.Equal(a.columns, columns) {
			return a
		}
	}
	return nil
}

// index adds the newest archetypes to the map bySet.
func (w *World) index() {
	if w.bySet == nil {
		w.bySet = make(map[string]*Archetype)
	}
	for _, a := range w.archetypes[len(w.bySet):] {
		w.bySet[string(appendKey(nil, a.columns))] = a
	}
}

func appendKey(key []byte, columns []*column) []byte {
	for _, c := range columns {
		key = binary.AppendUvarint(key, uint64(c.id))
	}
	return key
}

// Len returns the number of living entities of this archetype: an entity belongs to the archetype that it was
// born with, until [World.Regroup] moves it to another archetype. Complexity: linear in the number of
// extents.
func (a *Archetype) Len() int {
	n := 0
	for _, x := range a.extents {
		n += int(x.used - x.worn)
	}
	return n
}

// free returns how many entities can be made in the extents that the archetype owns.
func (a *Archetype) free() int {
	n := int(a.words) * 64
	for _, x := range a.extents {
		n -= int(x.used)
	}
	return n
}

// Grow makes the next n births of this archetype unable to fail. [Archetype.Pack], [World.Regroup] and the
// deletion of an entity of the archetype can end this guarantee, because an empty extent goes back to the
// world. On failure Grow changes nothing and returns a [*vm.Error] that wraps vm.ErrCapacity, vm.ErrLimit or
// another error of package vm.
func (a *Archetype) Grow(n int) error {
	a.world.mustBeOpen("Archetype.Grow")
	if n < 0 {
		panic(fmt.Sprintf("vast: Archetype.Grow(%d): the number of entities cannot be negative", n))
	}
	if err := a.ensure(n); err != nil {
		return err
	}
	if len(a.extents) == 1 {
		a.extents[0].spare = false // the room of the extent is promised now
	}
	if a.observed && n > a.promised {
		a.promise(n)
	}
	return nil
}

// ensure makes room for n births. A later operation can take the room. On failure nothing has changed.
func (a *Archetype) ensure(n int) error {
	free := a.free()
	if n <= free && (!a.observed || a.hasRoom(n)) {
		return nil
	}
	if n > a.world.options.MaxEntities {
		return &vm.Error{Op: "grow", Purpose: a.world.options.Name, Err: vm.ErrCapacity,
			Bytes: min(n, math.MaxInt/max(a.bytes, 1)) * a.bytes,
			Detail: fmt.Sprintf("%d entities are more than the %d slots of the world: set a larger "+
				"Options.MaxEntities", n, a.world.options.MaxEntities)}
	}
	if err := a.world.prepare(); err != nil {
		return err
	}
	return a.world.try(a.columns, func() error {
		if a.observed {
			if err := a.makeRoom(n); err != nil {
				return err
			}
		}
		if n <= free {
			return nil
		}
		return a.world.draw(a, n-free)
	})
}

// New makes an entity. Its components are zero. New panics with a [*vm.Error] if there is no room and the
// world cannot make room; see [Archetype.Grow]. Complexity: a few instructions for each column.
func (a *Archetype) New() Entity {
	before := *a.vacancy
	if before == ^uint64(0) {
		if a.observed {
			return a.newObserved()
		}
		a.seek(1)
		before = *a.vacancy
	}
	w := a.world
	word := uintptr(a.word)
	slot := a.word*64 + trailingZeros(^before)
	gen := w.generation(slot)
	prev := *gen
	if w.worn > 0 && generation.Exhausted(prev) {
		return a.newSlow()
	}
	next := generation.Next(prev, w.mark)
	*gen = next
	if generation.Exhausted(next) {
		w.worn++
	}
	if invariants.Enabled {
		for _, c := range a.columns {
			c.mustBeFree(slot, slot+1)
		}
	}
	// This is bitset.Set.Or, written out to save a call for each column.
	bit := ^before & (before + 1) // the lowest clear bit
	*a.vacancy = before | bit
	edge := before == 0 || before|bit == ^uint64(0)
	births := a.births
	for i := range births {
		b := &births[i]
		p := (*uint64)(unsafe.Add(b.words, word*8))
		before := *p
		*p = before | bit
		edge = edge || before == 0 || before|bit == ^uint64(0)
		if prev != 0 {
			zero(unsafe.Add(b.base, uintptr(slot)*b.bytes), b.bytes)
		}
	}
	if edge {
		a.summarize(a.word)
	}
	a.at.used++
	w.changed(opNew, 1)
	if invariants.Enabled {
		w.checkNowAndThen()
	}
	return Entity{slot: slot, generation: next}
}

// newObserved is New for an archetype whose field observed is true.
func (a *Archetype) newObserved() Entity {
	a.world.mustBeOpen("Archetype.New")
	a.world.mustNotBeInCallback(opNew)
	e := a.newWithoutHooks()
	a.tellBirths(e.slot, e.slot+1)
	return e
}

// newWithoutHooks is newObserved without the calls of hooks. On failure it panics and has changed nothing.
func (a *Archetype) newWithoutHooks() Entity {
	if a.at == nil || a.at.used == a.at.words*64 || !a.hasRoom(1) {
		if err := a.ensure(1); err != nil {
			panic(err)
		}
	}
	return a.newSlow()
}

// summarize updates the summaries of the live bits and of the archetype's columns after changes in a word.
//
//go:noinline
func (a *Archetype) summarize(word uint32) {
	a.world.live.Summarize(uint(word), a.world.live.Word(uint(word)))
	for _, c := range a.columns {
		c.set.Summarize(uint(word), c.set.Word(uint(word)))
	}
}

func (a *Archetype) newSlow() Entity {
	lo := a.seek(1)
	return a.take(lo, lo+1, true).Entity(0)
}

// zero clears n off-heap bytes. It clears up to 8 whole words without a call.
func zero(p unsafe.Pointer, n uintptr) {
	if n%8 == 0 && n <= 64 {
		for i := uintptr(0); i < n; i += 8 {
			*(*uint64)(unsafe.Add(p, i)) = 0
		}
		return
	}
	clear(unsafe.Slice((*byte)(p), n))
}

// seek returns the archetype's lowest free slot and makes the slot's word the current word. If there is no
// free slot, seek draws room for n entities from the world. If it gets none, it panics with a [*vm.Error].
func (a *Archetype) seek(n int) uint32 {
	w := a.world
	w.mustBeOpen("Archetype.New")
	for {
		at, found := slices.BinarySearchFunc(a.extents, a.word, byWord)
		if !found && at > 0 {
			at--
		}
		from := uint(a.word) * 64
		for ; at < len(a.extents); at++ {
			x := a.extents[at]
			if x.used == x.words*64 {
				continue
			}
			slot := w.live.NextClear(max(from, uint(x.first())))
			for w.worn > 0 && slot < uint(x.end()) && generation.Exhausted(*w.generation(uint32(slot))) {
				slot = w.live.NextClear(slot + 1)
			}
			if slot < uint(x.end()) {
				a.goTo(x, uint32(slot)/64)
				return uint32(slot)
			}
		}
		if err := w.draw(a, n); err != nil {
			panic(err)
		}
	}
}

// goTo sets the word in which the archetype first searches for free slots.
func (a *Archetype) goTo(x *extent, word uint32) {
	a.at, a.word = x, word
	a.vacancy = a.world.liveWord(word)
	if a.observed {
		a.vacancy = &noVacancy
	}
}

// NewN makes n entities with zero components and calls fill for each run of new entities. fill can write
// their components as slices, and may be nil. NewN panics if fill changes the structure of the world. To link
// the new entities to a target, collect the runs in fill, and call [Relation.SetRun] after NewN. If fill
// panics, the entities of this run and of the earlier runs exist, and NewN makes no more entities. If there
// is no room for n entities, NewN makes none and panics with a [*vm.Error]; see [Archetype.Grow]. NewN
// handles 64 slots at a time.
func (a *Archetype) NewN(n int, fill func(Run)) {
	w := a.world
	w.mustBeOpen("Archetype.NewN")
	w.mustNotBeInCallback(opNewN)
	if n < 0 {
		panic(fmt.Sprintf("vast: Archetype.NewN(%d): the number of entities cannot be negative", n))
	}
	if err := a.ensure(n); err != nil {
		panic(err)
	}
	for n > 0 {
		lo := a.seek(n)
		hi := min(w.live.Next(uint(lo)), uint(a.at.end()), uint(lo)+uint(n))
		run := a.take(lo, uint32(hi), true)
		n -= run.Len()
		if fill != nil {
			a.fill(run, fill, fillBirths)
		} else if a.observed {
			a.tellBirths(run.start, run.start+run.n)
		}
	}
}

// NewSlot makes an entity as [Archetype.New] does and returns its slot. A program writes the components by
// slot:
//
//	s := ships.NewSlot()
//	*position.At(s), *velocity.At(s) = start, Velocity{X: 1}
//	ship := s.Entity()
//
// The slot is valid until the structure of the world changes.
func (a *Archetype) NewSlot() Slot {
	return Slot{a.New().slot, a.world}
}

// NewEach makes n entities as [Archetype.NewN] does. It yields an index from 0 to n-1 and a slot for each
// entity. A program writes the components by slot:
//
//	for i, s := range ships.NewEach(1000) {
//		position.At(s).X = float64(i)
//	}
//
// All entities of a run exist before the first slot of the run is yielded. If the loop ends early, NewEach
// still makes all n entities. The loop's body must follow the rules of [Archetype.NewN] for fill.
func (a *Archetype) NewEach(n int) iter.Seq2[int, Slot] {
	return func(yield func(int, Slot) bool) {
		i, more := 0, true
		a.NewN(n, func(r Run) {
			for slot := r.start; more && slot < r.start+r.n; slot++ {
				more = yield(i, Slot{slot, r.world})
				i++
			}
		})
	}
}

// fill calls f for a run of new entities, and then the hooks of their births. calling describes f.
func (a *Archetype) fill(run Run, f func(Run), calling callback) {
	w := a.world
	w.calling = calling
	before := w.changes
	defer func() {
		w.calling = callback{}
		// The OnAdd hooks must run even if f panics, because the OnRemove hooks run when these entities are
		// deleted.
		if a.observed {
			a.tellBirths(run.start, run.start+run.n)
		}
	}()
	f(run)
	if w.changes != before {
		w.changedWhile(calling.String())
	}
}

// take makes entities in the free slots [lo, hi) of the extent a.at. It stops before the first slot that has
// no generation left. If zero is false, the caller overwrites all components.
func (a *Archetype) take(lo, hi uint32, zero bool) Run {
	w := a.world
	gens := unsafe.Slice(w.generation(lo), hi-lo)
	var used uint32 // bitwise OR of the old generations: 0 if no slot was used before
	for i, g := range gens {
		if w.worn > 0 && generation.Exhausted(g) {
			hi = lo + uint32(i)
			gens = gens[:i]
			break
		}
		used |= g
		gens[i] = generation.Next(g, w.mark)
	}
	if generation.Exhausted(used | 1) { // some slots may have reached their last generation
		for _, g := range gens {
			if generation.Exhausted(g) {
				w.worn++
			}
		}
	}
	n := hi - lo
	w.live.Fill(uint(lo), uint(hi))
	for _, c := range a.columns {
		if invariants.Enabled {
			c.mustBeFree(lo, hi)
		}
		c.set.Fill(uint(lo), uint(hi))
		if used != 0 && zero {
			clear(c.elements(lo, hi))
		}
	}
	a.at.used += n
	w.changed(opNewN, int(n))
	if a.observed {
		a.putBirths(lo, hi)
	}
	if invariants.Enabled {
		w.checkNowAndThen()
	}
	return Run{start: lo, n: n, world: w}
}

// adviseHuge asks for huge pages for a.extents[i], together with the extents that adjoin it without a gap.
func (a *Archetype) adviseHuge(i int) {
	if vm.HugePageSize() == 0 {
		return
	}
	lo, hi := i, i
	for lo > 0 && a.extents[lo-1].end() == a.extents[lo].first() {
		lo--
	}
	for hi+1 < len(a.extents) && a.extents[hi].end() == a.extents[hi+1].first() {
		hi++
	}
	for _, c := range a.columns {
		c.adviseHuge(a.extents[lo].first(), a.extents[hi].end())
	}
}
