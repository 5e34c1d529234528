package vast

import (
	"fmt"
	"math/bits"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/sharing"
	"github.com/vastgo/vast/internal/state"
)

// sharedStore is the store of a column of package shared. The column's own elements are numbers of values in
// a table. A new component has the number 0, which stands for the zero value and needs no room. If the
// last entity of a value loses the component, the value stays until Table.Sweep removes it. So births and
// deletions need not know the store, and the column is observed only if it has hooks or trackers.
type sharedStore struct {
	inPlace
	c     *column
	table *sharing.Table
}

// registerShared makes a column whose elements are numbers of values of a type.
func (w *World) registerShared(name string, typ reflect.Type, numbers sharing.Numbers) (*sharedStore, error) {
	s := new(sharedStore)
	var err error
	s.table, err = sharing.NewTable(typ, numbers, s, bulk.Options{Name: w.options.Name,
		Capacity: w.options.MaxEntities, Limit: w.options.Limit, Pages: w.options.Pages})
	if err != nil {
		return nil, err
	}
	c, err := w.register(name, reflect.TypeFor[uint32]())
	if err != nil {
		_ = s.table.Close()
		return nil, err
	}
	w.markPool(s.table.Rooms())
	s.c = c
	c.typ, c.store, c.later, c.recorded = typ, s, s.later, typ
	return s, nil
}

// number returns the address of the number in a slot of the column. It is sound for the column's usable
// slots.
func (s *sharedStore) number(slot uint32) *uint32 {
	return (*uint32)(unsafe.Add(s.c.base, uintptr(slot)*4))
}

func (s *sharedStore) storage() probing.Storage      { return probing.StorageShared }
func (s *sharedStore) at(slot uint32) unsafe.Pointer { return s.table.At(*s.number(slot)) }
func (s *sharedStore) put(e Entity)                  { *s.number(e.slot) = 0 }
func (s *sharedStore) empty()                        { s.table.Clear() }
func (s *sharedStore) mark() (undo func())           { return undoGrowth(s.table.Rooms()) }
func (s *sharedStore) resident() (int, error)        { return s.table.Resident() }
func (s *sharedStore) trim(int) error                { return s.table.Trim() }
func (s *sharedStore) close() error                  { return s.table.Close() }

// growShared makes room for one new value for each birth, in the table of each shared column of the entity's
// archetype: the table may lack the value that the entity gets. counts[i] is the number of births in
// archetypes[i].
func growShared(archetypes []*Archetype, counts []int) error {
	var values map[*sharedStore]int
	for i, a := range archetypes {
		for _, c := range a.columns {
			if s, ok := c.store.(*sharedStore); ok {
				if values == nil {
					values = make(map[*sharedStore]int)
				}
				values[s] += counts[i]
			}
		}
	}
	for s, n := range values {
		if err := s.table.Grow(n); err != nil {
			return err
		}
	}
	return nil
}

func (s *sharedStore) memory() (reserved, committed, heap int) {
	reserved, committed = s.table.Memory()
	return reserved, committed, 0
}

// assign panics with a *vm.Error if the value is new and gets no memory.
func (s *sharedStore) assign(slot uint32, v unsafe.Pointer) { *s.number(slot) = s.intern(v) }

func (s *sharedStore) intern(v unsafe.Pointer) uint32 {
	number, err := s.table.Intern(v)
	if err != nil {
		panic(err)
	}
	return number
}

// later applies a recorded command. It makes room for the value before it changes the entity.
func (s *sharedStore) later(_ *Commands, kind commandKind, e Entity, v unsafe.Pointer) bool {
	numbers := Column[uint32]{s.c.base, s.c}
	switch {
	case kind == commandRemove:
		return s.c.remove(e)
	case kind == commandAdd && s.c.world.Alive(e):
		return numbers.Add(e, s.intern(v)) != nil
	case kind == commandSet && s.c.has(e):
		return numbers.Set(e, s.intern(v))
	}
	return false
}

// Slots returns the number of slots up to the last word that an archetype owns.
func (s *sharedStore) Slots() int { return int(s.c.world.frontier) * 64 }

// Count adds the number of entities of each value to counts. It counts equal numbers of adjoining slots
// together.
func (s *sharedStore) Count(counts []uint32) {
	c := s.c
	for at := c.set.Next(0); at < uint(c.slots); at = c.set.Next(at/64*64 + 64) {
		first := (*[64]uint32)(unsafe.Pointer(s.number(uint32(at / 64 * 64))))
		for mask := c.set.Word(at / 64); mask != 0; {
			lo := bits.TrailingZeros64(mask)
			hi := lo + bits.TrailingZeros64(^(mask >> lo))
			for i := lo; i < hi; {
				number, from := first[i], i
				for i++; i < hi && first[i] == number; i++ {
				}
				counts[number] += uint32(i - from)
			}
			mask &= ^uint64(0) << (hi - 1) << 1
		}
	}
}

