package vast

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/vm"
)

// marks are the notes of one tracker about one column since the tracker's last look. A look is NewTracker or
// a call of Tracker.Next.
//
// The presence bits at the last look are known without a copy of them. The presence bit of a slot that is not
// in touched has not changed since the look. A slot in touched had the component at the look if the slot is
// also in the set had.
type marks struct {
	changed *bitset.Set    // slots whose component was written or gained, even if it was lost later
	touched *bitset.Set    // slots that gained or lost the component
	had     *bitset.Set    // slots in touched whose entity had the component at the last look
	gens    unsafe.Pointer // a uint32 for each slot: for slots in had, the generation at the last look
	span    vm.Span        // the memory of gens
}

// newMarks returns marks without committed memory. It reuses the marks of a closed tracker if there are any.
func (w *World) newMarks() (*marks, error) {
	if k := len(w.unusedMarks); k > 0 {
		m := w.unusedMarks[k-1]
		w.unusedMarks = w.unusedMarks[:k-1]
		return m, nil
	}
	n := w.options.MaxEntities
	r, err := w.memory.room(w.options, 3*bitset.Size(n)+4*n+vm.PageSize())
	if err != nil {
		return nil, err
	}
	m := new(marks)
	for _, s := range []**bitset.Set{&m.changed, &m.touched, &m.had} {
		if *s, err = bitset.New(r, n); err != nil {
			return nil, err
		}
	}
	if m.span, err = r.Carve(4*n, 0); err != nil {
		return nil, err
	}
	m.gens = m.span.Base()
	return m, nil
}

func (m *marks) reset() {
	m.changed.Reset()
	m.touched.Reset()
	m.had.Reset()
}

// giveBackMarks decommits the memory of marks and keeps the addresses for a later tracker.
func (w *World) giveBackMarks(m *marks) {
	m.reset()
	m.shrink(marksCommitted{})
	w.unusedMarks = append(w.unusedMarks, m)
}

// grow makes the slots below end usable. On failure nothing has changed.
func (m *marks) grow(end int) error {
	before := m.committed()
	err := m.span.CommitTo(4*end, 0)
	for _, s := range [3]*bitset.Set{m.changed, m.touched, m.had} {
		if err == nil {
			err = s.Grow(end)
		}
	}
	if err != nil {
		m.shrink(before)
	}
	return err
}

// usable returns the number of slots for which the marks have memory.
func (m *marks) usable() int {
	return min(m.changed.Len(), m.touched.Len(), m.had.Len(), m.span.Committed()/4)
}

// marksCommitted is the committed size of marks: slots of each set, and bytes of gens.
type marksCommitted struct{ changed, touched, had, gens int }

func (m *marks) committed() marksCommitted {
	return marksCommitted{m.changed.Len(), m.touched.Len(), m.had.Len(), m.span.Committed()}
}

// shrink decommits the memory beyond the given sizes. No slot beyond the sizes may be marked.
func (m *marks) shrink(sizes marksCommitted) {
	m.changed.Shrink(sizes.changed)
	m.touched.Shrink(sizes.touched)
	m.had.Shrink(sizes.had)
	// If DecommitTo fails, the memory stays committed and the next growth uses it.
	_ = m.span.DecommitTo(sizes.gens)
}

// generation returns the address of a slot's generation at the last look. The address is valid for usable
// slots: their part of the span is committed, never moves and holds no Go pointers.
func (m *marks) generation(slot uint32) *uint32 {
	return (*uint32)(unsafe.Add(m.gens, uintptr(slot)*4))
}

// growMarks makes the slots below end usable in the dirty bits, in the marks of all the column's trackers and
// in the sets of its groups. On failure the dirty bits and the marks have not changed.
func (c *column) growMarks(end uint32) error {
	for _, k := range c.groups {
		if err := k.grow(end); err != nil {
			return err
		}
	}
	if !c.tracked {
		return nil
	}
	before := c.notesCommitted()
	if err := c.dirtySpan.CommitTo(int(end)/8, 0); err != nil {
		return err
	}
	for _, m := range c.marks {
		if err := m.grow(int(end)); err != nil {
			c.shrinkMarks(before)
			return err
		}
	}
	return nil
}

// noted returns the number of slots for which the dirty bits, the marks of all the column's trackers and the
// sets of its groups have memory.
func (c *column) noted() int {
	usable := c.world.options.MaxEntities
	if c.tracked {
		usable = min(usable, c.dirtySpan.Committed()*8)
	}
	for _, m := range c.marks {
		usable = min(usable, m.usable())
	}
	for _, k := range c.groups {
		usable = min(usable, k.set.Len())
	}
	return usable
}

// notesCommitted is the committed size of a column's notes: bytes of dirty bits, and the marks in the order
// of its trackers.
type notesCommitted struct {
	dirty int
	marks []marksCommitted
}

func (c *column) notesCommitted() notesCommitted {
	n := notesCommitted{dirty: c.dirtySpan.Committed()}
	for _, m := range c.marks {
		n.marks = append(n.marks, m.committed())
	}
	return n
}

