package vast

import (
	"iter"
	"math/bits"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/rooms"
	"github.com/vastgo/vast/internal/state"
)

// SparseColumn is a [Column] for components that are rare or large. Its elements lie packed in a [bulk.Pool].
// Each slot takes 8 bytes for a handle. An entity with the component also takes memory for an element: the
// value, and 8 bytes for the Entity. A SparseColumn has the same queries as a Column, and the same methods
// except Slice, TrySlice and EditRun. [SparseColumn.All] yields the packed values. Make a SparseColumn with
// [NewSparseColumn].
//
// A pointer to a component stays valid as long as the entity has the component.
type SparseColumn[T any] struct {
	stored[T]
	pool *poolStore[T]
}

// NewSparseColumn registers a component with the world. The rules of [NewColumn] for T, names and panics
// hold.
func NewSparseColumn[T any](w *World) SparseColumn[T] {
	w.mustTakeColumns("NewSparseColumn")
	layout.CheckOr[T]("vast: NewSparseColumn", useHeapColumn)
	pool, err := bulk.NewPool[pooled[T]](bulk.Options{
		Name: w.options.Name, Capacity: w.options.MaxEntities, Limit: w.options.Limit, Pages: w.options.Pages,
	})
	if err != nil {
		panic(err)
	}
	typ := reflect.TypeFor[T]()
	c, err := w.register(typ.Name(), reflect.TypeFor[bulk.Handle[pooled[T]]]())
	if err != nil {
		_ = pool.Close()
		panic(err)
	}
	c.typ = typ
	s := &poolStore[T]{base: c.base, pool: pool, rooms: rooms.Of(pool)}
	s.first, s.words = s.rooms.Memory()
	w.markPool(s.rooms)
	return SparseColumn[T]{keptBy[T](c, s), s}
}

// Named gives the column a name, as [Column.Named] does.
func (c SparseColumn[T]) Named(name string) SparseColumn[T] {
	c.c.rename(name)
	return c
}

// Get returns e's component, or nil if e is stale or lacks it. Complexity: as [Column.Get], and a look-up in
// the pool.
func (c SparseColumn[T]) Get(e Entity) *T {
	if invariants.Enabled {
		c.c.touch(false)
	}
	if !c.c.has(e) {
		return nil
	}
	return c.pool.element(e.slot)
}

// Grow makes room: the next n additions cannot fail for entities that fit into the world's present memory. If
// Grow gets no memory, it returns a [*vm.Error], as [Archetype.Grow] does.
func (c SparseColumn[T]) Grow(n int) error { return c.c.growForAdditions("SparseColumn.Grow", n) }

// All yields the entities that have the component and the addresses of their values, in the order in which
// the values lie in memory:
//
//	for e, sick := range sickness.All() {
//		if sick.Until <= now {
//			recovered = append(recovered, e)
//		}
//	}
//
// All is the fastest loop over a component that few entities have: a loop over a query also reads presence
// bits and a handle for each entity.
//
// The loop may write values. Trackers do not see these writes: call [SparseColumn.Edit] to mark a value for
// trackers. If the loop changes the structure of the world, the next step panics, as in [Query.All]. All
// panics if the world is closed. Several goroutines may run All at the same time while nothing changes the
// structure.
//
// Complexity: a few instructions for each entity, and one step for each 64 places in the pool up to the last
// element. New elements fill the first gaps that removed elements left. All skips long gaps in steps of 4,096
// or 262,144 places.
func (c SparseColumn[T]) All() iter.Seq2[Entity, *T] {
	return func(yield func(Entity, *T) bool) {
		world, changes := c.startAll()
		s := c.pool
		unseen := s.pool.Len() // ends the loop at the last element: later presence words must not be read
		for word := uint(0); unseen > 0; word++ {
			mask := s.word(word)
			if mask == 0 {
				word = s.rooms.Next(word*64) / 64
				mask = s.word(word)
			}
			unseen -= bits.OnesCount64(mask)
			first := s.pooled(word * 64)
			for ; mask != 0; mask &= mask - 1 {
				p := first.after(bits.TrailingZeros64(mask))
				if !yield(p.entity, &p.value) {
					return
				}
				if world.changes != changes {
					world.changedWhile("SparseColumn.All was running")
				}
			}
		}
	}
}

// startAll checks that All may run, and returns the world and World.changes.
func (c SparseColumn[T]) startAll() (*World, uint64) {
	if c.c == nil {
		panic("vast: SparseColumn.All: the column was not made with NewSparseColumn")
	}
	c.c.world.mustBeOpen("SparseColumn.All")
	if invariants.Enabled {
		c.c.touch(false)
	}
	return c.c.world, c.c.world.changes
}

type pooled[T any] struct {
	value  T
	entity Entity
}

