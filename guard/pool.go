package guard

import (
	"fmt"
	"iter"
	"math"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// Pool is a [bulk.Pool] in which each element has its own block of an [Allocator]. An access to a removed
// element faults, and so does an access past an element's end; the package documentation lists the
// exceptions. A Pool has the methods, the handles and the slot order of a bulk.Pool, so that it can replace a
// bulk.Pool in a program.
//
// A Pool differs from a bulk.Pool in costs and limits. An element costs pages, system calls and mappings (see
// [Options]). The allocator's capacity also bounds the number of elements. Each run of [Pool.Runs] has one
// element.
//
// The rules for concurrent use are those of a bulk.Pool.
type Pool[T any] struct {
	cells       *bulk.Pool[cell]
	a           *Allocator
	owned       bool     // Close closes the allocator
	spare       []*block // committed by Grow
	name        string
	maxElements int    // number of elements that Options.MaxBytes allows
	maxBytes    int    // Options.MaxBytes
	found       *Fault // damage that Close found
}

// cell records the block of one element by the block's first page.
type cell struct{ page int }

// exchangeable has the methods of all pools. A pool with these methods can replace a bulk.Pool.
type exchangeable[T any] interface {
	Insert(v T) (bulk.Handle[T], *T)
	InsertZero() (bulk.Handle[T], *T)
	Remove(h bulk.Handle[T]) bool
	Valid(h bulk.Handle[T]) bool
	Get(h bulk.Handle[T]) *T
	Len() int
	All() iter.Seq2[bulk.Handle[T], *T]
	Runs() iter.Seq2[int, []T]
	Grow(n int) error
	Clear(f func(bulk.Handle[T], *T))
	Trim() error
	Reserved() int
	Committed() int
	Resident() (int, error)
	Close() error
}

var (
	_ exchangeable[int] = (*bulk.Pool[int])(nil)
	_ exchangeable[int] = (*Pool[int])(nil)
	_ exchangeable[int] = (*SampledPool[int])(nil)
)

// NewPool makes an empty pool with an allocator of its own. The allocator uses o.Name, o.Limit and o.Pages,
// and otherwise the defaults of [Options]. It has more addresses if the elements are large. At most 16,384
// elements, the allocator's capacity, live at a time, even if o.Capacity is larger. NewPool ignores o.Step.
//
// It returns an error as [vm.Reserve] does. It panics when T holds Go pointers, and when o.Capacity or
// o.MaxBytes is negative.
func NewPool[T any](o bulk.Options) (*Pool[T], error) {
	layout.Check[T]("guard: NewPool")
	g := Options{Name: nameOf[T]("Pool", o), Limit: o.Limit, Pages: o.Pages}.withDefaults()
	if !standsIn(g.Pages) {
		page := vm.PageSize()
		pages := (layout.Size[T]()+page-1)/page + 1
		live := g.Capacity
		if o.Capacity > 0 {
			live = min(live, o.Capacity)
		}
		g.Addresses = max(g.Addresses, 2*pages*page*live)
	}
	a, err := NewAllocator(g)
	if err != nil {
		return nil, err
	}
	p, err := NewPoolIn[T](a, o)
	if err != nil {
		_ = a.Close()
		return nil, err
	}
	p.owned = true
	return p, nil
}

// NewPoolIn makes an empty pool whose elements are blocks of the allocator a. The allocator must stay open as
// long as the pool. NewPoolIn returns an error or panics as [NewPool] does.
func NewPoolIn[T any](a *Allocator, o bulk.Options) (*Pool[T], error) {
	layout.Check[T]("guard: NewPool")
	if o.Capacity < 0 || o.MaxBytes < 0 {
		panic(fmt.Sprintf("guard: NewPool[%s]: Options.Capacity is %d, Options.MaxBytes is %d: leave them "+
			"zero for the default",
			layout.Name[T](), o.Capacity, o.MaxBytes))
	}
	p := &Pool[T]{a: a, name: nameOf[T]("Pool", o), maxBytes: o.MaxBytes, maxElements: math.MaxInt}
	if o.MaxBytes > 0 {
		// MaxBytes limits the bytes of the elements, not the bytes of their pages. So the Pool may have as
		// many elements as a bulk.Pool with the same MaxBytes.
		p.maxElements = o.MaxBytes / layout.Size[T]()
	}
	if o.Capacity == 0 {
		o.Capacity = a.o.Capacity
	}
	var err error
	p.cells, err = bulk.NewPool[cell](bulk.Options{Name: p.name, Capacity: o.Capacity, Limit: o.Limit,
		Pages: o.Pages})
	return p, err
}

func nameOf[T any](kind string, o bulk.Options) string {
	if o.Name != "" {
		return o.Name
	}
	return "guard." + kind + "[" + layout.Name[T]() + "]"
}

// cellOf converts the handle of an element to the handle of its cell. The two handles have the same slot and
// generation.
func cellOf[T any](h bulk.Handle[T]) bulk.Handle[cell] {
	return bulk.HandleOf[cell](h.ID())
}

func handleOf[T any](h bulk.Handle[cell]) bulk.Handle[T] {
	return bulk.HandleOf[T](h.ID())
}

// element returns the element of a cell. The conversion is sound: the block has the size and the alignment of
// T, T holds no Go pointers, and the block lives as long as the cell.
func (p *Pool[T]) element(c *cell) *T {
	var v T
	return (*T)(unsafe.Add(p.a.base, p.a.place(c.page, int(unsafe.Sizeof(v)), int(unsafe.Alignof(v)))))
}

// Insert puts v into the lowest free slot and returns the element's handle and address. If there is no room,
// Insert panics with the [*vm.Error] that [Pool.Grow] would return, and the pool is unchanged. Complexity: a
// system call, a page fault, and the recording of the call stack.
func (p *Pool[T]) Insert(v T) (bulk.Handle[T], *T) {
	h, e, err := p.insert(v)
	if err != nil {
		panic(err)
	}
	return h, e
}

// InsertZero is [Pool.Insert] of a zero element. The caller sets the fields.
func (p *Pool[T]) InsertZero() (bulk.Handle[T], *T) {
	var zero T
	return p.Insert(zero)
}

func (p *Pool[T]) insert(v T) (bulk.Handle[T], *T, error) {
	if err := p.makeRoom("insert", 1); err != nil {
		return bulk.Handle[T]{}, nil, err
	}
	b := p.spare[len(p.spare)-1]
	p.spare = p.spare[:len(p.spare)-1]
	p.a.useSpare(b, kind{layout.Name[T](), -1})
	h, c := p.cells.Insert(cell{b.page})
	e := p.element(c)
	*e = v
	return handleOf[T](h), e, nil
}

// Remove removes the element of h and reports whether h was valid. If bytes around the element were
// overwritten, Remove removes the element and then panics with a [*Fault]. If Remove panics with an
// [*vm.Error], as [Allocator.Free] does, the element is still live.
func (p *Pool[T]) Remove(h bulk.Handle[T]) bool {
	c := p.cells.Get(cellOf(h))
	if c == nil {
		return false
	}
	f, err := p.a.release(c.page)
	if err != nil {
		panic(err)
	}
	p.cells.Remove(cellOf(h))
	if f != nil {
		panic(f)
	}
	return true
}

// Valid reports whether the element of h is live. Complexity: constant.
func (p *Pool[T]) Valid(h bulk.Handle[T]) bool { return p.cells.Valid(cellOf(h)) }

// Get returns the address of the element of h, or nil if the element is gone or h belongs to another pool.
// Complexity: constant.
func (p *Pool[T]) Get(h bulk.Handle[T]) *T {
	c := p.cells.Get(cellOf(h))
	if c == nil {
		return nil
	}
	return p.element(c)
}

// Len returns the number of live elements; 0 after Close.
func (p *Pool[T]) Len() int { return p.cells.Len() }

// Runs yields each live element as a run of one element: its slot and a slice. The order is ascending by
// slot. The body of the loop may remove elements, and must not access the slice of a removed element.
func (p *Pool[T]) Runs() iter.Seq2[int, []T] {
	return func(yield func(int, []T) bool) {
		for h, c := range p.cells.All() {
			if !yield(int(h.Slot()), unsafe.Slice(p.element(c), 1)) {
				return
			}
		}
	}
}

// All yields the live elements with their handles in ascending order of slots. The body of the loop may
// remove and insert elements. All does not yield removed elements. It may yield inserted elements.
func (p *Pool[T]) All() iter.Seq2[bulk.Handle[T], *T] {
	return func(yield func(bulk.Handle[T], *T) bool) {
		for h, c := range p.cells.All() {
			if !yield(handleOf[T](h), p.element(c)) {
				return
			}
		}
	}
}

// Clear removes all elements. If f is not nil, Clear first calls f for each element in ascending order of
// slots. f must not change the pool. If f panics, Clear removes nothing. Clear panics at an element where
// [Pool.Remove] panics, after the removal of all elements before it.
func (p *Pool[T]) Clear(f func(bulk.Handle[T], *T)) {
	if f != nil {
		for h, e := range p.All() {
			f(h, e)
		}
	}
	for h := range p.All() {
		p.Remove(h)
	}
	p.cells.Clear(nil)
}

// Check calls [Allocator.Check] of the pool's allocator. It checks all blocks of the allocator, so it also
// finds damage to the blocks of other users.
func (p *Pool[T]) Check() error { return p.a.Check() }
