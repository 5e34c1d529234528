package vast

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// Applied is what became of commands.
type Applied struct {
	Done    int // did what they say
	Skipped int // came to nothing: the entity was stale, or had not the component that was to be set or removed
}

// place is a piece of one of the Commands that are applied together. It holds no pointers, so that sorting is cheap.
type place struct {
	position int
	commands uint32 // index in the arguments of Apply
	piece    uint32 // index in the pieces
}

// Apply makes the changes that were recorded and empties the Commands. It goes by position, then by the order of its
// arguments, then by that of recording, so that with positions that do not depend on who recorded what the result does
// not either. Commands for stale entities are skipped. Hooks run as they do when the change is made directly.
//
// Where memory or slots run out it returns the [*vm.Error]: then the commands before the failing one are done, and that
// and all later ones stay recorded, so that Apply can go on with them once there is room. When a hook panics so does
// Apply: the commands up to that one are done or gone, the later ones stay recorded.
//
// It changes the structure, so it must not run inside a query, and panics inside a hook. It panics when Commands are of
// another world, are closed or are given twice; then nothing has changed.
//
// Complexity: as the direct forms, and sorting the positions. It allocates nothing that it does not keep for the next
// time.
func (w *World) Apply(cs ...*Commands) (Applied, error) {
	w.mustBeOpen("World.Apply")
	w.mustNotBeInCallback(opApply)
	w.checkCommands(cs)
	order := w.commands.order[:0]
	for i, c := range cs {
		if c.used > c.since {
			c.cut()
		}
		c.applying, c.room = true, c.used // so that recording goes the long way and is told
		for k := range c.pieces {
			order = append(order, place{c.pieces[k].position, uint32(i), uint32(k)})
		}
	}
	w.commands.order = order
	byPosition := func(a, b place) int {
		return cmp.Or(cmp.Compare(a.position, b.position), cmp.Compare(a.commands, b.commands), cmp.Compare(a.piece, b.piece))
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

// checkCommands panics unless what was given to Apply can be applied.
func (w *World) checkCommands(cs []*Commands) {
	w.commands.pass++
	for i, c := range cs {
		switch {
		case c == nil:
			panic(fmt.Sprintf("vast: World.Apply: Commands %d are nil: make them with NewCommands", i+1))
		case c.world != w:
			c.mustBeOpen("World.Apply was given")
			panic(fmt.Sprintf("vast: World.Apply: Commands %d belong to world %q, not to %q", i+1, c.world.options.Name,
				w.options.Name))
		case c.pass == w.commands.pass:
			panic(fmt.Sprintf("vast: World.Apply: Commands %d are given twice", i+1))
		}
		c.mustBeOpen("World.Apply was given")
		c.pass = w.commands.pass
	}
}

// finish makes Commands fit for recording after Apply.
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

// applyAll applies pieces. Those that are consumed are empty afterwards.
func (w *World) applyAll(cs []*Commands, order []place) (a Applied, err error) {
	var at *piece
	var size uintptr // of the command that is being applied
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
		// Only what gains something can want for memory, and has changed nothing then: another panic is a hook's.
		if e, ok := v.(*vm.Error); ok && w.changes == changes && kind != commandDelete && kind != commandRemove {
			err = e
			return
		}
		at.from += size // a hook panicked: what it was told of must not be done again
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

// applyOne applies a command that is for an entity, and reports whether it came to something.
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

// newLater makes the entity of a command, and those of equal commands behind it that lie beside it, and returns how many:
// as many single births would have made the same. The placeholders stand for them before hooks are told.
func (a *Archetype) newLater(h *command, end unsafe.Pointer) int {
	switch {
	case a.observed:
		h.entity = a.newUntold()
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
	run := a.take(lo, lo+n)
	for i := range run.Len() {
		h.entity = run.Entity(i)
		h = h.next()
	}
	return run.Len()
}
