package metamorphic

import (
	"sync"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/shared"
)

// Column is a column of numbers, with any storage.
type Column interface {
	// In returns the column itself, for queries and archetypes.
	In() vast.AnyColumn
	Get(e vast.Entity) (uint64, bool)
	Has(e vast.Entity) bool
	Add(e vast.Entity, v uint64) bool
	Set(e vast.Entity, v uint64) bool
	Edit(e vast.Entity, f func(uint64) uint64) bool
	Remove(e vast.Entity) bool
	AddAll(q vast.Query, v uint64) int
	SetAll(q vast.Query, v uint64) int
	RemoveAll(q vast.Query) int
	AddLater(cs *vast.Commands, e vast.Entity, v uint64)
	SetLater(cs *vast.Commands, e vast.Entity, v uint64)
	RemoveLater(cs *vast.Commands, e vast.Entity)
	Len() int
	Hook(add, remove func(e vast.Entity, v uint64))
}

// element holds a number twice, so that a torn write is detected.
type element struct{ v, again uint64 }

func elementOf(v uint64) element { return element{v, v} }

func (e *element) number() uint64 {
	if e.again != e.v {
		panic("metamorphic: a torn element")
	}
	return e.v
}

// stored has the methods that all columns of package vast have in common. A column of package shared has
// other methods: see sharedColumn.
type stored interface {
	vast.ValueColumn[element]
	Has(vast.Entity) bool
	Add(vast.Entity, element) *element
	Set(vast.Entity, element) bool
	Edit(vast.Entity) *element
	Remove(vast.Entity) bool
	AddAll(vast.Query, element) int
	SetAll(vast.Query, element) int
	RemoveAll(vast.Query) int
	AddLater(*vast.Commands, vast.Entity, element)
	SetLater(*vast.Commands, vast.Entity, element)
	RemoveLater(*vast.Commands, vast.Entity)
	OnAdd(func(vast.Entity, *element))
	OnRemove(func(vast.Entity, *element))
	Len() int
}

type column struct{ s stored }

// NewColumn registers a column with the given storage.
func NewColumn(w *vast.World, s probe.Storage, name string) Column {
	switch s {
	case probe.StorageSparse:
		return column{vast.NewSparseColumn[element](w).Named(name)}
	case probe.StorageHeap:
		return column{vast.NewHeapColumn[element](w).Named(name)}
	case probe.StorageShared:
		return &sharedColumn{Column: shared.New[element](w).Named(name)}
	}
	return column{vast.NewColumn[element](w).Named(name)}
}

func (c column) In() vast.AnyColumn { return c.s }

func (c column) Get(e vast.Entity) (uint64, bool) {
	if p := c.s.Get(e); p != nil {
		return p.number(), true
	}
	return 0, false
}

func (c column) Edit(e vast.Entity, f func(uint64) uint64) bool {
	p := c.s.Edit(e)
	if p != nil {
		*p = elementOf(f(p.number()))
	}
	return p != nil
}

func (c column) Has(e vast.Entity) bool                       { return c.s.Has(e) }
func (c column) Add(e vast.Entity, v uint64) bool             { return c.s.Add(e, elementOf(v)) != nil }
func (c column) Set(e vast.Entity, v uint64) bool             { return c.s.Set(e, elementOf(v)) }
func (c column) Remove(e vast.Entity) bool                    { return c.s.Remove(e) }
func (c column) AddAll(q vast.Query, v uint64) int            { return c.s.AddAll(q, elementOf(v)) }
func (c column) SetAll(q vast.Query, v uint64) int            { return c.s.SetAll(q, elementOf(v)) }
func (c column) RemoveAll(q vast.Query) int                   { return c.s.RemoveAll(q) }
func (c column) RemoveLater(cs *vast.Commands, e vast.Entity) { c.s.RemoveLater(cs, e) }
func (c column) Len() int                                     { return c.s.Len() }

func (c column) AddLater(cs *vast.Commands, e vast.Entity, v uint64) {
	c.s.AddLater(cs, e, elementOf(v))
}
func (c column) SetLater(cs *vast.Commands, e vast.Entity, v uint64) {
	c.s.SetLater(cs, e, elementOf(v))
}

func (c column) Hook(add, remove func(e vast.Entity, v uint64)) {
	c.s.OnAdd(func(e vast.Entity, p *element) { add(e, p.number()) })
	c.s.OnRemove(func(e vast.Entity, p *element) { remove(e, p.number()) })
}

// sharedColumn is a column of package shared.
type sharedColumn struct {
	shared.Column[element]
	editing sync.Mutex // held during Edit: a goroutine that stores a new value must be alone in the column
}

func (c *sharedColumn) In() vast.AnyColumn { return c.Column }

func (c *sharedColumn) Get(e vast.Entity) (uint64, bool) {
	v, ok := c.Column.Get(e)
	return v.number(), ok
}

func (c *sharedColumn) Edit(e vast.Entity, f func(uint64) uint64) bool {
	c.editing.Lock()
	defer c.editing.Unlock()
	v, ok := c.Get(e)
	return ok && c.Set(e, f(v))
}

func (c *sharedColumn) Add(e vast.Entity, v uint64) bool  { return c.Column.Add(e, elementOf(v)) }
func (c *sharedColumn) Set(e vast.Entity, v uint64) bool  { return c.Column.Set(e, elementOf(v)) }
func (c *sharedColumn) AddAll(q vast.Query, v uint64) int { return c.Column.AddAll(q, elementOf(v)) }
func (c *sharedColumn) SetAll(q vast.Query, v uint64) int { return c.Column.SetAll(q, elementOf(v)) }

func (c *sharedColumn) AddLater(cs *vast.Commands, e vast.Entity, v uint64) {
	c.Column.AddLater(cs, e, elementOf(v))
}

func (c *sharedColumn) SetLater(cs *vast.Commands, e vast.Entity, v uint64) {
	c.Column.SetLater(cs, e, elementOf(v))
}

func (c *sharedColumn) Hook(add, remove func(e vast.Entity, v uint64)) {
	c.OnAdd(func(e vast.Entity, v element) { add(e, v.number()) })
	c.OnRemove(func(e vast.Entity, v element) { remove(e, v.number()) })
}
