package vast

import (
	"cmp"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/state"
)

// restored is a restoration of a world. The world has no entities before Settle.
type restored struct {
	w      *World
	s      *state.World
	arrays []state.Array
}

// Restore prepares a new world for a state and returns the arrays to fill. Call Describe for the world first.
// The arrays of bits and of floors lie on the Go heap until Settle. Restore returns an error if the world was
// used before, if it has no room, or if the state contradicts itself. After an error with a nil first result,
// the world is unchanged. After any other error, and after an error of Settle or Finish, call Abandon and
// close the world.
func (states) Restore(w *World, s *state.World) (any, []state.Array, error) {
	if err := w.mustBeUnused(); err != nil {
		return nil, nil, err
	}
	if err := w.checkState(s); err != nil {
		return nil, nil, err
	}
	r := &restored{w: w, s: s}
	if err := w.prepare(); err != nil {
		return r, nil, err
	}
	// A restoration ends the promises of Grow: the restored components take the room.
	for _, c := range w.columns {
		c.endPromises(c.promised)
	}
	w.setMark(generation.Mark(s.Mark))
	w.alignment = s.Alignment
	if err := w.restoreExtents(s, w.restoreArchetypes(s)); err != nil {
		return r, nil, err
	}
	r.arrays = append(r.arrays, state.ArrayOf(state.Floors, -1, 0, make([]uint32, s.Used)),
		w.arrayOfGenerations(s), bitsFor(state.Live, -1, 0, s.Words))
	for i := range s.Columns {
		if err := r.column(i); err != nil {
			return r, nil, err
		}
	}
	w.changed(opRestore, 1)
	return r, r.arrays, nil
}

// bitsFor returns an array of bits on the Go heap.
func bitsFor(kind string, column, number, words int) state.Array {
	return state.ArrayOf(kind, column, number, make([]uint64, words))
}

// column makes room for column i of the state and appends the column's arrays to r.arrays.
func (r *restored) column(i int) error {
	s := &r.s.Columns[i]
	c := columnIn(s)
	if c == nil {
		return nil
	}
	if err := c.grow(uint32(s.Slots)); err != nil {
		return err
	}
	if k := c.relation(); k != nil {
		if err := k.reach(uint32(s.Slots), 0); err != nil {
			return err
		}
	}
	if pool := c.pool(); (pool == nil) != (s.Pool == nil) {
		return fmt.Errorf("column %s has a pool in the file or in the program, not in both", c.name)
	} else if pool != nil {
		if err := pool.Reserve(*s.Pool); err != nil {
			return err
		}
	}
	s.Notes = s.Notes[:min(len(s.Notes), len(c.marks))]
	for n, end := range s.Notes {
		if end < 0 || end%64 != 0 || end > r.s.Used*64 {
			return fmt.Errorf("a tracker of column %s has notes up to slot %d: the end must be a "+
				"multiple of 64, and at most %d", c.name, end, r.s.Used*64)
		}
		if err := c.marks[n].grow(end); err != nil {
			return err
		}
	}
	for _, a := range c.arrays(i, s) {
		if a.Bits {
			a = bitsFor(a.Kind, a.Column, a.Number, a.Len)
		}
		r.arrays = append(r.arrays, a)
	}
	return nil
}

// mustBeUnused returns an error if the world has or had entities, or has room for some.
func (w *World) mustBeUnused() error {
	if w.live != nil && w.used() > 0 {
		return fmt.Errorf("world %q has or had entities, or room for some: load into a new world, before "+
			"the first entity and before Archetype.Grow", w.options.Name)
	}
	return nil
}

