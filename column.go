package vast

import (
	"fmt"
	"iter"
	"math"
	"reflect"
	"sync"
	"unsafe"

	"github.com/vastgo/vast/internal/access"
	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// AnyColumn is a column of any type. Archetypes and queries are made from sets of columns. Only this package
// implements AnyColumn.
type AnyColumn interface {
	// Name returns the column's name in statistics and messages.
	Name() string
	column() *column
}

// column is the part that all storages of a component share: presence bits, hooks, trackers, and elements
// indexed by the entity's slot. Its code does not depend on the type of the elements.
type column struct {
	// The fields that a look-up needs come first, in one cache line.
	slots uint32         // number of usable slots, whose bits and elements are committed; a multiple of 64
	id    uint32         // index in World.columns
	words unsafe.Pointer // the presence words
	gens  unsafe.Pointer // the world's generations
	base  unsafe.Pointer // the element of slot 0
	bytes int            // the size of an element

	tracked  bool           // whether writes are noted, for trackers and for groups by value
	followed bool           // whether gains and losses are noted, for trackers and groups
	observed bool           // whether the column has hooks, a store, trackers or groups
	attended bool           // whether the column is observed or requires other columns
	internal bool           // whether the column holds the targets of a relation or edges
	dirty    unsafe.Pointer // if tracked, a bit for each slot written since the last flushDirty
	store    store          // keeps data of the elements outside of base; nil for most columns
	onAdd    []hook
	onRemove []hook
	later    later        // applies a recorded command
	recorded reflect.Type // type of the values in recorded commands; nil for a tag and a HeapColumn

	adding, removing operation // operations that messages name for a gain and a loss

	marks     []*marks   // the marks of each tracker
	groups    []*kept    // the groups whose query has a condition on the column
	dirtySpan vm.Span    // the memory of the dirty bits
	flushing  sync.Mutex // held while flushDirty runs

	set   *bitset.Set
	world *World
	span  vm.Span // the elements' memory
	name  string
	typ   reflect.Type // nil for a tag

	requires []*column // all columns that this column requires, also indirectly, in the order of registration

	owed     int // future additions and births for which the store keeps room
	promised int // part of owed that Column.Grow promised

	off      []*column // tags of NewDisabled that switch the column's components off
	switches bool      // whether NewDisabled made the column
	switched []*column // the columns whose components the tag switches off; nil if it switches entities off

	linked string // the name of the relation or edges that the column belongs to, if any
	skew   int    // bytes from the start of the span to base: see bitset.Skew
}

// register makes a column and enters it into the world. A column without a type has no elements.
func (w *World) register(name string, typ reflect.Type) (*column, error) {
	c, err := w.newColumn(len(w.columns), name, typ)
	if err != nil {
		return nil, err
	}
	if w.columns == nil {
		w.columns = make([]*column, 0, 8)
	}
	w.columns = append(w.columns, c)
	return c, nil
}

// registerLinked makes the two columns of a relation or of edges, and enters both columns into the world. If
// registerLinked fails, it enters neither column.
func (w *World) registerLinked(name string, source, target reflect.Type) (
	sources, targets *column, err error) {
	if sources, err = w.newColumn(len(w.columns), name, source); err != nil {
		return nil, nil, err
	}
	if targets, err = w.newColumn(len(w.columns)+1, name+" targets", target); err != nil {
		return nil, nil, err
	}
	sources.linked, targets.linked = name, name
	targets.internal = true
	w.columns = append(w.columns, sources, targets)
	return sources, targets, nil
}

// newColumn makes a column with the given id in the world's memory.
func (w *World) newColumn(id int, name string, typ reflect.Type) (*column, error) {
	if err := w.prepare(); err != nil {
		return nil, err
	}
	n := w.options.MaxEntities
	c := &column{
		id: uint32(id), gens: w.gens, world: w, name: name, typ: typ, adding: opAdd, removing: opRemove,
	}
	if typ == nil {
		r, err := w.memory.room(w.options, bitset.Size(n))
		if err != nil {
			return nil, err
		}
		return w.carve(c, r)
	}
	c.bytes = int(typ.Size())
	if c.bytes > math.MaxInt/4/n {
		return nil, &vm.Error{Op: "reserve", Purpose: w.options.Name, Bytes: math.MaxInt, Err: vm.ErrSize,
			Detail: fmt.Sprintf("a column has an element of %s for each of %d slots: set a smaller "+
				"Options.MaxEntities", vm.Bytes(c.bytes), n)}
	}
	c.skew = bitset.Skew(int(c.id))
	size := c.bytesFor(n)
	if size >= manyBytes {
		size += spareBytes
	}
	r, err := w.memory.room(w.options, bitset.Size(n)+size+vm.PageSize())
	if err != nil {
		return nil, err
	}
	align := vm.PageSize()
	if huge := vm.HugePageSize(); size >= huge {
		align = max(align, huge)
	}
	if c.span, err = r.Carve(size, align); err != nil {
		return nil, err
	}
	c.base = unsafe.Add(c.span.Base(), c.skew)
	c.label()
	return w.carve(c, r)
}

// A column of at least manyBytes reserves spareBytes and does not use them. The spare bytes prevent a
// distance of a power of two between two columns. With this distance, a loop over both columns takes up to
// twice as long: see decision 0013.
const (
	manyBytes  = 16 << 20
	spareBytes = 2 << 20
)

// label names the column's elements for reports of faulting accesses.
func (c *column) label() {
	c.span.Region().Label(c.span.Offset()+c.skew, c.span.Size()-c.skew, vm.Label{
		What:    "column " + c.name + " of world " + c.world.quoted,
		Element: "slot",
		Size:    c.bytes,
		Advice:  "look the component up by its Entity, and keep no pointer after the entity loses it",
	})
}

// rename gives the column a name. The empty name changes nothing.
func (c *column) rename(name string) {
	c.world.mustBeOpen("Column.Named")
	if name == "" || name == c.name {
		return
	}
	if c.world.twin(c, name) != nil {
		panic(fmt.Sprintf("vast: Column.Named: world %q has a column %q of type %s already: choose another "+
			"name", c.world.options.Name, name, c.typ))
	}
	c.name = name
	if c.base != nil {
		c.label()
	}
}

// carve carves a column's presence bits from a region.
func (w *World) carve(c *column, r *vm.Region) (*column, error) {
	set, err := bitset.New(r, w.options.MaxEntities)
	if err != nil {
		return nil, err
	}
	c.set, c.words = set, set.Words()
	return c, nil
}

// has reports whether e has the component. It compares the slot first, because generations beyond c.slots may
// not be committed.
func (c *column) has(e Entity) bool {
	return e.slot < c.slots &&
		*(*uint32)(unsafe.Add(c.gens, uintptr(e.slot)*4)) == e.generation &&
		*(*uint64)(unsafe.Add(c.words, uintptr(e.slot/64)*8))>>(e.slot%64)&1 != 0
}

// add gives e the component, and reports whether e is alive and whether e lacked the component. The caller
// writes the value, because an element at base keeps its old bytes. The caller calls tellAdded if e lacked
// the component.
func (c *column) add(e Entity) (alive, gained bool) {
	if invariants.Enabled {
		c.touch(true)
	}
	w := c.world
	if !w.Alive(e) {
		if w.closed {
			w.mustBeOpen("Column.Add")
		}
		return false, false
	}
	if e.slot >= c.slots {
		if err := c.growToAdd(e.slot); err != nil {
			panic(err)
		}
	}
	p := (*uint64)(unsafe.Add(c.words, uintptr(e.slot/64)*8))
	before := *p
	if before>>(e.slot%64)&1 != 0 {
		if c.tracked && c.typ != nil {
			c.wrote(e.slot)
		}
		return true, false
	}
	w.mustNotBeInCallback(c.adding)
	if invariants.Enabled {
		c.mustBeFree(e.slot, e.slot+1)
	}
	if len(c.requires) > 0 {
		c.addRequired(e)
	}
	if c.store != nil {
		if err := c.room(1, c.promised); err != nil {
			panic(err)
		}
		c.store.put(e)
	}
	c.endPromises(1)
	w.changed(c.adding, 1)
	if before == 0 {
		w.addedTo(c, e.slot/64)
	}
	c.set.Set(uint(e.slot))
	if c.followed {
		c.gained(e.slot/64, 1<<(e.slot%64))
	}
	if invariants.Enabled {
		w.checkNowAndThen()
	}
	return true, true
}

// remove clears e's presence bit and reports whether the bit was set.
func (c *column) remove(e Entity) bool {
	if invariants.Enabled {
		c.touch(true)
	}
	if !c.has(e) {
		return false
	}
	c.world.mustNotBeInCallback(c.removing)
	if c.observed {
		c.tell(c.onRemove, "OnRemove", e.slot/64, 1<<(e.slot%64))
		if c.store != nil {
			c.store.drop(e.slot)
			c.store.dropped()
		}
		if c.followed {
			c.lost(e.slot/64, 1<<(e.slot%64))
		}
	}
	c.set.Clear(uint(e.slot))
	c.world.changed(c.removing, 1)
	if invariants.Enabled {
		invariants.Poison(c.element(e.slot))
		c.world.checkNowAndThen()
	}
	return true
}

// addedTo notes that a word gained its first presence bit in a column. It does nothing if the word's
// archetype has the column.
func (w *World) addedTo(c *column, word uint32) {
	o := w.owner(word)
	if !w.bornWith(c, o.extent) {
		o.extra |= 1 << (c.id % 64)
	}
}

// bornWith reports whether the entities of an extent are born with the column.
func (w *World) bornWith(c *column, extent uint32) bool {
	for _, own := range w.extents[extent].archetype.columns {
		if own == c {
			return true
		}
	}
	return false
}

// grow makes the slots below end usable. It rounds end up to whole words, because deletion clears whole words
// of bits.
func (c *column) grow(end uint32) error {
	if end <= c.slots {
		return nil
	}
	end = (end + 63) &^ 63
	bits, bytes := c.set.Len(), c.span.Committed()
	if err := c.set.Grow(int(end)); err != nil {
		return err
	}
	if c.base != nil {
		if err := c.span.CommitTo(c.bytesFor(int(end)), 0); err != nil {
			c.set.Shrink(bits)
			return err
		}
	}
	if c.followed {
		if err := c.growMarks(end); err != nil {
			c.set.Shrink(bits)
			_ = c.span.DecommitTo(bytes)
			return err
		}
	}
	c.measure()
	return nil
}

// growForAdditions makes room for the next n additions to entities in the existing slots, so that these
// additions cannot fail.
func (c *column) growForAdditions(what string, n int) error {
	w := c.world
	w.mustBeOpen(what)
	if n < 0 {
		panic(fmt.Sprintf("vast: %s(%d): the number of additions cannot be negative", what, n))
	}
	if c.store == nil && c.requires == nil {
		return c.grow(w.size)
	}
	if err := c.makeRoom(w.size, n); err != nil {
		return err
	}
	c.promise(n)
	return nil
}

// bytesFor returns how many bytes of the span must be committed for a number of slots. Elements of size zero
// share one address, which must be committed.
func (c *column) bytesFor(slots int) int { return c.skew + max(slots*c.bytes, 1) }

// measure sets slots to the number of usable slots.
func (c *column) measure() {
	c.slots = uint32(min(c.usable(), int(c.world.size))) &^ 63
}

// usable returns the number of slots for which the column has memory.
func (c *column) usable() int {
	usable := c.set.Len()
	if c.bytes > 0 {
		usable = min(usable, max(0, c.span.Committed()-c.skew)/c.bytes)
	}
	if c.followed {
		usable = min(usable, c.noted())
	}
	return usable
}

func (c *column) len() int {
	if c.world.closed {
		return 0
	}
	return c.set.Count()
}

// present yields the slots whose entities have the component.
func (c *column) present() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for at := c.set.Next(0); at < uint(c.slots); at = c.set.Next(at/64*64 + 64) {
			for mask := c.set.Word(at / 64); mask != 0; mask &= mask - 1 {
				if !yield(uint32(at/64*64) + trailingZeros(mask)) {
					return
				}
			}
		}
	}
}

