package vast

import (
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/rooms"
	"github.com/vastgo/vast/internal/state"
)

// runtimePool is a poolStore for a type that is known only at run time. The pool manages slots and
// generations. The store itself reads and writes the elements, because the pool does not know their type.
type runtimePool struct {
	inPlace
	base    unsafe.Pointer // handles, by slot of the world
	pool    *bulk.Pool[struct{}]
	first   unsafe.Pointer // address of the first element of the pool
	rooms   rooms.Pool
	element reflect.Type // a struct of a value and the entity that has the value
}

// bulkPools makes pools for elements of a type that is known only at run time.
type bulkPools interface {
	PoolOf(element reflect.Type, o bulk.Options) (*bulk.Pool[struct{}], error)
}

// pooledOf returns a type with the layout of pooled[T], where T is typ.
func pooledOf(typ reflect.Type) reflect.Type {
	path := typeEntity.PkgPath()
	return reflect.StructOf([]reflect.StructField{
		{Name: "value", PkgPath: path, Type: typ},
		{Name: "entity", PkgPath: path, Type: typeEntity},
	})
}

func (w *World) registerSparse(name string, typ reflect.Type) (*column, error) {
	s := &runtimePool{element: pooledOf(typ)}
	var err error
	s.pool, err = state.Bulk.(bulkPools).PoolOf(s.element, bulk.Options{Name: w.options.Name,
		Capacity: w.options.MaxEntities, Limit: w.options.Limit, Pages: w.options.Pages})
	if err != nil {
		return nil, err
	}
	c, err := w.register(name, reflect.TypeFor[bulk.Handle[struct{}]]())
	if err != nil {
		_ = s.pool.Close()
		return nil, err
	}
	c.typ, s.base, s.rooms = typ, c.base, rooms.Of(s.pool)
	s.first, _ = s.rooms.Memory()
	w.markPool(s.rooms)
	c.keep(s)
	return c, nil
}

// handle returns the address of a slot's handle. It is sound for the column's usable slots.
func (s *runtimePool) handle(slot uint32) *bulk.Handle[struct{}] {
	return (*bulk.Handle[struct{}])(unsafe.Add(s.base, uintptr(slot)*unsafe.Sizeof(bulk.Handle[struct{}]{})))
}

// entity returns the address of the Entity in the element of a slot. It is sound for a slot with an element,
// because the element has the layout of the type from pooledOf.
func (s *runtimePool) entity(slot uint32) *Entity {
	return (*Entity)(unsafe.Add(s.at(slot), s.element.Field(1).Offset))
}

func (s *runtimePool) storage() probing.Storage { return probing.StorageSparse }

// at is sound for a slot with an element: the slot has a handle of the pool, and the element lies in the
// pool's memory. The value is the first field of the element.
func (s *runtimePool) at(slot uint32) unsafe.Pointer {
	return unsafe.Add(s.first, uintptr(s.handle(slot).Slot())*s.element.Size())
}

func (s *runtimePool) put(e Entity) {
	*s.handle(e.slot), _ = s.pool.InsertZero()
	clear(unsafe.Slice((*byte)(s.at(e.slot)), s.element.Size()))
	*s.entity(e.slot) = e
}

func (s *runtimePool) assign(slot uint32, v unsafe.Pointer) {
	copyBytes(s.at(slot), v, s.element.Field(0).Type.Size())
}

func (s *runtimePool) drop(slot uint32)        { s.pool.Remove(*s.handle(slot)) }
func (s *runtimePool) move(_, new Entity)      { *s.entity(new.slot) = new }
func (s *runtimePool) empty()                  { s.pool.Clear(nil) }
func (s *runtimePool) has(n, owed int) bool    { return s.rooms.Free() >= s.need(n, owed) }
func (s *runtimePool) room(n, owed int) error  { return s.pool.Grow(s.need(n, owed)) }
func (s *runtimePool) trim(keep int) error     { return s.rooms.Trim(keep) }
func (s *runtimePool) resident() (int, error)  { return s.pool.Resident() }
func (s *runtimePool) close() error            { return s.pool.Close() }
func (s *runtimePool) state() state.Container  { return s.rooms.(state.Container) }
func (s *runtimePool) memory() (int, int, int) { return s.pool.Reserved(), s.pool.Committed(), 0 }

// need does what poolStore.need does.
func (s *runtimePool) need(n, owed int) int { return n + max(0, min(owed, s.rooms.Left()-n)) }

func (s *runtimePool) mark() (undo func()) { return undoGrowth(s.rooms) }

func (s *runtimePool) check(c *column, must func(bool, string, ...any)) {
	n := 0
	for slot := range c.present() {
		e := c.world.entityIn(slot)
		if s.pool.Get(*s.handle(slot)) == nil {
			must(false, "column %s: slot %d has the component and no element", c.name, slot)
		} else if owner := *s.entity(slot); owner != e {
			must(false, "column %s: the element of %v names %v", c.name, e, owner)
		}
		n++
	}
	must(n == s.pool.Len(), "column %s: %d elements for %d entities", c.name, s.pool.Len(), n)
	must(s.has(0, c.owed), "column %s: %d elements are promised, there is room for %d", c.name, c.owed,
		s.rooms.Free())
}