// checkState returns an error if the mark, the sizes, the archetypes or the extents of a state are invalid or
// do not fit the world.
func (w *World) checkState(s *state.World) error {
	if most := w.options.MaxEntities / 64; s.Used > most {
		return fmt.Errorf("the saved world needs %d slots, and world %q has at most %d: set "+
			"Options.MaxEntities to at least %d", s.Used*64, w.options.Name, most*64, s.Used*64)
	}
	if s.Mark == 0 || s.Mark&generation.MaxCount != 0 {
		return fmt.Errorf("%#x is not the mark of a world", s.Mark)
	}
	if mark := generation.Mark(s.Mark); w.marked && mark != w.mark {
		return fmt.Errorf("the saved world has the mark %d, and world %q has Options.Mark %d: set it to "+
			"%[1]d, or leave it out", mark.Number(), w.options.Name, w.mark.Number())
	}
	if s.Words < 0 || s.Used < s.Words || s.Alignment < 0 || s.Alignment&(s.Alignment-1) != 0 {
		return fmt.Errorf("a world cannot have %d words in use, %d words ever used and the alignment %d",
			s.Words, s.Used, s.Alignment)
	}
	for _, columns := range s.Archetypes {
		for k, i := range columns {
			if i < 0 || i >= len(s.Columns) || s.Columns[i].Linked != "" || s.Columns[i].Names ||
				slices.Contains(columns[:k], i) {
				return fmt.Errorf("an archetype has column number %d of %d: there is no such column, it "+
					"cannot be in an archetype, or the archetype has it twice", i, len(s.Columns))
			}
		}
	}
	slices.SortFunc(s.Extents, func(a, b state.Extent) int { return cmp.Compare(a.Word, b.Word) })
	end := uint64(0)
	for _, x := range s.Extents {
		if int(x.Archetype) >= len(s.Archetypes) || x.Words == 0 || uint64(x.Word) < end {
			return fmt.Errorf("the extent at word %d overlaps another extent, is empty or has no archetype",
				x.Word)
		}
		end = uint64(x.Word) + uint64(x.Words)
	}
	if end != uint64(s.Words) {
		return fmt.Errorf("the last extent ends at word %d, and the world has %d words", end, s.Words)
	}
	for _, c := range s.Columns {
		if c.Slots < 0 || c.Slots%64 != 0 || c.Slots > s.Words*64 {
			return fmt.Errorf("column %s has components up to slot %d: the end must be a multiple of "+
				"64, and at most %d", c.Name, c.Slots, s.Words*64)
		}
		if c.Pool != nil && c.Pool.Slots < 0 {
			return fmt.Errorf("column %s has a pool of %d slots", c.Name, c.Pool.Slots)
		}
	}
	return nil
}

// columnIn returns the column of the world for a column of a state, or nil if the program dropped it.
func columnIn(c *state.Column) *column {
	if c.Of == nil {
		return nil
	}
	return c.Of.(*column)
}

// restoreArchetypes makes the archetypes of a state and returns them. It puts them before other archetypes of
// the world, in the order of the state, because the slots of later births depend on the order of archetypes.
func (w *World) restoreArchetypes(s *state.World) []*Archetype {
	var order []*Archetype
	for _, indices := range s.Archetypes {
		var columns []*column
		for _, i := range indices {
			if c := columnIn(&s.Columns[i]); c != nil {
				columns = append(columns, c)
			}
		}
		slices.SortFunc(columns, func(a, b *column) int { return int(a.id) - int(b.id) })
		order = append(order, w.archetypeWith(columns))
	}
	kept := make(map[*Archetype]bool, len(order))
	all := make([]*Archetype, 0, len(w.archetypes))
	for _, a := range slices.Concat(order, w.archetypes) {
		if !kept[a] {
			kept[a] = true
			a.id = uint32(len(all))
			all = append(all, a)
		}
	}
	w.archetypes = all
	return order
}

// restoreExtents claims the extents of a state for the archetypes, and commits the control arrays.
func (w *World) restoreExtents(s *state.World, order []*Archetype) error {
	if err := w.reach(uint32(s.Used) * 64); err != nil {
		return err
	}
	for _, x := range s.Extents { // in the order of their words: see checkState
		a := order[x.Archetype]
		if err := w.claim(a, x.Word, x.Words); err != nil {
			return err
		}
		w.own(a, x.Word, x.Words).spare = x.Spare != 0
	}
	return nil
}

// array returns the array with the given kind, column and number, or nil if there is none.
func (r *restored) array(kind string, column, number int) *state.Array {
	for i := range r.arrays {
		if a := &r.arrays[i]; a.Kind == kind && a.Column == column && a.Number == number {
			return a
		}
	}
	return nil
}

func sliceOf[T any](a *state.Array) []T { return unsafe.Slice((*T)(a.Base), a.Len) }