func (c *column) shrinkMarks(sizes notesCommitted) {
	if c.dirty == nil {
		return // the column was never tracked
	}
	_ = c.dirtySpan.DecommitTo(sizes.dirty)
	for i, m := range c.marks {
		m.shrink(sizes.marks[i])
	}
}

// track adds m as the marks of a new tracker of the column. On failure the column has not changed, but m may
// have committed memory.
func (c *column) track(m *marks) error {
	if err := m.grow(int(c.slots)); err != nil {
		return err
	}
	if err := c.noteWrites(); err != nil {
		return err
	}
	c.flushDirty()
	c.marks, c.followed = append(c.marks, m), true
	return nil
}

// noteWrites makes room for the column's dirty bits. From then on, a write to the column sets a dirty bit. On
// failure, writes do what they did before.
func (c *column) noteWrites() error {
	if c.dirty == nil {
		bytes := c.world.options.MaxEntities / 8
		r, err := c.world.memory.room(c.world.options, bytes)
		if err != nil {
			return err
		}
		if c.dirtySpan, err = r.Carve(bytes, 0); err != nil {
			return err
		}
		c.dirty = c.dirtySpan.Base()
	}
	if err := c.dirtySpan.CommitTo(int(c.slots)/8, 0); err != nil {
		return err
	}
	c.tracked = true
	return nil
}

// untrack undoes track.
func (c *column) untrack(m *marks) {
	c.flushDirty()
	c.marks = slices.DeleteFunc(c.marks, func(other *marks) bool { return other == m })
	c.noteNoMore()
	c.world.giveBackMarks(m)
}

// noteNoMore stops the notes that no tracker and no group of the column needs.
func (c *column) noteNoMore() {
	c.followed, c.tracked = len(c.marks)+len(c.groups) > 0, c.needsWrites()
	if !c.tracked {
		_ = c.dirtySpan.DecommitTo(0)
	}
}

// needsWrites reports whether a tracker or a group of the column reads which elements were written.
func (c *column) needsWrites() bool {
	return len(c.marks) > 0 ||
		slices.ContainsFunc(c.groups, func(k *kept) bool { return slices.Contains(k.values, c) })
}

// flushDirty moves the column's dirty bits into the marks of its trackers and into the notes of its groups.
// Call it before you read marks. Several goroutines may call it at a time. After a call, the marks include
// all writes before the call. Complexity: one step for each 64 usable slots.
//
// [Column.Set] and [Column.Edit] only set a dirty bit that all trackers share. With a call of a function that
// writes marks, Set would be too large for inlining and would cost three times as much, even for columns
// without trackers.
func (c *column) flushDirty() {
	if !c.tracked {
		return
	}
	c.flushing.Lock()
	defer c.flushing.Unlock()
	dirty := unsafe.Slice((*uint64)(c.dirty), c.slots/64)
	for i := 0; i < len(dirty); {
		if i+8 <= len(dirty) && noneSet((*[8]uint64)(dirty[i:])) {
			i += 8
			continue
		}
		if atomic.LoadUint64(&dirty[i]) != 0 {
			c.wroteIn(uint32(i), atomic.SwapUint64(&dirty[i], 0))
		}
		i++
	}
}

// noneSet reports whether all words are zero.
func noneSet(words *[8]uint64) bool {
	return atomic.LoadUint64(&words[0])|atomic.LoadUint64(&words[1])|
		atomic.LoadUint64(&words[2])|atomic.LoadUint64(&words[3])|
		atomic.LoadUint64(&words[4])|atomic.LoadUint64(&words[5])|
		atomic.LoadUint64(&words[6])|atomic.LoadUint64(&words[7]) == 0
}

// The methods wrote, wroteIn and wroteRange may be called only if c.tracked is true. The methods gained,
// gainedRange and lost may be called only if c.followed is true. Several goroutines may note writes at a
// time. Gains and losses are structural changes, so only one goroutine notes them. The tag of a Disabled is
// an exception: several goroutines may note its gains and losses at a time.

// wrote notes that a slot's element was written, or is about to be written.
//
//go:noinline
func (c *column) wrote(slot uint32) { c.wroteIn(slot/64, 1<<(slot%64)) }

// wroteIn notes that the elements of the slots of mask in a word were written, or are about to be written.
func (c *column) wroteIn(word uint32, mask uint64) {
	for _, m := range c.marks {
		m.changed.Mark(uint(word), mask)
	}
	c.noteIn(word)
}

// noteIn notes for the column's groups that a word has changed.
func (c *column) noteIn(word uint32) {
	for _, k := range c.groups {
		k.note(word)
	}
}

// wroteRange notes that the elements of the slots [lo, hi) were written, or are about to be written.
//
//go:noinline
func (c *column) wroteRange(lo, hi uint32) {
	for _, m := range c.marks {
		m.changed.MarkRange(uint(lo), uint(hi))
	}
	c.noteRange(lo, hi)
}

// noteRange is noteIn for the words of the slots [lo, hi).
func (c *column) noteRange(lo, hi uint32) {
	for _, k := range c.groups {
		k.noteRange(lo, hi)
	}
}

