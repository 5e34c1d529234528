package vast

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// AnyColumn is a column of whatever type: an element of the sets that archetypes and queries are made of. Only this
// package implements it.
type AnyColumn interface {
	// Name returns the name under which the column stands in statistics and messages.
	Name() string
	column() *column
}

// column is the storage of one component: presence bits, and elements indexed by the entity's slot.
type column struct {
	// What a look-up needs comes first, in one cache line.
	slots uint32         // slots below it may be tested and touched: a multiple of 64
	id    uint32         // number in the world, in the order of registration
	words unsafe.Pointer // the presence words
	gens  unsafe.Pointer // the world's generations
	base  unsafe.Pointer // elements
	bytes int            // of one element

	tracked  bool           // whether it has trackers
	observed bool           // whether it has hooks, a store or trackers
	internal bool           // whether it is the package's own, which users' sets of columns pass over
	fresh    unsafe.Pointer // while it is tracked: a bit for each slot written that its trackers have not been told of yet
	store    store          // where the elements are, when they are not at base
	onAdd    []hook
	onRemove []hook
	later    later // applies commands

	marks     []*marks   // of each of its trackers
	freshSpan vm.Span    // where fresh lies
	settling  sync.Mutex // held while trackers are told of what is fresh

	set   *bitset.Set
	world *World
	span  vm.Span // the elements' memory
	name  string
	typ   reflect.Type // nil for a tag

	owed     int // additions and births that were promised room in the store, and not made yet
	promised int // of those, additions

	linked string // the name of the relation or edges that the column belongs to; empty for most
	skew   int    // bytes between the beginning of the span and base: see bitset.Skew
}

// ColumnOptions say how a column is made. The zero value works.
type ColumnOptions struct {
	// Name is the column's name in statistics and messages. Default: the name of the element's type.
	Name string
}

// Column is the storage of one component: a T for each entity that has it, at base + slot × size. It is a small value;
// copy it freely. Make one with [NewColumn].
//
// A pointer that it hands out stays valid as long as the entity has the component; the element never moves. Afterwards
// the pointer may see another entity's element, and once the world is closed it must not be used.
type Column[T any] struct {
	base unsafe.Pointer
	c    *column
}

// NewColumn registers a component with the world. T must not hold Go pointers, strings, slices, maps, channels, functions
// or interfaces, at any depth: NewColumn panics with the path of the field that does. It takes addresses only, and
// panics with a [*vm.Error] where there are none left.
func NewColumn[T any](w *World) Column[T] { return NewColumnWith[T](w, ColumnOptions{}) }

// NewColumnWith is [NewColumn] with options.
func NewColumnWith[T any](w *World, o ColumnOptions) Column[T] {
	w.mustBeOpen("NewColumn")
	layout.Check[T]("vast: NewColumn")
	typ := reflect.TypeFor[T]()
	if o.Name == "" {
		o.Name = typ.Name()
	}
	c, err := w.register(o.Name, typ)
	if err != nil {
		panic(err)
	}
	col := Column[T]{base: c.base, c: c}
	c.later = col.later
	return col
}

// register makes a column and enters it into the world; without a type, one that has no elements.
func (w *World) register(name string, typ reflect.Type) (*column, error) {
	c, err := w.newColumn(len(w.columns), name, typ)
	if err != nil {
		return nil, err
	}
	w.columns = append(w.columns, c)
	return c, nil
}