// Settle gives the restored world its entities and components. Fill all arrays first. Settle leaves the
// components of a HeapColumn zero. It returns an error if the arrays contradict each other.
func (states) Settle(of any) error { return of.(*restored).settle() }

// Abandon empties a world whose restoration failed, so that World.Close calls no callbacks.
func (states) Abandon(of any) {
	r := of.(*restored)
	if r.w.live == nil {
		return
	}
	r.w.live.Reset()
	for i := range r.s.Columns {
		s := &r.s.Columns[i]
		if c := columnIn(s); c != nil {
			c.set.Reset()
			if pool := c.pool(); pool != nil && s.Pool != nil {
				pool.Abandon(*s.Pool)
			}
		}
	}
}

func (r *restored) settle() error {
	if err := r.settleEntities(); err != nil {
		return err
	}
	for i := range r.s.Columns {
		if c := columnIn(&r.s.Columns[i]); c != nil {
			if err := r.settleColumn(i, c); err != nil {
				return fmt.Errorf("column %s: %w", c.name, err)
			}
		}
	}
	return nil
}

// settleEntities checks generations and live bits, and gives the world its entities.
func (r *restored) settleEntities() error {
	w, live, mark := r.w, sliceOf[uint64](r.array(state.Live, -1, 0)), uint32(r.w.mark)
	w.live.Load(live)
	w.noteExtremes()
	for i, floor := range sliceOf[uint32](r.array(state.Floors, -1, 0)) {
		if floor != 0 {
			w.owner(uint32(i)).floor = floor // Finish checks the floors, in checkInvariants
			w.floored = uint32(i) + 1
		}
		gens := w.generationsOf(uint32(i))
		vacant := i >= int(w.frontier) || w.vacant.Test(uint(i))
		mask := uint64(0)
		if i < len(live) {
			mask = live[i]
		}
		if vacant && mask != 0 {
			return fmt.Errorf("word %d holds entities and belongs to no archetype", i)
		}
		var x *extent
		if !vacant {
			x = w.extents[w.owner(uint32(i)).extent]
			x.used += uint32(bits.OnesCount64(mask))
		}
		if least, most := w.extremes(uint32(i)); least >= mark && most < mark|generation.MaxCount {
			continue
		}
		for bit, g := range gens {
			switch alive := mask>>bit&1 != 0; {
			case g != 0 && g&^generation.MaxCount != mark || vacant && generation.Exhausted(g):
				return fmt.Errorf("word %d has the generation %#x: the generation has the mark of another "+
					"world, or it is the last generation although the word has no archetype", i, g)
			case alive && g == 0:
				return fmt.Errorf("the entity in slot %d has no generation", i*64+bit)
			case generation.Exhausted(g):
				w.worn++
				if !alive {
					x.worn++
					x.used++
				}
			}
		}
	}
	return nil
}

// noteExtremes stores the least and the greatest generation of each word, for use until Finish. It reads each
// generation once, on all processors.
func (w *World) noteExtremes() {
	known := make([][2]uint32, w.size/64)
	share := len(known)/runtime.GOMAXPROCS(0) + 1
	var group sync.WaitGroup
	for lo := 0; lo < len(known); lo += share {
		group.Go(func() {
			for i := lo; i < min(lo+share, len(known)); i++ {
				known[i][0], known[i][1] = w.extremes(uint32(i))
			}
		})
	}
	group.Wait()
	w.restored = known
}

