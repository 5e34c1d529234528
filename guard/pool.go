package guard

import (
	"fmt"
	"iter"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// Pool is like a [bulk.Pool], but each element has its own block of an [Allocator]. Using a pointer after its
// element was removed faults, and so does an access past the element's end. A Pool has the methods, the
// handles and the slot order of a bulk.Pool. Changing one line of a program replaces a bulk.Pool by a Pool.
// The program then behaves as with the bulk.Pool until it faults.
//
// Four things differ. An element costs pages, system calls and mappings (see [Options]). The allocator's
// capacity also bounds the number of elements. Each run of [Pool.Runs] has one element. Accessing a slice
// from Runs faults after its element is removed.
//
// One goroutine may change a pool at a time, as with a bulk.Pool.
type Pool[T any] struct {
	cells *bulk.Pool[cell]
	a     *Allocator
	owned bool     // the allocator is the pool's own
	spare []*block // committed by Grow
	name  string
	most  int    // number of elements that the budget allows; 0: any number
	bytes int    // the budget, Options.MaxBytes
	found *Fault // damage that Close found
}

// cell is the entry of an element in the pool's table of handles: the first page of the element's block.
type cell struct{ page int }

// exchangeable has the methods of all pools, so that a pool of this package can replace a bulk.Pool.
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

// NewPool makes an empty pool with an allocator of its own. The allocator has the defaults of [Options], and
// more addresses if the elements are large. The allocator's capacity also bounds the pool: at most 16,384
// elements live at a time, even if o.Capacity is larger. o.Step is ignored.
//
// It returns an error as [vm.Reserve] does, and panics when T holds Go pointers or an option is negative.
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

// NewPoolIn makes an empty pool whose elements are blocks of a. The allocator must stay open as long as the
// pool. NewPoolIn fails as [NewPool] does.
func NewPoolIn[T any](a *Allocator, o bulk.Options) (*Pool[T], error) {
	layout.Check[T]("guard: NewPool")
	if o.Capacity < 0 || o.MaxBytes < 0 {
		panic(fmt.Sprintf("guard: NewPool[%s]: Options.Capacity is %d, Options.MaxBytes is %d: leave them "+
			"zero for the default",
			layout.Name[T](), o.Capacity, o.MaxBytes))
	}
	p := &Pool[T]{a: a, name: nameOf[T]("Pool", o), bytes: o.MaxBytes}
	if o.MaxBytes > 0 {
		// MaxBytes counts the bytes of the elements, not those of their pages, so that it allows as many
		// elements as in a bulk.Pool.
		p.most = o.MaxBytes / layout.Size[T]()
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

// cellOf and handleOf convert between handles of elements and handles of cells. An element and its cell have
// the same slot and generation.

func cellOf[T any](h bulk.Handle[T]) bulk.Handle[cell] {
	return bulk.HandleOf[cell](h.ID())
}

func handleOf[T any](h bulk.Handle[cell]) bulk.Handle[T] {
	return bulk.HandleOf[T](h.ID())
}

// element returns the element of a cell. The conversion is sound because the block was made for a T, which
// holds no Go pointers, and lives as long as the cell.
func (p *Pool[T]) element(c *cell) *T {
	var v T
	return (*T)(unsafe.Add(p.a.base, p.a.place(c.page, int(unsafe.Sizeof(v)), int(unsafe.Alignof(v)))))
}

// Insert puts v into the lowest free slot and returns its handle and its address. If there is no room, Insert
// panics with the [*vm.Error] that [Pool.Grow] would return; then the pool is unchanged. Complexity: a system
// call, a page fault, and the recording of the call stack.
func (p *Pool[T]) Insert(v T) (bulk.Handle[T], *T) {
	h, e, err := p.insert(v)
	if err != nil {
		panic(err)
	}
	return h, e
}

// InsertZero is [Pool.Insert] of a zero element, whose fields the caller sets.
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

// Remove removes the element of h and reports whether h was valid. It panics with a [*Fault] if bytes around
// the element were overwritten; the element is removed nevertheless. It panics with an [*vm.Error] as
// [Allocator.Free] does; then the element is still live.
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

// Runs yields each live element as a run of one: its slot and a slice. The order is ascending by slot. The
// body may remove elements, and must not touch the slice of a removed element.
func (p *Pool[T]) Runs() iter.Seq2[int, []T] {
	return func(yield func(int, []T) bool) {
		for h, c := range p.cells.All() {
			if !yield(int(h.Slot()), unsafe.Slice(p.element(c), 1)) {
				return
			}
		}
	}
}

// All yields the live elements with their handles in ascending order of slots. The body may remove elements,
// which are then not yielded. Elements that the body inserts may or may not be yielded.
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
// slots; f must not change the pool. If f panics, nothing is removed. Clear panics at an element where
// [Pool.Remove] panics; then all elements before that element are gone.
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

// Check looks for overwritten bytes around the elements, as [Allocator.Check] does.
func (p *Pool[T]) Check() error { return p.a.Check() }