// registerLinked makes the two columns of a relation or of edges and enters both into the world, or none.
func (w *World) registerLinked(name string, source, target reflect.Type) (sources, targets *column, err error) {
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

// newColumn carves a column of the given number from the world's memory.
func (w *World) newColumn(id int, name string, typ reflect.Type) (*column, error) {
	if err := w.prepare(); err != nil {
		return nil, err
	}
	n := w.options.MaxEntities
	c := &column{
		id: uint32(id), gens: w.gens, world: w, name: name, typ: typ,
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
		return nil, &vm.Error{Op: "reserve", Purpose: w.options.Name, Bytes: c.bytes, Err: vm.ErrSize,
			Detail: fmt.Sprintf("a column has an element of %s for each of %d slots: set a smaller Options.MaxEntities",
				vm.Bytes(c.bytes), n)}
	}
	c.skew = bitset.Skew(int(c.id))
	size := c.reach(n)
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
	r.Label(c.span.Offset()+c.skew, c.span.Size()-c.skew, vm.Label{What: "column " + name + " of world " + strconv.Quote(w.options.Name),
		Element: "slot", Size: c.bytes, Advice: "look the component up by its Entity, and keep no pointer longer than the entity has it"})
	return w.carve(c, r)
}

// carve takes a column's presence bits from a region.
func (w *World) carve(c *column, r *vm.Region) (*column, error) {
	set, err := bitset.New(r, w.options.MaxEntities)
	if err != nil {
		return nil, err
	}
	c.set, c.words = set, set.Words()
	return c, nil
}

func (c Column[T]) column() *column { return c.c }

// Len returns the number of entities that have the component. Complexity: one step for each 4,096 slots, and one for each
// 64-slot word where some have it and some do not.
func (c Column[T]) Len() int { return c.c.len() }

// Name returns the column's name.
func (c Column[T]) Name() string { return c.c.name }

// Has reports whether e is alive and has the component.
func (c Column[T]) Has(e Entity) bool { return c.c.has(e) }

// Get returns e's component, or nil when e is stale or has none. Complexity: one generation, one bit, one address.
func (c Column[T]) Get(e Entity) *T {
	if invariants.Enabled {
		c.c.touch(false)
	}
	if !c.c.has(e) {
		return nil
	}
	return c.at(e.slot)
}

// at is sound for slots below c.c.slots: the span is committed that far, never moves, and holds no Go pointers.
func (c Column[T]) at(slot uint32) *T {
	return (*T)(unsafe.Add(c.base, uintptr(slot)*unsafe.Sizeof(*(*T)(nil))))
}

// Add gives e the component, or overwrites the one that it has, and returns where it lies. It returns nil when e is
// stale, and panics when the world is closed. It panics with a [*vm.Error] when memory is needed and cannot be had; see [Column.Grow].
func (c Column[T]) Add(e Entity, v T) *T {
	had := c.c.observed && c.c.has(e)
	if !c.c.add(e) {
		return nil
	}
	p := c.at(e.slot)
	*p = v
	if c.c.observed && !had {
		c.c.tell(c.c.onAdd, "OnAdd", e.slot/64, 1<<(e.slot%64))
	}
	return p
}

// Set overwrites e's component and reports whether e has one.
func (c Column[T]) Set(e Entity, v T) (ok bool) {
	if invariants.Enabled {
		c.c.touch(true)
	}
	// What Edit does, written out so that it is small enough to be inlined.
	if e.slot >= c.c.slots || *(*uint32)(unsafe.Add(c.c.gens, uintptr(e.slot)*4)) != e.generation ||
		*(*uint64)(unsafe.Add(c.c.words, e.slot/64*8))>>(e.slot%64)&1 == 0 {
		return
	}
	if c.c.tracked {
		atomic.OrUint64((*uint64)(unsafe.Add(c.c.fresh, e.slot/64*8)), 1<<(e.slot%64))
	}
	*(*T)(unsafe.Add(c.base, uintptr(e.slot)*unsafe.Sizeof(v))) = v
	return true
}

// Remove takes the component from e and reports whether e had one. The element's memory is not touched.
func (c Column[T]) Remove(e Entity) bool { return c.c.remove(e) }

// Grow makes every [Column.Add] to entities that the world has room for now unable to fail. It returns a [*vm.Error] as
// [Archetype.Grow] does.
func (c Column[T]) Grow() error {
	c.c.world.mustBeOpen("Column.Grow")
	return c.c.grow(c.c.world.size)
}

// Slice returns the components of a run, one for each of its entities, as an ordinary slice. The run must come from a
// query with this column, or from the making of entities with it. The slice is valid as long as the entities have the
// component.
func (c Column[T]) Slice(r Run) []T {
	if r.start+r.n > c.c.slots {
		panic(beyond{c.c, r})
	}
	if invariants.Enabled {
		c.c.mustHave(r)
		c.c.touch(false)
	}
	return unsafe.Slice(c.at(r.start), r.n)
}

// has is the test that every look-up makes. The generation is read only where it is committed.
func (c *column) has(e Entity) bool {
	return e.slot < c.slots &&
		*(*uint32)(unsafe.Add(c.gens, uintptr(e.slot)*4)) == e.generation &&
		*(*uint64)(unsafe.Add(c.words, uintptr(e.slot/64)*8))>>(e.slot%64)&1 != 0
}

// add sets e's bit and reports whether e is alive.
func (c *column) add(e Entity) bool {
	if invariants.Enabled {
		c.touch(true)
	}
	w := c.world
	if !w.Alive(e) {
		if w.closed {
			w.mustBeOpen("Column.Add")
		}
		return false
	}
	if e.slot >= c.slots {
		if err := c.growToAdd(e.slot); err != nil {
			panic(err)
		}
	}
	p := (*uint64)(unsafe.Add(c.words, uintptr(e.slot/64)*8))
	before := *p
	if before>>(e.slot%64)&1 == 0 {
		w.mustNotBeInCallback(opAdd)
		if invariants.Enabled {
			c.mustBeFree(e.slot, e.slot+1)
		}
		if c.store != nil {
			if err := c.room(1, c.promised); err != nil {
				panic(err)
			}
			c.store.put(e.slot)
			c.kept(1)
		}
		w.changed(opAdd, 1)
		if before == 0 {
			w.addedTo(c, e.slot/64)
		}
		c.set.Set(uint(e.slot))
		if c.tracked {
			c.gained(e.slot/64, 1<<(e.slot%64))
		}
		if invariants.Enabled {
			w.checkNowAndThen()
		}
	} else if c.tracked && c.typ != nil {
		c.wrote(e.slot)
	}
	return true
}

// remove clears e's bit and reports whether it was set.
func (c *column) remove(e Entity) bool {
	if invariants.Enabled {
		c.touch(true)
	}
	if !c.has(e) {
		return false
	}
	c.world.mustNotBeInCallback(opRemove)
	if c.observed {
		c.tell(c.onRemove, "OnRemove", e.slot/64, 1<<(e.slot%64))
		if c.store != nil {
			c.store.drop(e.slot)
		}
		if c.tracked {
			c.lost(e.slot/64, 1<<(e.slot%64))
		}
	}
	c.set.Clear(uint(e.slot))
	c.world.changed(opRemove, 1)
	if invariants.Enabled {
		invariants.Poison(c.element(e.slot))
		c.world.checkNowAndThen()
	}
	return true
}

// addedTo notes that a column has a first bit in a word, unless the word's archetype has the column anyway.
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

// grow makes the slots below end usable, and those of whole words: what clears a word's bits goes by words.
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
		if err := c.span.Grow(c.reach(int(end)), 0); err != nil {
			c.set.Shrink(bits)
			return err
		}
	}
	if c.tracked {
		if err := c.growMarks(end); err != nil {
			c.set.Shrink(bits)
			_ = c.span.Shrink(bytes)
			return err
		}
	}
	c.measure()
	return nil
}