// settleColumn gives entities their components in column c, which is column i of the state.
func (r *restored) settleColumn(i int, c *column) error {
	w := r.w
	present := sliceOf[uint64](r.array(state.Presence, i, 0))
	for word, mask := range present {
		if mask&^w.live.Word(uint(word)) != 0 {
			return fmt.Errorf("word %d holds components without an entity", word)
		}
	}
	if a := r.array(state.Elements, i, 0); a != nil {
		a.ClearRest(func(word int) uint64 { return present[word] })
	}
	if k := c.relation(); k != nil {
		if err := k.settle(present); err != nil {
			return err
		}
	}
	for n := range r.s.Columns[i].Notes {
		m := c.marks[n]
		for kind, set := range map[string]*bitset.Set{state.Changed: m.changed, state.Touched: m.touched,
			state.Had: m.had} {
			set.Load(sliceOf[uint64](r.array(kind, i, n)))
		}
	}
	c.set.Load(present)
	for _, k := range c.groups {
		k.noteAll()
	}
	for word, mask := range present {
		if mask == 0 {
			continue
		}
		w.addedTo(c, uint32(word))
		for _, m := range c.marks[len(r.s.Columns[i].Notes):] {
			// The state has nothing about this tracker. All components are new to it, because it last looked
			// at an empty world.
			m.changed.Mark(uint(word), mask)
			m.touched.Mark(uint(word), mask)
		}
		if c.store != nil && c.store.storage() == probing.StorageHeap {
			c.putIn(uint32(word), mask)
		}
	}
	if pool := c.pool(); pool != nil {
		var arrays []state.Array
		for _, kind := range []string{state.PoolLive, state.PoolWords, state.PoolGenerations,
			state.PoolElements} {
			arrays = append(arrays, *r.array(kind, i, 0))
		}
		return pool.Settle(*r.s.Columns[i].Pool, arrays)
	}
	return nil
}

// settle makes the levels of a relation from its links. It returns an error if a link leads to a slot that is
// not a source, has an impossible level, or has a dead target.
func (k *relation) settle(present []uint64) error {
	end := uint32(len(present)) * 64
	source := func(slot uint32) bool { return slot < end && present[slot/64]>>(slot%64)&1 != 0 }
	deepest := uint32(0)
	for word, mask := range present {
		for ; mask != 0; mask &= mask - 1 {
			slot := uint32(word)*64 + trailingZeros(mask)
			l := k.link(slot)
			if l.next != none && !source(l.next) || l.prev != none && !source(l.prev) || l.level > deep ||
				(l.level == 0) != k.cyclic || !k.world.Alive(*k.target(slot)) {
				return fmt.Errorf("the link of slot %d is broken", slot)
			}
			deepest = max(deepest, l.level)
		}
	}
	if err := k.reach(end, deepest); err != nil {
		return err
	}
	for word, mask := range present {
		for ; mask != 0; mask &= mask - 1 {
			slot := uint(word*64) + uint(trailingZeros(mask))
			if level := k.link(uint32(slot)).level; level > 0 {
				k.levels[level-1].Set(slot)
			}
		}
	}
	return nil
}

// Finish ends a restoration. Set the components of HeapColumns first. Finish returns an error if parts of the
// world contradict each other. It calls no callbacks.
func (states) Finish(of any) (err error) {
	r := of.(*restored)
	defer func() {
		r.w.restored = nil
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	if n := r.w.names; n != nil {
		for slot := range n.texts.c.present() {
			e, name := r.w.entityIn(slot), *n.texts.at(slot)
			if other, taken := n.byName[name]; taken || name == "" {
				return fmt.Errorf("the name %[3]q of entity %[2]v is empty, or entity %[1]v has it too",
					other, e, name)
			}
			n.byName[name] = e
		}
		n.sweep = max(n.sweep, 2*len(n.byName))
	}
	for _, l := range r.w.relations {
		if k, ok := l.(*relation); ok {
			if err := k.checkFamilies(); err != nil {
				return err
			}
		}
	}
	r.w.checkInvariants()
	return nil
}

// checkFamilies returns an error if the slot of a target's first or last source holds no source, or if
// targets form a circle in a hierarchy.
func (k *relation) checkFamilies() error {
	for slot := range k.targets.present() {
		f := k.family(slot)
		if !k.sources.set.Test(uint(f.first)) || !k.sources.set.Test(uint(f.last)) {
			return fmt.Errorf("%s: slot %d is a target of slots that are not sources", k.sources.name, slot)
		}
	}
	if k.cyclic {
		return nil
	}
	// Only sources at the largest level, the constant deep, can form a circle: every other source must have a
	// larger level than its target, which checkInvariants verifies later.
	known := make(map[uint32]bool)
	for slot := range k.sources.present() {
		var path []uint32
		for k.level(slot) == deep && !known[slot] {
			known[slot] = true
			path = append(path, slot)
			slot = k.target(slot).slot
		}
		if k.level(slot) == deep && slices.Contains(path, slot) {
			return fmt.Errorf("%s: slot %d is its own ancestor", k.sources.name, slot)
		}
	}
	return nil
}
