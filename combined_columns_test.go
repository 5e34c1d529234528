package vast

import (
	"fmt"
	"iter"
	"strconv"

	"github.com/vastgo/vast/internal/probing"
)

// combinedColumn is a column of any storage. Its functions convert each element from and to a number.
type combinedColumn struct {
	AnyColumn
	tag          bool
	get          func(Entity) (uint64, bool)
	add          func(Entity, uint64) bool
	set          func(Entity, uint64) bool
	edit         func(Entity, uint64) bool
	remove       func(Entity) bool
	addAll       func(Query, uint64) int
	setAll       func(Query, uint64) int // nil for a tag
	removeAll    func(Query) int
	addLater     func(*Commands, Entity, uint64)
	setLater     func(*Commands, Entity, uint64) // nil for a tag
	removeLater  func(*Commands, Entity)
	in           func(Run) bool
	hook         func(add, remove func(Entity))
	grow         func() error
	editRun      func(Run, uint64)  // nil for storages without slices
	slice        func(Run) []uint64 // nil for storages without slices
	count        func() int
	all          iter.Seq2[Entity, uint64] // nil except for StorageSparse
	cut          func(uint64) uint64       // converts a number to the column's type and back
	writtenByAdd bool                      // whether Add writes a component that exists
}

// valued has the methods of all columns with values.
type valued[T any] interface {
	ValueColumn[T]
	Has(Entity) bool
	Add(Entity, T) *T
	Set(Entity, T) bool
	Edit(Entity) *T
	Remove(Entity) bool
	AddAll(Query, T) int
	SetAll(Query, T) int
	RemoveAll(Query) int
	AddLater(*Commands, Entity, T)
	SetLater(*Commands, Entity, T)
	RemoveLater(*Commands, Entity)
	OnAdd(func(Entity, *T))
	OnRemove(func(Entity, *T))
	Len() int
}

// combinedOf returns the combinedColumn of a column. decode converts a number to a component, and encode
// converts a component to a number.
func combinedOf[T comparable](c valued[T], decode func(uint64) T, encode func(T) uint64) combinedColumn {
	return combinedColumn{
		AnyColumn: c, writtenByAdd: true, count: c.Len, remove: c.Remove, removeAll: c.RemoveAll,
		removeLater: c.RemoveLater,
		cut:         func(v uint64) uint64 { return encode(decode(v)) },
		get: func(e Entity) (uint64, bool) {
			p := c.Get(e)
			if (p != nil) != c.Has(e) {
				return mixed, false
			}
			if p == nil {
				return 0, false
			}
			return encode(*p), true
		},
		add: func(e Entity, v uint64) bool { p := c.Add(e, decode(v)); return p != nil && *p == decode(v) },
		set: func(e Entity, v uint64) bool { return c.Set(e, decode(v)) },
		edit: func(e Entity, v uint64) bool {
			p := c.Edit(e)
			if p != nil {
				*p = decode(v)
			}
			return p != nil
		},
		addAll:   func(q Query, v uint64) int { return c.AddAll(q, decode(v)) },
		setAll:   func(q Query, v uint64) int { return c.SetAll(q, decode(v)) },
		addLater: func(cs *Commands, e Entity, v uint64) { c.AddLater(cs, e, decode(v)) },
		setLater: func(cs *Commands, e Entity, v uint64) { c.SetLater(cs, e, decode(v)) },
		hook: func(add, remove func(Entity)) {
			c.OnAdd(func(e Entity, _ *T) { add(e) })
			c.OnRemove(func(e Entity, _ *T) { remove(e) })
		},
	}
}

func combinedStored[T comparable](
	m *combinedModel, name string, s probing.Storage, decode func(uint64) T, encode func(T) uint64,
) combinedColumn {
	switch s {
	case probing.StorageSparse:
		return combinedSparse(m, name, decode, encode)
	case probing.StorageHeap:
		return combinedHeap(m, name, decode, encode)
	}
	return combinedDense(m, name, decode, encode)
}

