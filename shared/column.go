package shared

import (
	"reflect"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/sharing"
)

// Column is the storage of one component whose values are equal for many entities. It keeps each distinct
// value once, and 4 bytes for each slot. A Column is a small value; copy it freely. Make one with [New].
//
// Values are equal if == says so: 0 and −0 are one value. The column keeps the one that it got first; a value
// that equals the zero value becomes the zero value. A value that contains a NaN equals no value: each Set
// stores it anew, and no query finds it.
//
// Methods return copies of values, because a write through a pointer would change the value of other
// entities. [Column.Set] gives one entity another value, and [Column.Replace] changes a value for all its
// entities.
//
// The rules of [vast.World] about goroutines hold. Several goroutines may set values that the column has, for
// different entities. While a goroutine gives an entity a value that the column does not have, no other
// goroutine may use the column.
type Column[T comparable] struct {
	anyColumn
	numbers vast.Column[uint32] // the number of each entity's value
	*kept[T]
}

// anyColumn makes a Column a vast.AnyColumn.
type anyColumn = vast.AnyColumn

// kept is the part that all copies of a Column share.
type kept[T comparable] struct {
	world  *vast.World
	table  *sharing.Table
	values *sharing.Map[T]
	first  unsafe.Pointer // address of the value with the number 1
	cells  sharing.Cells  // the memory of the numbers
}

// New registers a component with the world, under the name of its type: see [Column.Named]. T must not hold
// Go pointers, as in [vast.NewColumn], and must have a size. New reserves addresses and commits no memory. It
// panics with a [*vm.Error] if too few addresses are left.
func New[T comparable](w *vast.World) Column[T] {
	var zero T
	k := &kept[T]{world: w}
	k.values = sharing.NewMap(zero, func(v unsafe.Pointer) T { return *(*T)(v) })
	numbers, table := engine.NewColumn(w, reflect.TypeFor[T](), k.values)
	k.table, k.first, k.cells = table, table.At(1), engine.Cells(numbers)
	return Column[T]{numbers, numbers, k}
}

// Named gives the column a name in place of its type's name, as [vast.Column.Named] does.
func (c Column[T]) Named(name string) Column[T] {
	c.mustBeMade("Named")
	c.numbers.Named(name)
	return c
}

func (c Column[T]) mustBeMade(method string) {
	if c.kept == nil {
		panic("shared: Column." + method + ": the column was not made with shared.New")
	}
}

// Name returns the column's name.
func (c Column[T]) Name() string {
	c.mustBeMade("Name")
	return c.numbers.Name()
}

// Len returns the number of entities that have the component. Complexity: as [vast.Column.Len].
func (c Column[T]) Len() int {
	c.mustBeMade("Len")
	return c.numbers.Len()
}

// Has reports whether e is alive and has the component.
func (c Column[T]) Has(e vast.Entity) bool { return c.numbers.Has(e) }

// Get returns e's value, and whether e is alive and has the component. Complexity: as [vast.Column.Get], and
// a copy of the value.
func (c Column[T]) Get(e vast.Entity) (v T, ok bool) {
	p := c.numbers.Get(e)
	if p == nil {
		return v, false
	}
	return c.value(*p), true
}

// At returns the value of a slot's entity, as [vast.Column.At] does.
func (c Column[T]) At(s vast.Slot) T { return c.value(*c.numbers.At(s)) }

// TryAt returns the value of a slot's entity, and whether the entity has the component.
func (c Column[T]) TryAt(s vast.Slot) (v T, ok bool) {
	p := c.numbers.TryAt(s)
	if p == nil {
		return v, false
	}
	return c.value(*p), true
}

// value returns the value with a number. The zero value has the number 0. The method is sound for the numbers
// in the column: the other values lie in the table's committed memory, which never moves.
func (k *kept[T]) value(number uint32) (v T) {
	if number != 0 {
		v = *(*T)(unsafe.Add(k.first, uintptr(number-1)*unsafe.Sizeof(v)))
	}
	return v
}

// find returns the number of a value, and whether the column has the value.
func (k *kept[T]) find(v T) (number uint32, ok bool) {
	var zero T
	if v == zero {
		return 0, true
	}
	number, ok = k.values.Of[v]
	return number, ok
}

// intern returns the number of a value, and adds the value if the column lacks it.
func (k *kept[T]) intern(v T) uint32 {
	if number, ok := k.find(v); ok {
		return number
	}
	return k.add(v)
}

