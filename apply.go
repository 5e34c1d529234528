package vast

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// Applied counts the commands that [World.Apply] carried out or skipped.
type Applied struct {
	Done int // commands that had an effect
	// Skipped counts commands for stale entities, commands that set or remove an absent component, commands
	// that remove an absent tag, link or edge, names that other entities have, and deletions that the option
	// Refuse of a relation prevents.
	Skipped int
}

// place locates a piece in the arguments of Apply. It has no pointers, so that sorting is cheap.
type place struct {
	position int
	commands uint32 // index in the arguments of Apply
	piece    uint32 // index in Commands.pieces
}

// Apply makes the recorded changes and empties the Commands. It orders the commands by position, then by the
// order of its arguments, then by the order of recording. If the positions do not depend on the number of
// goroutines, the result does not depend on it either. Apply skips commands for stale entities. Hooks run as
// they do for a direct change.
//
// If memory or slots run out, Apply returns the [*vm.Error]. The commands before the failing command are
// applied. The failing command and all later commands stay recorded, for another Apply when there is room.
//
// Apply panics if a hook panics, or if a link would close a circle in a hierarchy. Another Apply does not
// repeat the command that caused the panic. All later commands stay recorded.
//
// Apply changes the structure of the world: do not call it in a query. Apply panics in a hook, and if
// Commands are nil, belong to another world, are closed or are given twice. These panics change nothing.
//
// Complexity: the direct changes and a sort by position. Apply keeps its buffers for later calls.
func (w *World) Apply(cs ...*Commands) (Applied, error) {
	w.mustBeOpen("World.Apply")
	w.mustNotBeInCallback(opApply)
	w.checkCommands(cs)
	w.settled()
	order := w.commands.order[:0]
	for i, c := range cs {
		if c.used > c.since {
			c.cut()
		}
		c.applying, c.room = true, c.used // recording now takes the long path, which panics
		for k := range c.pieces {
			order = append(order, place{c.pieces[k].position, uint32(i), uint32(k)})
		}
	}
	w.commands.order = order
	byPosition := func(a, b place) int {
		return cmp.Or(cmp.Compare(a.position, b.position), cmp.Compare(a.commands, b.commands),
			cmp.Compare(a.piece, b.piece))
	}
	if !slices.IsSortedFunc(order, byPosition) {
		slices.SortFunc(order, byPosition)
	}
	defer func() {
		for _, c := range cs {
			c.finish()
		}
	}()
	return w.applyAll(cs, order)
}

func (w *World) checkCommands(cs []*Commands) {
	w.commands.pass++
	for i, c := range cs {
		switch {
		case c == nil:
			panic(fmt.Sprintf("vast: World.Apply: Commands %d are nil: make them with NewCommands", i+1))
		case c.world != w:
			c.mustBeOpen("World.Apply was given")
			panic(fmt.Sprintf("vast: World.Apply: Commands %d belong to world %q, not to %q: apply "+
				"them to their own world", i+1, c.world.options.Name, w.options.Name))
		case c.pass == w.commands.pass:
			panic(fmt.Sprintf("vast: World.Apply: Commands %d are given twice: pass each Commands once", i+1))
		}
		c.mustBeOpen("World.Apply was given")
		c.pass = w.commands.pass
	}
}

// finish prepares Commands for recording after Apply.
func (c *Commands) finish() {
	c.applying = false
	if c.closed {
		return
	}
	c.pieces = slices.DeleteFunc(c.pieces, func(p piece) bool { return p.from == p.to })
	c.position = 0
	if len(c.pieces) > 0 {
		c.room = c.usable()
		return
	}
	c.applied = true
	for _, l := range c.lists {
		if l != nil {
			l.clear()
		}
	}
}

// applyAll applies pieces in the given order. It moves piece.from past each applied command, so that an
// applied piece is empty.
func (w *World) applyAll(cs []*Commands, order []place) (a Applied, err error) {
	var at *piece
	var size uintptr // the bytes of the command that is being applied
	var changes uint64
	var kind commandKind
	ended, before := false, w.changes
	defer func() {
		if w.changes != before {
			w.last = opApply
		}
		if ended {
			return
		}
		v := recover()
		// Only a command that adds something allocates memory. If the allocation fails, the command has
		// changed nothing. Every other panic comes from a hook, or from a link that would close a circle.
		e, ok := v.(*vm.Error)
		if ok && w.changes == changes && kind != commandDelete && kind != commandRemove {
			err = e
			return
		}
		at.from += size // the command that panicked must not be applied again
		if v != nil {
			panic(v)
		}
	}()
	for _, p := range order {
		c := cs[p.commands]
		at = &c.pieces[p.piece]
		for at.from < at.to {
			h := c.head(at.from)
			size, changes, kind = uintptr(h.words)*8, w.changes, h.kind()
			if kind == commandNew {
				n := w.archetypes[h.id()].newLater(h, unsafe.Pointer(c.head(at.to)))
				a.Done += n
				size *= uintptr(n)
			} else if w.applyOne(c, h, kind) {
				a.Done++
			} else {
				a.Skipped++
			}
			at.from += size
		}
	}
	ended = true
	return a, nil
}

// applyOne applies a command for an entity and reports whether the command had an effect.
func (w *World) applyOne(c *Commands, h *command, kind commandKind) bool {
	e := h.entity
	if e.placeholder() {
		e = c.resolve(e)
	}
	if kind == commandDelete {
		return w.Delete(e)
	}
	return w.columns[h.id()].later(c, kind, e, h.value())
}

// newLater makes the entity of the recorded birth h and returns the number of entities made. If the archetype
// is not observed, newLater also makes the entities of the births of this archetype that follow h before the
// address end, as long as their slots are consecutive. Placeholders resolve to the new entities before hooks
// run.
func (a *Archetype) newLater(h *command, end unsafe.Pointer) int {
	switch {
	case a.observed:
		h.entity = a.newWithoutHooks()
		a.tellBirths(h.entity.slot, h.entity.slot+1)
		return 1
	case h.value() == end || h.next().what != h.what:
		h.entity = a.New()
		return 1
	}
	lo := a.seek(1)
	hi := uint32(min(a.world.live.Next(uint(lo)), uint(a.at.end())))
	n := uint32(1)
	for last := h; n < hi-lo && last.value() != end && last.next().what == h.what; n++ {
		last = last.next()
	}
	run := a.take(lo, lo+n, true)
	for i := range run.Len() {
		h.entity = run.Entity(i)
		h = h.next()
	}
	return run.Len()
}