// reach returns how many bytes of the span hold the elements of so many slots. Elements without size share one address,
// which must be as good as any other.
func (c *column) reach(slots int) int { return c.skew + max(slots*c.bytes, 1) }

// measure counts the slots that are usable.
func (c *column) measure() {
	usable := c.set.Len()
	if c.bytes > 0 {
		usable = min(usable, max(0, c.span.Committed()-c.skew)/c.bytes)
	}
	if c.tracked {
		usable = min(usable, c.noted())
	}
	c.slots = uint32(min(usable, int(c.world.size))) &^ 63
}

func (c *column) len() int {
	if c.world.closed {
		return 0
	}
	return c.set.Count()
}

// element returns the bytes of a slot's element, which must be usable.
func (c *column) element(slot uint32) []byte { return c.elements(slot, slot+1) }

// elements returns the bytes of the elements of the slots [lo, hi), which must be usable.
func (c *column) elements(lo, hi uint32) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(c.base, uintptr(lo)*uintptr(c.bytes))), uintptr(hi-lo)*uintptr(c.bytes))
}

// dense asks for huge pages behind the elements of the slots [lo, hi), where they fill one, up to the end of the last huge
// page: where so many lie together more will follow, and a huge page that was touched before it was asked for stays
// small pages.
func (c *column) dense(lo, hi uint32) {
	huge := vm.HugePageSize()
	from, to := c.skew+int(lo)*c.bytes, c.skew+int(hi)*c.bytes
	if huge == 0 || to-from < huge {
		return
	}
	to = min((to+huge-1)&^(huge-1), c.span.Size())
	// Without huge pages the column works as well.
	_ = c.span.Region().Huge(c.span.Offset()+from, to-from)
}

// mustBeFree panics where an element of the slots [lo, hi), which are about to gain the component, was written since it was
// poisoned, in builds that check invariants. Nobody has pointers to what a relation keeps, which it writes beforehand.
func (c *column) mustBeFree(lo, hi uint32) {
	if c.linked != "" {
		return
	}
	for slot := lo; slot < hi; slot++ {
		if !c.set.Test(uint(slot)) {
			invariants.MustBeFree(c.element(slot), func() string {
				return fmt.Sprintf("vast: slot %d of column %s of world %q", slot, c.name, c.world.options.Name)
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

// beyond is what [Column.Slice] panics with. The message is made when it is asked for, so that Slice is small enough to be
// inlined.
type beyond struct {
	c *column
	r Run
}

func (b beyond) Error() string {
	if b.c.world.closed {
		return closedMessage("Column.Slice", b.c.world)
	}
	return fmt.Sprintf("vast: Column[%s].Slice: the run [%d, %d) reaches beyond the column's %d slots: take the run from a "+
		"query that has this column", b.c.name, b.r.start, b.r.start+b.r.n, b.c.slots)
}

// mustHave panics unless every entity of the run has the component.
func (c *column) mustHave(r Run) {
	for slot := uint(r.start); slot < uint(r.start+r.n); slot++ {
		if !c.set.Test(slot) {
			panic(fmt.Sprintf("vast: Column[%s].Slice: the entity in slot %d lacks the component: take the run from a query "+
				"that has this column", c.name, slot))
		}
	}
}