// poolStore keeps elements in a pool. The column's own elements are handles.
type poolStore[T any] struct {
	inPlace
	base  unsafe.Pointer // handles, by slot
	pool  *bulk.Pool[pooled[T]]
	first unsafe.Pointer // the first element of the pool
	words unsafe.Pointer // the presence words of the pool
	rooms rooms.Pool     // the pool's memory
}

// handle returns the address of a slot's handle. The slot must be usable: the handles of usable slots are
// committed and never move.
func (s *poolStore[T]) handle(slot uint32) *bulk.Handle[pooled[T]] {
	var h *bulk.Handle[pooled[T]]
	return (*bulk.Handle[pooled[T]])(unsafe.Add(s.base, uintptr(slot)*unsafe.Sizeof(*h)))
}

// after returns the element that is n places after p in the pool. This place must have an element.
func (p *pooled[T]) after(n int) *pooled[T] {
	return (*pooled[T])(unsafe.Add(unsafe.Pointer(p), uintptr(n)*unsafe.Sizeof(*p)))
}

// word returns a presence word of the pool. i must not lie after the word of the last element.
func (s *poolStore[T]) word(i uint) uint64 { return *(*uint64)(unsafe.Add(s.words, i*8)) }

// pooled returns the element in a slot of the pool. The slot must have an element.
func (s *poolStore[T]) pooled(slot uint) *pooled[T] {
	return (*pooled[T])(unsafe.Add(s.first, uintptr(slot)*unsafe.Sizeof(pooled[T]{})))
}

// element returns the address of the value of a slot of the column, or nil if the slot has no element. The
// value is the first field of pooled, so the addresses are equal.
func (s *poolStore[T]) element(slot uint32) *T {
	return (*T)(unsafe.Pointer(s.pool.Get(*s.handle(slot))))
}

func (s *poolStore[T]) storage() probing.Storage      { return probing.StorageSparse }
func (s *poolStore[T]) at(slot uint32) unsafe.Pointer { return unsafe.Pointer(s.element(slot)) }
func (s *poolStore[T]) has(n, owed int) bool          { return s.rooms.Free() >= s.need(n, owed) }
func (s *poolStore[T]) room(n, owed int) error        { return s.pool.Grow(s.need(n, owed)) }

// need returns the number of insertions for n puts and for `owed` more puts, for which room was promised. It
// leaves out the promised puts that exceed the pool's free slots, because these puts cannot happen.
func (s *poolStore[T]) need(n, owed int) int {
	if owed == 0 {
		return n
	}
	return n + max(0, min(owed, s.rooms.Left()-n))
}

func (s *poolStore[T]) mark() (undo func()) { return undoGrowth(s.rooms) }

// undoGrowth returns a function that undoes all later growth of a pool.
func undoGrowth(p rooms.Pool) func() {
	before := p.Committed()
	return func() { p.Restore(before) }
}

func (s *poolStore[T]) put(e Entity) {
	h, p := s.pool.InsertZero()
	p.entity = e
	*s.handle(e.slot) = h
}

func (s *poolStore[T]) move(_, new Entity) { s.pool.Get(*s.handle(new.slot)).entity = new }

func (s *poolStore[T]) assign(slot uint32, v unsafe.Pointer) { *s.element(slot) = *(*T)(v) }

func (s *poolStore[T]) drop(slot uint32) { s.pool.Remove(*s.handle(slot)) }
func (s *poolStore[T]) empty()           { s.pool.Clear(nil) }

func (s *poolStore[T]) state() state.Container { return s.rooms.(state.Container) }

func (s *poolStore[T]) trim(keep int) error     { return s.rooms.Trim(keep) }
func (s *poolStore[T]) resident() (int, error)  { return s.pool.Resident() }
func (s *poolStore[T]) close() error            { return s.pool.Close() }
func (s *poolStore[T]) memory() (int, int, int) { return s.pool.Reserved(), s.pool.Committed(), 0 }

func (s *poolStore[T]) check(c *column, must func(bool, string, ...any)) {
	n := 0
	for slot := c.set.Next(0); slot < uint(c.slots); slot = c.set.Next(slot + 1) {
		p := s.pool.Get(*s.handle(uint32(slot)))
		e := c.world.entityIn(uint32(slot))
		if p == nil {
			must(false, "column %s: slot %d has the component and no element", c.name, slot)
		} else if p.entity != e {
			must(false, "column %s: the element of %v names %v", c.name, e, p.entity)
		}
		n++
	}
	must(n == s.pool.Len(), "column %s: %d elements for %d entities", c.name, s.pool.Len(), n)
	must(s.has(0, c.owed), "column %s: %d elements are promised, there is room for %d", c.name, c.owed,
		s.rooms.Free())
}
