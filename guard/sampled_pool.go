package guard

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/internal/outside"
	"github.com/vastgo/vast/vm"
)

// SampledPoolOptions configure a sampled pool. The zero value works.
type SampledPoolOptions struct {
	// Options configure the [bulk.Pool] of the unguarded elements. Name, Limit and Pages apply to the guarded
	// elements too.
	bulk.Options
	// Every is the average number of insertions per guarded element. Default: 1000.
	Every int
	// Slots is the largest number of live guarded elements. Default: 16, as in LLVM's GWP-ASan.
	Slots int
	// Quarantine is the number of removed guarded elements whose addresses are not reused yet. An access to
	// such an element through a stale pointer faults. Default: 16 times Slots.
	Quarantine int
}

// SampledPool is a [bulk.Pool] that guards some elements, chosen at random, as [Pool] guards all elements. It
// is meant for production: in many programs that run for a long time, it finds bugs that tests miss, at a
// negligible cost. The method is GWP-ASan (see the package documentation).
//
// Unguarded elements are in the bulk.Pool. Looking them up, removing them and iterating over them costs as
// much as in a bulk.Pool. An insertion also costs the sampler's decision. If an element cannot be guarded,
// Insert puts the element into the bulk.Pool.
//
// Guarded elements have slots from Options.Capacity on. All and Runs yield them after the unguarded elements.
// SampledPoolOptions.Slots limits their number, and Options.Capacity and Options.MaxBytes do not.
//
// The rules for concurrent use are those of a bulk.Pool.
type SampledPool[T any] struct {
	plain[T] // embedded by value: a pointer would add a load to each look-up
	sampler  Sampler
	guarded  *Pool[T]
	slots    int    // the largest number of guarded elements
	first    uint32 // the slot of the first guarded element
	found    *Fault // damage that Close found
}

// plain is the pool of the unguarded elements. The alias keeps the embedded field unexported.
type plain[T any] = bulk.Pool[T]

// NewSampledPool makes an empty pool. It returns an error as [vm.Reserve] does. It panics when T holds Go
// pointers, when an option is negative, or when Options.Capacity leaves too few slots for guarded elements.
func NewSampledPool[T any](o SampledPoolOptions) (*SampledPool[T], error) {
	layout.Check[T]("guard: NewSampledPool")
	if o.Every < 0 || o.Slots < 0 || o.Quarantine < 0 {
		panic(fmt.Sprintf("guard: NewSampledPool[%s]: Every is %d, Slots is %d and Quarantine is %d: leave "+
			"zero for the default",
			layout.Name[T](), o.Every, o.Slots, o.Quarantine))
	}
	if o.Every == 0 {
		o.Every = 1000
	}
	if o.Slots == 0 {
		o.Slots = 16
	}
	if o.Quarantine == 0 {
		o.Quarantine = 16 * o.Slots
	}
	o.Name = nameOf[T]("SampledPool", o.Options)
	p, err := bulk.NewPool[T](o.Options)
	if err != nil {
		return nil, err
	}
	pages := pagesOf(layout.Size[T]()) + 1
	a, err := NewAllocator(Options{Name: o.Name, Capacity: o.Slots, Limit: o.Limit, Pages: o.Pages,
		Addresses: (1 + (o.Slots+o.Quarantine)*pages) * vm.PageSize()})
	if err != nil {
		_ = p.Close()
		return nil, err
	}
	g, err := NewPoolIn[T](a, bulk.Options{Name: o.Name, Limit: o.Limit, Pages: o.Pages})
	if err != nil {
		_, _ = a.Close(), p.Close()
		return nil, err
	}
	g.owned = true
	// An empty pool may be copied.
	sampled := &SampledPool[T]{plain: *p, sampler: NewSampler(o.Every), guarded: g, slots: o.Slots}
	first := outside.Keep(&sampled.plain, (*outsidePool[T])(sampled))
	if uint64(first)+uint64(o.Slots) > math.MaxUint32 {
		_, _ = g.Close(), sampled.plain.Close()
		panic(fmt.Sprintf("guard: NewSampledPool[%s]: Options.Capacity is %d: leave %d handles for guarded "+
			"elements", layout.Name[T](),
			first, o.Slots))
	}
	sampled.first = uint32(first)
	return sampled, nil
}

// outsidePool gives the plain pool access to the guarded elements. The plain pool calls it for each handle
// whose slot has no memory in the plain pool. If the slot is below first, the subtraction of first wraps
// around to a slot that no guarded element has.
type outsidePool[T any] SampledPool[T]

func (p *outsidePool[T]) Get(h bulk.Handle[T]) *T {
	return p.guarded.Get(bulk.HandleOf[T](h.ID() - uint64(p.first)))
}