func combinedSparse[T comparable](
	m *combinedModel, name string, decode func(uint64) T, encode func(T) uint64,
) combinedColumn {
	col := made(m, func() SparseColumn[T] { return NewSparseColumn[T](m.world).Named(name) })
	c := combinedOf(col, decode, encode)
	c.in, c.grow = col.In, func() error { return col.Grow(3) }
	c.all = func(yield func(Entity, uint64) bool) {
		for e, v := range col.All() {
			if !yield(e, encode(*v)) {
				return
			}
		}
	}
	return c
}

func combinedHeap[T comparable](
	m *combinedModel, name string, decode func(uint64) T, encode func(T) uint64,
) combinedColumn {
	col := made(m, func() HeapColumn[T] { return NewHeapColumn[T](m.world).Named(name) })
	c := combinedOf(col, decode, encode)
	c.in, c.grow = col.In, func() error { return col.Grow(3) }
	return c
}

func combinedDense[T comparable](
	m *combinedModel, name string, decode func(uint64) T, encode func(T) uint64,
) combinedColumn {
	col := made(m, func() Column[T] { return NewColumn[T](m.world).Named(name) })
	c := combinedOf(col, decode, encode)
	c.in = func(r Run) bool { return len(col.TrySlice(r)) == r.Len() }
	c.grow = func() error { return col.Grow(3) }
	c.editRun = func(r Run, v uint64) {
		for i := range col.EditRun(r) {
			col.EditRun(r)[i] = decode(v)
		}
	}
	c.slice = func(r Run) (vs []uint64) {
		for _, v := range col.Slice(r) {
			vs = append(vs, encode(v))
		}
		return vs
	}
	return c
}

func combinedTag(t Tag) combinedColumn {
	return combinedColumn{
		AnyColumn: t, tag: true, in: t.In, grow: func() error { return t.Grow(3) }, count: t.Len,
		cut:  func(uint64) uint64 { return 0 },
		get:  func(e Entity) (uint64, bool) { return 0, t.Has(e) },
		add:  func(e Entity, _ uint64) bool { return t.Add(e) },
		hook: func(add, remove func(Entity)) { t.OnAdd(add); t.OnRemove(remove) },
		// A tag has no value, so set and edit write nothing.
		set:    func(e Entity, _ uint64) bool { return t.Has(e) },
		edit:   func(e Entity, _ uint64) bool { return t.Has(e) },
		remove: t.Remove, removeAll: t.RemoveAll, removeLater: t.RemoveLater,
		addAll:   func(q Query, _ uint64) int { return t.AddAll(q) },
		addLater: func(cs *Commands, e Entity, _ uint64) { t.AddLater(cs, e) },
	}
}

// The columns of the combined model have these numbers. A target column follows its relation or edges.
const (
	combinedValues = 6                 // the number of columns of components, including the tag
	combinedLinks  = combinedValues    // the first relation
	combinedRoads  = combinedLinks + 6 // the edges
	combinedOff    = combinedRoads + 2 // the first Disabled: see combinedSwitched
	combinedCount  = combinedOff + 3   // the number of all columns
)

func number64(v uint64) uint64 { return v }

func combinedColumns(m *combinedModel, s probing.Storage) []combinedColumn {
	return []combinedColumn{
		combinedStored(m, "number", s, number64, number64),
		combinedStored(m, "wide", s, func(v uint64) [3]uint64 { return [3]uint64{v, v, v} },
			func(t [3]uint64) uint64 {
				if t[0] != t[1] || t[0] != t[2] {
					return mixed
				}
				return t[0]
			}),
		combinedTag(made(m, func() Tag { return NewTag(m.world, "tag") })),
		combinedSparse(m, "rare", number64, number64),
		combinedHeap(m, "text", func(v uint64) string { return fmt.Sprint(v) },
			func(t string) uint64 {
				v, _ := strconv.ParseUint(t, 10, 64) // 0 for the empty string of a zero component
				return v
			}),
		combinedDense(m, "small", func(v uint64) byte { return byte(v) },
			func(t byte) uint64 { return uint64(t) }),
	}
}

// combinedSets holds the column numbers of each archetype.
var combinedSets = [][]int{{}, {0}, {0, 2}, {1, 3}, {0, 1, 4, 5}, {5, 2},
	{0, combinedOff}}
