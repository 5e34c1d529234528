package vast

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/vm"
)

// Archetype is a set of columns that entities are born with. Entities of one archetype lie side by side in memory. An
// entity that gains or loses components later stays where it is, and queries find it all the same: the archetype is a
// place of birth, not a limit.
type Archetype struct {
	world   *World
	columns []*column
	extents []*extent // in the order of their words
	words   uint32    // owned
	word    uint32    // no word below it has a free slot
	free    int       // slots owned that an entity can be made in
	live    int       // entities
	widest  int       // bytes of the largest element
}

// Archetype returns the archetype with the given columns. The same set of columns gives the same archetype, in whatever
// order. It panics when a column belongs to another world or is named twice.
func (w *World) Archetype(cols ...AnyColumn) *Archetype {
	w.mustBeOpen("Archetype")
	columns := w.columnsOf("Archetype", cols)
	slices.SortFunc(columns, func(a, b *column) int { return int(a.id) - int(b.id) })
	var key []byte
	for _, c := range columns {
		key = binary.AppendUvarint(key, uint64(c.id))
	}
	if a := w.bySet[string(key)]; a != nil {
		return a
	}
	a := &Archetype{world: w, columns: columns, word: ^uint32(0)}
	for _, c := range columns {
		a.widest = max(a.widest, c.bytes)
	}
	if w.bySet == nil {
		w.bySet = make(map[string]*Archetype)
	}
	w.bySet[string(key)] = a
	w.archetypes = append(w.archetypes, a)
	return a
}

// Len returns the number of living entities that were born with this archetype.
func (a *Archetype) Len() int { return a.live }

// Grow makes the next n entities of this archetype unable to fail. It returns a [*vm.Error] wrapping vm.ErrCapacity,
// vm.ErrLimit or another of that package's; then nothing has changed.
func (a *Archetype) Grow(n int) error {
	a.world.mustBeOpen("Archetype.Grow")
	if n < 0 {
		panic(fmt.Sprintf("vast: Archetype.Grow(%d): the number of entities cannot be negative", n))
	}
	if n <= a.free {
		return nil
	}
	if n > a.world.options.MaxEntities {
		return &vm.Error{Op: "grow", Purpose: a.world.options.Name, Err: vm.ErrCapacity,
			Detail: fmt.Sprintf("%d entities are more than the %d slots of the world: set a larger Options.MaxEntities",
				n, a.world.options.MaxEntities)}
	}
	return a.world.draw(a, n-a.free)
}

// New makes an entity. Its components are zero. It panics with a [*vm.Error] when there is no room and none can be made;
// see [Archetype.Grow]. Complexity: a few instructions for each column.
func (a *Archetype) New() Entity {
	w := a.world
	if a.free == 0 {
		a.mustGrow(1)
	}
	word := uint(a.word)
	m := ^w.live.Word(word)
	slot := uint32(word*64) + trailingZeros(m)
	if m == 0 || generation.Exhausted(*w.generation(slot)) {
		slot = a.seek()
		word = uint(slot / 64)
	}
	gen := w.generation(slot)
	used := *gen
	next := generation.Next(used, w.tag)
	*gen = next
	if generation.Exhausted(next) {
		w.worn++
	}
	w.live.Set(uint(slot))
	for _, c := range a.columns {
		c.set.Set(uint(slot))
		c.count++
		if used != 0 {
			clear(c.element(slot))
		}
	}
	w.extents[w.owner(uint32(word)).extent].used++
	a.free--
	a.live++
	w.entities++
	w.changed(opNew, 1)
	return Entity{slot: slot, generation: next}
}

// seek returns the archetype's lowest slot that an entity can be made in. There is one: a.free is not zero.
func (a *Archetype) seek() uint32 {
	w := a.world
	at, found := slices.BinarySearchFunc(a.extents, a.word, byWord)
	if !found && at > 0 {
		at--
	}
	from := uint(a.word) * 64
	for ; ; at++ {
		x := a.extents[at]
		if x.used == x.words*64 {
			continue
		}
		slot := w.live.NextClear(max(from, uint(x.first())))
		for w.worn > 0 && slot < uint(x.end()) && generation.Exhausted(*w.generation(uint32(slot))) {
			slot = w.live.NextClear(slot + 1)
		}
		if slot < uint(x.end()) {
			a.word = uint32(slot) / 64
			return uint32(slot)
		}
	}
}

func (a *Archetype) mustGrow(n int) {
	a.world.mustBeOpen("Archetype.New")
	if err := a.Grow(n); err != nil {
		panic(err)
	}
}

// NewN makes n entities and calls fill for each run of them, so that their components, which are zero, can be written as
// slices; fill may be nil. The structure of the world must not be changed inside fill. It panics with a [*vm.Error] when
// there is no room for all, and then has made none; see [Archetype.Grow]. Complexity: whole 64-slot words at a time.
func (a *Archetype) NewN(n int, fill func(Run)) {
	w := a.world
	w.mustBeOpen("Archetype.NewN")
	if n < 0 {
		panic(fmt.Sprintf("vast: Archetype.NewN(%d): the number of entities cannot be negative", n))
	}
	if n > a.free {
		a.mustGrow(n)
	}
	for n > 0 {
		lo := a.seek()
		x := w.extents[w.owner(lo/64).extent]
		hi := min(w.live.Next(uint(lo)), uint(x.end()), uint(lo)+uint(n))
		run := a.take(x, lo, uint32(hi))
		n -= run.Len()
		if fill != nil {
			before := w.changes
			fill(run)
			if w.changes != before {
				w.changedWhile("Archetype.NewN was filling new entities")
			}
		}
	}
}

// take makes entities in the free slots [lo, hi) of an extent, up to the first that is worn out.
func (a *Archetype) take(x *extent, lo, hi uint32) Run {
	w := a.world
	gens := unsafe.Slice(w.generation(lo), hi-lo)
	var used uint32
	for i, g := range gens {
		if w.worn > 0 && generation.Exhausted(g) {
			hi = lo + uint32(i)
			gens = gens[:i]
			break
		}
		used |= g
		gens[i] = generation.Next(g, w.tag)
	}
	if generation.Exhausted(used | 1) { // some may have had one use left: look which
		for _, g := range gens {
			if generation.Exhausted(g) {
				w.worn++
			}
		}
	}
	n := hi - lo
	w.live.Fill(uint(lo), uint(hi))
	for _, c := range a.columns {
		c.set.Fill(uint(lo), uint(hi))
		c.count += int(n)
		if used != 0 {
			clear(c.elements(lo, hi))
		}
	}
	x.used += n
	a.free -= int(n)
	a.live += int(n)
	w.entities += int(n)
	w.changed(opNewN, int(n))
	return Run{start: lo, n: n, gens: w.gens}
}

// adviseHuge asks for huge pages where the archetype's extents around the one at index at are dense.
func (a *Archetype) adviseHuge(at int) {
	if vm.HugePageSize() == 0 {
		return
	}
	lo, hi := at, at
	for lo > 0 && a.extents[lo-1].end() == a.extents[lo].first() {
		lo--
	}
	for hi+1 < len(a.extents) && a.extents[hi].end() == a.extents[hi+1].first() {
		hi++
	}
	for _, c := range a.columns {
		c.dense(a.extents[lo].first(), a.extents[hi].end())
	}
}