// gained notes that the slots of mask in a word gained the component.
func (c *column) gained(word uint32, mask uint64) {
	for _, m := range c.marks {
		m.changed.Mark(uint(word), mask)
		m.touched.Mark(uint(word), mask)
	}
	c.noteIn(word)
}

// gainedRange notes that the slots [lo, hi) gained the component.
func (c *column) gainedRange(lo, hi uint32) {
	for _, m := range c.marks {
		m.changed.MarkRange(uint(lo), uint(hi))
		m.touched.MarkRange(uint(lo), uint(hi))
	}
	c.noteRange(lo, hi)
}

// lost notes that the slots of mask in a word lose the component. All of these slots must have the component,
// and their entities must still be alive.
func (c *column) lost(word uint32, mask uint64) {
	c.noteIn(word)
	for _, m := range c.marks {
		first := mask &^ m.touched.Load64(uint(word)) // other goroutines may mark slots at the same time
		if first == 0 {
			continue
		}
		m.touched.Mark(uint(word), first)
		m.had.Mark(uint(word), first)
		for ; first != 0; first &= first - 1 {
			slot := word*64 + trailingZeros(first)
			*m.generation(slot) = *c.world.generation(slot)
		}
	}
}

// lose clears the presence bits of the slots of mask in a word, and notes the losses for trackers and groups.
// All of these slots must have the component. The caller runs the hooks and updates the store.
func (c *column) lose(word uint32, mask uint64) {
	if c.followed {
		c.lost(word, mask)
	}
	c.set.AndNot(uint(word), mask)
}

// now returns the slots of a word that have the component.
func (c *column) now(word uint32) uint64 {
	if word >= c.slots/64 {
		return 0
	}
	return *(*uint64)(unsafe.Add(c.words, uintptr(word)*8))
}

// replaced returns the slots of mask in a word whose entity is not the entity of the last look. All slots of
// mask must have the component now, and must have had it at the last look.
func (m *marks) replaced(c *column, word uint32, mask uint64) (others uint64) {
	for ; mask != 0; mask &= mask - 1 {
		slot := word*64 + trailingZeros(mask)
		if *m.generation(slot) != *c.world.generation(slot) {
			others |= mask & -mask
		}
	}
	return others
}

// added returns the slots of a word whose entities have the component now and lacked the component at the
// last look.
func (m *marks) added(c *column, word uint32) uint64 {
	now, had := m.touched.Word(uint(word))&c.now(word), m.had.Word(uint(word))
	return now&^had | m.replaced(c, word, now&had)
}

// removed returns the slots of a word whose entities had the component at the last look and do not have it
// now.
func (m *marks) removed(c *column, word uint32) uint64 {
	now, had := c.now(word), m.had.Word(uint(word))
	return had&^now | m.replaced(c, word, now&had)
}

// rewritten returns the slots of a word whose entities had the component at the last look and have it now,
// and whose element was written since the look.
func (m *marks) rewritten(c *column, word uint32) uint64 {
	return m.changed.Word(uint(word)) & c.now(word) &^ m.added(c, word)
}

// checkMarks checks the notes about a column, in builds that check invariants.
func (w *World) checkMarks(c *column, must func(bool, string, ...any)) {
	must(c.followed == (len(c.marks)+len(c.groups) > 0) && c.tracked == c.needsWrites() &&
		(!c.followed || c.observed), "column %s has %d trackers and %d groups, followed is %t, tracked is %t",
		c.name, len(c.marks), len(c.groups), c.followed, c.tracked)
	if c.observed != slices.Contains(w.watched, c) {
		must(false, "column %s: observed is %t, which contradicts World.watched", c.name, c.observed)
	}
	must(!c.tracked || c.dirtySpan.Committed()*8 >= int(c.slots),
		"column %s is usable for %d slots, its dirty bits for %d", c.name, c.slots, c.dirtySpan.Committed()*8)
	for _, m := range c.marks {
		must(m.usable() >= int(c.slots), "column %s is usable for %d slots, its marks for %d", c.name,
			c.slots, m.usable())
		m.changed.CheckInvariants()
		m.touched.CheckInvariants()
		m.had.CheckInvariants()
		for at := m.had.Next(0); at < uint(m.had.Len()); at = m.had.Next(at + 1) {
			known, now := *m.generation(uint32(at)), w.owner(uint32(at/64)).floor
			if at < uint(w.size) { // beyond the size, Trim has discarded the generations
				now = max(now, *w.generation(uint32(at)))
			}
			must(m.touched.Test(at), "column %s: slot %d had an element and is not marked as touched",
				c.name, at)
			must(known != 0 && generation.Count(known) <= generation.Count(now),
				"column %s: slot %d had generation %#x at the last look, which is 0 or newer than %#x now",
				c.name, at, known, now)
		}
		for at := m.touched.Next(0); at < uint(m.touched.Len()); at = m.touched.Next(at/64*64 + 64) {
			gained := m.touched.Word(at/64) &^ m.had.Word(at/64) & c.now(uint32(at/64))
			must(gained&^m.changed.Word(at/64) == 0,
				"column %s: slots of word %d gained the component and are not marked as changed", c.name,
				at/64)
		}
	}
}