// at returns the address of the element of a slot that has the component.
func (c *column) at(slot uint32) unsafe.Pointer {
	if c.store != nil {
		if p := c.store.at(slot); p != nil {
			return p
		}
	}
	return unsafe.Add(c.base, uintptr(slot)*uintptr(c.bytes))
}

// element returns the bytes of a usable slot's element at base.
func (c *column) element(slot uint32) []byte { return c.elements(slot, slot+1) }

// elements returns the bytes of the elements at base in the usable slots [lo, hi).
func (c *column) elements(lo, hi uint32) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(c.base, uintptr(lo)*uintptr(c.bytes))),
		uintptr(hi-lo)*uintptr(c.bytes))
}

// adviseHuge requests huge pages for the elements of the slots [lo, hi) if these elements fill a huge page.
// The request extends to the end of the last huge page, because more elements are likely to follow. Pages
// that a program touches before the request stay small.
func (c *column) adviseHuge(lo, hi uint32) {
	huge := vm.HugePageSize()
	start, end := c.skew+int(lo)*c.bytes, c.skew+int(hi)*c.bytes
	if huge == 0 || end-start < huge {
		return
	}
	end = min((end+huge-1)&^(huge-1), c.span.Size())
	// An error does not matter: the column also works without huge pages.
	_ = c.span.Region().Huge(c.span.Offset()+start, end-start)
}