//go:noinline
func (k *kept[T]) add(v T) uint32 {
	k.world.Query() // panics if the world is closed
	number, err := k.table.Intern(unsafe.Pointer(&v))
	if err != nil {
		panic(err)
	}
	return number
}

//go:noinline
func (k *kept[T]) rewrite(number uint32, v T) {
	k.table.Rewrite(number, unsafe.Pointer(&v))
}

// Add gives e the component, or overwrites e's value, and reports whether e is alive. It panics if the world
// is closed. If Add needs memory and gets none, it panics with a [*vm.Error]; see [Column.Grow]. Complexity:
// as [vast.Column.Add], and a look-up of the value in a map. The amortized cost of forgetting values without
// entities is constant.
func (c Column[T]) Add(e vast.Entity, v T) bool {
	c.mustBeMade("Add")
	if !c.world.Alive(e) {
		return c.numbers.Add(e, 0) != nil // panics if the world is closed
	}
	return c.numbers.Add(e, c.intern(v)) != nil
}

// Set overwrites e's value and reports whether e has the component. If Set needs memory for a new value and
// gets none, it panics with a [*vm.Error]. Set does not change the structure of the world. Complexity: as
// [Column.Add].
func (c Column[T]) Set(e vast.Entity, v T) bool {
	c.mustBeMade("Set")
	return c.numbers.Has(e) && c.numbers.Set(e, c.intern(v))
}

// SetAt overwrites the value of a slot's entity. The slot must come from a query with this column.
// Complexity: as [Column.Add].
func (c Column[T]) SetAt(s vast.Slot, v T) {
	c.mustBeMade("SetAt")
	*c.numbers.EditAt(s) = c.intern(v)
}

// SetRun overwrites the values of the entities of a run. The run must come from a query with this column, or
// from [vast.Archetype.NewN] of an archetype with this column. Complexity: a look-up of the value, and a
// write of 4 bytes for each entity.
func (c Column[T]) SetRun(r vast.Run, v T) {
	c.mustBeMade("SetRun")
	number := c.intern(v)
	numbers := c.numbers.EditRun(r)
	for i := range numbers {
		numbers[i] = number
	}
}

// Remove takes the component from e and reports whether e had one.
func (c Column[T]) Remove(e vast.Entity) bool {
	c.mustBeMade("Remove")
	return c.numbers.Remove(e)
}

// Grow makes room for n additions: the next n additions and changes of values cannot fail for entities that
// fit into the world's present memory, even if each brings a new value. If Grow gets no memory, it returns a
// [*vm.Error], as [vast.Archetype.Grow] does.
func (c Column[T]) Grow(n int) error {
	c.mustBeMade("Grow")
	if err := c.numbers.Grow(n); err != nil {
		return err
	}
	return c.table.Grow(n)
}

// AddLater records that e gains the component with the value v, as by [Column.Add].
func (c Column[T]) AddLater(cs *vast.Commands, e vast.Entity, v T) {
	c.mustBeMade("AddLater")
	*(*T)(engine.Record(cs, c.anyColumn, true, e, unsafe.Sizeof(v))) = v
}

// SetLater records that e's value is overwritten, as by [Column.Set].
func (c Column[T]) SetLater(cs *vast.Commands, e vast.Entity, v T) {
	c.mustBeMade("SetLater")
	*(*T)(engine.Record(cs, c.anyColumn, false, e, unsafe.Sizeof(v))) = v
}

// RemoveLater records that e loses the component, as by [Column.Remove].
func (c Column[T]) RemoveLater(cs *vast.Commands, e vast.Entity) {
	c.mustBeMade("RemoveLater")
	c.numbers.RemoveLater(cs, e)
}

// OnAdd registers a callback for each entity that gains the component, as [vast.Column.OnAdd] does.
func (c Column[T]) OnAdd(f func(e vast.Entity, v T)) {
	c.mustBeMade("OnAdd")
	c.numbers.OnAdd(func(e vast.Entity, number *uint32) { f(e, c.value(*number)) })
}

// OnRemove registers a callback for each entity that loses the component, as [vast.Column.OnRemove] does.
func (c Column[T]) OnRemove(f func(e vast.Entity, v T)) {
	c.mustBeMade("OnRemove")
	c.numbers.OnRemove(func(e vast.Entity, number *uint32) { f(e, c.value(*number)) })
}
