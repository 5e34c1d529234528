package vast

import (
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/rooms"
)

// SparseColumn is a [Column] for components that are rare or large. Its elements lie packed in a [bulk.Pool].
// Each slot holds a handle of 8 bytes, and only slots with a component take memory for it. Queries and
// methods are those of a Column. Make one with [NewSparseColumn].
//
// A pointer to a component stays valid as long as the entity has the component.
type SparseColumn[T any] struct {
	stored[T]
	pool *poolStore[T]
}

// NewSparseColumn registers a component with the world. The rules of [NewColumn] for T, names and errors
// hold.
func NewSparseColumn[T any](w *World) SparseColumn[T] {
	w.mustTakeColumns("NewSparseColumn")
	layout.CheckOr[T]("vast: NewSparseColumn", useHeapColumn)
	pool, err := bulk.NewPool[T](bulk.Options{
		Name: w.options.Name, Capacity: w.options.MaxEntities, Limit: w.options.Limit, Pages: w.options.Pages,
	})
	if err != nil {
		panic(err)
	}
	typ := reflect.TypeFor[T]()
	c, err := w.register(typ.Name(), reflect.TypeFor[bulk.Handle[T]]())
	if err != nil {
		_ = pool.Close()
		panic(err)
	}
	c.typ = typ
	s := &poolStore[T]{base: c.base, pool: pool, rooms: rooms.Of(pool)}
	return SparseColumn[T]{keptBy[T](c, s), s}
}

// Named gives the column a name, as [Column.Named] does.
func (c SparseColumn[T]) Named(name string) SparseColumn[T] {
	c.c.rename(name)
	return c
}

// Get returns e's component, or nil if e is stale or lacks it. Complexity: a look-up as in a [Column], and
// one in the pool.
func (c SparseColumn[T]) Get(e Entity) *T {
	if invariants.Enabled {
		c.c.touch(false)
	}
	if !c.c.has(e) {
		return nil
	}
	return c.pool.element(e.slot)
}

// Grow makes the next n additions of the component, to entities that the world has room for now, unable to
// fail. It returns a [*vm.Error] as [Archetype.Grow] does.
func (c SparseColumn[T]) Grow(n int) error { return c.c.growForAdditions("SparseColumn.Grow", n) }

// poolStore keeps elements in a pool. The column's own elements are handles.
type poolStore[T any] struct {
	inPlace
	base  unsafe.Pointer // handles, by slot
	pool  *bulk.Pool[T]
	rooms rooms.Pool // the pool's memory
}

// handle is sound for the column's usable slots: they are committed and never move.
func (s *poolStore[T]) handle(slot uint32) *bulk.Handle[T] {
	return (*bulk.Handle[T])(unsafe.Add(s.base, uintptr(slot)*unsafe.Sizeof(bulk.Handle[T]{})))
}

func (s *poolStore[T]) element(slot uint32) *T { return s.pool.Get(*s.handle(slot)) }

func (s *poolStore[T]) storage() probing.Storage      { return probing.StorageSparse }
func (s *poolStore[T]) at(slot uint32) unsafe.Pointer { return unsafe.Pointer(s.element(slot)) }
func (s *poolStore[T]) has(n, owed int) bool          { return s.rooms.Free() >= s.need(n, owed) }
func (s *poolStore[T]) room(n, owed int) error        { return s.pool.Grow(s.need(n, owed)) }

// need returns the number of insertions to make room for, so that n puts and the owed puts cannot fail. It
// leaves out owed puts for which the pool has no slots left: they cannot happen.
func (s *poolStore[T]) need(n, owed int) int {
	if owed == 0 {
		return n
	}
	return n + max(0, min(owed, s.rooms.Left()-n))
}

func (s *poolStore[T]) mark() (undo func()) {
	before := s.rooms.Committed()
	return func() { s.rooms.Restore(before) }
}

func (s *poolStore[T]) put(slot uint32) {
	*s.handle(slot), _ = s.pool.InsertZero()
}

func (s *poolStore[T]) drop(slot uint32) { s.pool.Remove(*s.handle(slot)) }
func (s *poolStore[T]) empty()           { s.pool.Clear(nil) }

func (s *poolStore[T]) trim(keep int) error     { return s.rooms.Trim(keep) }
func (s *poolStore[T]) resident() (int, error)  { return s.pool.Resident() }
func (s *poolStore[T]) close() error            { return s.pool.Close() }
func (s *poolStore[T]) memory() (int, int, int) { return s.pool.Reserved(), s.pool.Committed(), 0 }

func (s *poolStore[T]) check(c *column, must func(bool, string, ...any)) {
	n := 0
	for slot := c.set.Next(0); slot < uint(c.slots); slot = c.set.Next(slot + 1) {
		must(s.element(uint32(slot)) != nil, "column %s: slot %d has the component and no element", c.name,
			slot)
		n++
	}
	must(n == s.pool.Len(), "column %s: %d elements for %d entities", c.name, s.pool.Len(), n)
	must(s.has(0, c.owed), "column %s: %d elements are promised, there is room for %d", c.name, c.owed,
		s.rooms.Free())
}