// mustBeFree panics if a slot of [lo, hi) lacks the component and its element has changed since it was
// poisoned. It runs in builds that check invariants. It skips relations and edges, because linking writes
// their elements before the slots gain the component.
func (c *column) mustBeFree(lo, hi uint32) {
	if c.linked != "" {
		return
	}
	for slot := lo; slot < hi; slot++ {
		if !c.set.Test(uint(slot)) {
			invariants.MustBeFree(c.element(slot), func() string {
				return fmt.Sprintf("vast: slot %d of column %s of world %q", slot, c.name,
					c.world.options.Name)
			})
		}
	}
}

// poison overwrites the elements of the slots of mask in a word, in builds that check invariants.
func (c *column) poison(word uint32, mask uint64) {
	for ; mask != 0; mask &= mask - 1 {
		invariants.Poison(c.element(word*64 + trailingZeros(mask)))
	}
}

// mustHave panics if an entity of the run lacks the component.
func (c *column) mustHave(r Run) {
	for slot := uint(r.start); slot < uint(r.start+r.n); slot++ {
		if !c.set.Test(slot) {
			panic(fmt.Sprintf("vast: Column[%s].Slice: the entity in slot %d lacks the component: take the "+
				"run from a query that has this column", c.name, slot))
		}
	}
}

// in reports whether the first entity of a run has the component.
func (c *column) in(r Run) bool {
	return r.n > 0 && r.start < c.slots && c.set.Word(uint(r.start/64))>>(r.start%64)&1 != 0
}

// touch reports an access to the column's values, in builds that check invariants.
func (c *column) touch(write bool) { access.Touch(c.world, int(c.id), write) }
