package vast

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/internal/rooms"
)

// SparseColumn is a [Column] for components that are rare or large: its elements lie packed in a [bulk.Pool], and each slot
// holds a handle of 8 bytes, touched only where there is a component. Queries and verbs are those of a Column. Make one
// with [NewSparseColumn].
//
// A pointer that it hands out stays valid as long as the entity has the component.
type SparseColumn[T any] struct {
	c *column
	s *sparseStore[T]
}

// NewSparseColumn registers a component with the world. What [NewColumn] says of T and of errors holds.
func NewSparseColumn[T any](w *World) SparseColumn[T] {
	return NewSparseColumnWith[T](w, ColumnOptions{})
}

// NewSparseColumnWith is [NewSparseColumn] with options.
func NewSparseColumnWith[T any](w *World, o ColumnOptions) SparseColumn[T] {
	w.mustBeOpen("NewSparseColumn")
	layout.Check[T]("vast: NewSparseColumn")
	if o.Name == "" {
		o.Name = reflect.TypeFor[T]().Name()
	}
	pool, err := bulk.NewPool[T](bulk.Options{
		Name: w.options.Name, Capacity: w.options.MaxEntities, Limit: w.options.Limit, Pages: w.options.Pages,
	})
	if err != nil {
		panic(err)
	}
	c, err := w.register(o.Name, reflect.TypeFor[bulk.Handle[T]]())
	if err != nil {
		_ = pool.Close()
		panic(err)
	}
	c.typ = reflect.TypeFor[T]()
	s := &sparseStore[T]{base: c.base, pool: pool, rooms: rooms.Of(pool)}
	c.keep(s)
	col := SparseColumn[T]{c, s}
	c.later = col.later
	return col
}

func (c SparseColumn[T]) column() *column { return c.c }

// Len returns the number of entities that have the component. Complexity: as [Column.Len].
func (c SparseColumn[T]) Len() int { return c.c.len() }

// Name returns the column's name.
func (c SparseColumn[T]) Name() string { return c.c.name }

// Has reports whether e is alive and has the component.
func (c SparseColumn[T]) Has(e Entity) bool { return c.c.has(e) }

// Get returns e's component, or nil when e is stale or has none. Complexity: a look-up as in a [Column], and one in the
// pool.
func (c SparseColumn[T]) Get(e Entity) *T {
	if invariants.Enabled {
		c.c.touch(false)
	}
	if !c.c.has(e) {
		return nil
	}
	return c.s.at(e.slot)
}

// Add gives e the component, or overwrites the one that it has, and returns where it lies, as [Column.Add] does.
func (c SparseColumn[T]) Add(e Entity, v T) *T {
	had := c.c.has(e)
	if !c.c.add(e) {
		return nil
	}
	p := c.s.at(e.slot)
	*p = v
	if !had {
		c.c.tell(c.c.onAdd, "OnAdd", e.slot/64, 1<<(e.slot%64))
	}
	return p
}

// Set overwrites e's component and reports whether e has one.
func (c SparseColumn[T]) Set(e Entity, v T) bool {
	p := c.Edit(e)
	if p == nil {
		return false
	}
	*p = v
	return true
}

// Remove takes the component from e and reports whether e had one. The pool uses its place again.
func (c SparseColumn[T]) Remove(e Entity) bool { return c.c.remove(e) }

// Grow makes the next n additions of the component, to entities that the world has room for now, unable to fail. It
// returns a [*vm.Error] as [Archetype.Grow] does.
func (c SparseColumn[T]) Grow(n int) error {
	w := c.c.world
	w.mustBeOpen("SparseColumn.Grow")
	if n < 0 {
		panic(fmt.Sprintf("vast: SparseColumn.Grow(%d): the number of additions cannot be negative", n))
	}
	if w.size > c.c.slots || !c.s.has(n, c.c.owedBeside(n, c.c.promised)) {
		if err := w.try([]*column{c.c}, func() error {
			if err := c.c.grow(w.size); err != nil {
				return err
			}
			return c.c.room(n, c.c.promised)
		}); err != nil {
			return err
		}
	}
	c.c.promise(n)
	return nil
}

// OnAdd registers f to be told of each entity that gains the component, as [Column.OnAdd] does.
func (c SparseColumn[T]) OnAdd(f func(e Entity, v *T)) {
	c.c.hookAdd(func(e Entity) { f(e, c.at(e.slot)) })
}

// OnRemove registers f to be told of each entity that loses the component, as [Column.OnRemove] does.
func (c SparseColumn[T]) OnRemove(f func(e Entity, v *T)) {
	c.c.hookRemove(func(e Entity) { f(e, c.at(e.slot)) })
}

// sparseStore holds elements in a pool, and a handle to each in the column.
type sparseStore[T any] struct {
	base  unsafe.Pointer // handles, by slot
	pool  *bulk.Pool[T]
	rooms rooms.Pool // the pool's memory
}

// handle is sound for the column's usable slots: they are committed and never move.
func (s *sparseStore[T]) handle(slot uint32) *bulk.Handle[T] {
	return (*bulk.Handle[T])(unsafe.Add(s.base, uintptr(slot)*unsafe.Sizeof(bulk.Handle[T]{})))
}

func (s *sparseStore[T]) at(slot uint32) *T { return s.pool.Get(*s.handle(slot)) }

func (s *sparseStore[T]) has(n, owed int) bool { return s.rooms.Free() >= s.need(n, owed) }

func (s *sparseStore[T]) room(n, owed int) error { return s.pool.Grow(s.need(n, owed)) }

// need returns for how many insertions there must be room so that n cannot fail, and of the owed ones those
// that can still be made: no more entities than there are slots ever have the component.
func (s *sparseStore[T]) need(n, owed int) int {
	if owed == 0 {
		return n
	}
	return n + max(0, min(owed, s.rooms.Left()-n))
}

func (s *sparseStore[T]) mark() (undo func()) {
	before := s.rooms.Committed()
	return func() { s.rooms.Restore(before) }
}

func (s *sparseStore[T]) put(slot uint32) {
	var zero T
	*s.handle(slot), _ = s.pool.Insert(zero)
}

func (s *sparseStore[T]) drop(slot uint32) { s.pool.Remove(*s.handle(slot)) }

func (s *sparseStore[T]) storage() Storage { return StorageSparse }

func (s *sparseStore[T]) value(slot uint32) reflect.Value {
	v := *s.at(slot)
	return reflect.ValueOf(&v).Elem()
}

func (s *sparseStore[T]) set(slot uint32, v reflect.Value) { reflect.ValueOf(s.at(slot)).Elem().Set(v) }

func (s *sparseStore[T]) empty() { s.pool.Clear(nil) }

func (s *sparseStore[T]) trim(keep int) error { return s.rooms.Trim(keep) }

func (s *sparseStore[T]) memory() (reserved, committed int) {
	return s.pool.Reserved(), s.pool.Committed()
}

func (s *sparseStore[T]) resident() (int, error) { return s.pool.Resident() }

func (s *sparseStore[T]) close() error { return s.pool.Close() }

func (s *sparseStore[T]) check(c *column, must func(bool, string, ...any)) {
	n := 0
	for slot := c.set.Next(0); slot < uint(c.slots); slot = c.set.Next(slot + 1) {
		must(s.at(uint32(slot)) != nil, "column %s: slot %d has the component and no element", c.name, slot)
		n++
	}
	must(n == s.pool.Len(), "column %s: %d elements for %d entities", c.name, s.pool.Len(), n)
	must(s.has(0, c.owed), "column %s: %d elements are promised, there is room for %d", c.name, c.owed, s.rooms.Free())
}