func (p *outsidePool[T]) Remove(h bulk.Handle[T]) bool {
	return p.guarded.Remove(bulk.HandleOf[T](h.ID() - uint64(p.first)))
}

func (p *SampledPool[T]) handle(guarded bulk.Handle[T]) bulk.Handle[T] {
	return bulk.HandleOf[T](guarded.ID() + uint64(p.first))
}

// Insert is [bulk.Pool.Insert], or [Pool.Insert] for a guarded element.
func (p *SampledPool[T]) Insert(v T) (bulk.Handle[T], *T) {
	// Sampler.Sample is inlined by hand: a call on the fast path would move v out of its registers.
	if p.sampler.left--; p.sampler.left != 0 {
		return p.plain.Insert(v)
	}
	return p.insertPicked(v)
}

// InsertZero is [bulk.Pool.InsertZero], or [Pool.InsertZero] for a guarded element.
func (p *SampledPool[T]) InsertZero() (bulk.Handle[T], *T) {
	if p.sampler.left--; p.sampler.left != 0 {
		return p.plain.InsertZero()
	}
	var zero T
	return p.insertPicked(zero)
}

// insertPicked inserts an element that the sampler has picked. It guards the element if possible.
//
//go:noinline
func (p *SampledPool[T]) insertPicked(v T) (bulk.Handle[T], *T) {
	if p.sampler.draw() && p.guarded.Len() < p.slots {
		if h, e, err := p.guarded.insert(v); err == nil {
			return p.handle(h), e
		}
	}
	return p.plain.Insert(v)
}

// Guarded returns the number of live guarded elements.
func (p *SampledPool[T]) Guarded() int { return p.guarded.Len() }

// Len returns the number of live elements; 0 after Close.
func (p *SampledPool[T]) Len() int { return p.plain.Len() + p.guarded.Len() }

// Runs yields the unguarded elements as [bulk.Pool.Runs] does, and then the guarded elements as [Pool.Runs]
// does.
func (p *SampledPool[T]) Runs() iter.Seq2[int, []T] {
	return func(yield func(int, []T) bool) {
		for first, run := range p.plain.Runs() {
			if !yield(first, run) {
				return
			}
		}
		for first, run := range p.guarded.Runs() {
			if !yield(int(p.first)+first, run) {
				return
			}
		}
	}
}

// All yields the unguarded elements as [bulk.Pool.All] does, and then the guarded elements as [Pool.All]
// does.
func (p *SampledPool[T]) All() iter.Seq2[bulk.Handle[T], *T] {
	return func(yield func(bulk.Handle[T], *T) bool) {
		for h, e := range p.plain.All() {
			if !yield(h, e) {
				return
			}
		}
		for h, e := range p.guarded.All() {
			if !yield(p.handle(h), e) {
				return
			}
		}
	}
}

// Clear removes all elements as [bulk.Pool.Clear] and [Pool.Clear] do.
func (p *SampledPool[T]) Clear(f func(bulk.Handle[T], *T)) {
	if f != nil {
		for h, e := range p.All() {
			f(h, e)
		}
	}
	p.plain.Clear(nil)
	p.guarded.Clear(nil)
}

// Reserved returns the number of bytes of addresses that the pool takes; 0 after Close.
func (p *SampledPool[T]) Reserved() int { return p.plain.Reserved() + p.guarded.Reserved() }

// Committed returns the number of bytes of memory that the pool may touch; 0 after Close.
func (p *SampledPool[T]) Committed() int { return p.plain.Committed() + p.guarded.Committed() }

// Resident returns how many bytes of the pool are in physical memory. It queries the operating system; see
// [vm.Region.Resident].
func (p *SampledPool[T]) Resident() (int, error) {
	bytes, err := p.plain.Resident()
	if err != nil {
		return bytes, err
	}
	guarded, err := p.guarded.Resident()
	return bytes + guarded, err
}

// Check looks for overwritten bytes around the guarded elements, as [Allocator.Check] does.
func (p *SampledPool[T]) Check() error { return p.guarded.Check() }

// Close gives the memory and the addresses back. The elements must not be used afterwards. The methods of the
// pool then panic, except Len, Guarded and those that count bytes. Closing a closed pool does nothing. Close
// returns an error as [Pool.Close] does.
func (p *SampledPool[T]) Close() error {
	if err := p.guarded.Close(); err != nil && !errors.As(err, &p.found) {
		return err
	}
	if err := p.plain.Close(); err != nil {
		return err
	}
	// If an earlier Close closed guarded but not plain, guarded.Close has returned nil now, and p.found still
	// has the damage that the earlier Close found.
	if f := p.found; f != nil {
		p.found = nil
		return f
	}
	return nil
}