// renew renews the references in the values.
func (s *sharedStore) renew(n *renewal, r *references) {
	var renewed map[uint32]bool
	if s.c.tracked {
		renewed = make(map[uint32]bool)
	}
	s.table.Update(func(number uint32, v unsafe.Pointer) bool {
		changed := n.value(v, r)
		if changed && renewed != nil {
			renewed[number] = true
		}
		return changed
	})
	if len(renewed) == 0 {
		return
	}
	for slot := range s.c.present() {
		if renewed[*s.number(slot)] {
			s.c.wrote(slot)
		}
	}
}

// edit calls f with a copy of the value of a slot. If f reports that it has changed the copy, the copy
// becomes the slot's value.
func (s *sharedStore) edit(slot uint32, f func(v unsafe.Pointer) bool) {
	v := reflect.New(s.c.typ)
	v.Elem().Set(s.c.valueAt(slot))
	if f(v.UnsafePointer()) {
		s.assign(slot, v.UnsafePointer())
	}
}

// renewSelf is Archetype.renewSelf for the column.
func (s *sharedStore) renewSelf(lo, hi uint32, r *references, e Entity) {
	for slot := lo; slot < hi; slot++ {
		s.edit(slot, func(v unsafe.Pointer) (changed bool) {
			for _, at := range r.at {
				for i := range at.n {
					p := (*Entity)(unsafe.Add(v, at.offset+uintptr(i)*bytesEntity))
					if *p == e {
						*p, changed = s.c.world.entityIn(slot), true
					}
				}
			}
			return changed
		})
	}
}

func (s *sharedStore) state() state.Container { return s.table.State(s.settle) }

// settle replaces the numbers of values that were merged. It returns an error if a number has no value.
func (s *sharedStore) settle(merged func(number uint32) (uint32, bool)) error {
	for slot := range s.c.present() {
		number, ok := merged(*s.number(slot))
		if !ok {
			return fmt.Errorf("slot %d has the number %d, which has no value", slot, *s.number(slot))
		}
		*s.number(slot) = number
	}
	return nil
}

func (s *sharedStore) check(c *column, must func(bool, string, ...any)) {
	s.table.Check(func(ok bool, format string, values ...any) {
		if !ok {
			must(false, "column %s: %s", c.name, fmt.Sprintf(format, values...))
		}
	})
}

// sharings has the methods that package shared calls.
type sharings struct{}

func init() { sharing.Vast = sharings{} }

// NewColumn registers a shared column. It returns the column of the numbers and the table of the values.
func (sharings) NewColumn(w *World, typ reflect.Type, numbers sharing.Numbers) (Column[uint32],
	*sharing.Table) {
	w.mustTakeColumns("shared.New")
	layout.CheckType("vast: shared.New", typ, "store the value outside of the world, and share its number")
	mustHaveSize("vast: shared.New", typ)
	s, err := w.registerShared(typ.Name(), typ, numbers)
	if err != nil {
		panic(err)
	}
	return Column[uint32]{s.c.base, s.c}, s.table
}

func mustHaveSize(what string, typ reflect.Type) {
	if typ.Size() == 0 {
		panic(fmt.Sprintf("%s: %s has no size, so all its values are equal: use a Tag", what, typ))
	}
}

// Cells returns the memory of a column.
func (sharings) Cells(col AnyColumn) sharing.Cells {
	c := col.column()
	return sharing.Cells{Base: c.base, Words: c.words, Slots: &c.slots}
}

// Tracked reports whether the column has trackers.
func (sharings) Tracked(col AnyColumn) bool { return col.column().tracked }

// Record records a command that adds or sets the component of e, and returns the place for the value.
func (sharings) Record(cs *Commands, col AnyColumn, add bool, e Entity, bytes uintptr) unsafe.Pointer {
	kind := commandSet
	if add {
		kind = commandAdd
	}
	return cs.recordFor(col.column(), kind, e, bytes)
}

// WorldOf returns the world of a column or of a relation. It panics if col is the zero Relation, if the world
// is closed, or if the query belongs to another world.
func (sharings) WorldOf(method string, q Query, col AnyColumn) *World {
	c := col.column()
	if c == nil {
		panic(fmt.Sprintf("vast: %s: the relation was not made with NewRelation", method))
	}
	var k walk
	c.world.startAll(method, q, &k)
	return c.world
}

// RunOf returns a run of a world.
func (sharings) RunOf(w *World, p sharing.Piece) Run {
	return Run{start: p.Start, n: p.Len, world: w}
}

// PanicChanged panics after the structure has changed in a loop, which doing describes.
func (sharings) PanicChanged(w *World, doing string) { w.changedWhile(doing) }
