package guard

import (
	"slices"
	"sync"

	"github.com/vastgo/vast/vm"
)

// registry holds the open allocators of the process.
type registry struct {
	mu  sync.Mutex
	all []*Allocator
}

var open registry

func (r *registry) add(a *Allocator) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, a)
}

func (r *registry) remove(a *Allocator) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = slices.DeleteFunc(r.all, func(other *Allocator) bool { return other == a })
}

func (r *registry) find(p uintptr) *Allocator {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.all {
		if p-uintptr(a.base) < a.size {
			return a
		}
	}
	return nil
}

// Describe reports which block an address belongs to. The address may be a suspected pointer, or come from a
// log or a debugger. Describe returns false if no open allocator owns the address. Fault.At is nil in the
// report. Many goroutines may call Describe at the same time. Complexity: linear in the number of open
// allocators, and in the number of pages from the start of the nearest block below the address.
func Describe(p uintptr) (*Fault, bool) {
	a := open.find(p)
	if a == nil {
		return nil, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.describe(p), true
}

// Explain returns the report about a value that recover has returned. It returns false if the value is
// neither a [*Fault] nor a memory fault at an address of an open allocator. A goroutine can recover a memory
// fault only after [runtime/debug.SetPanicOnFault]. If the deferred function that calls recover also calls
// Explain, Fault.At contains the stack of the access.
func Explain(recovered any) (*Fault, bool) {
	switch r := recovered.(type) {
	case *Fault:
		return r, true
	case interface{ Addr() uintptr }:
		f, ok := Describe(r.Addr())
		if ok {
			f.At = here()
		}
		return f, ok
	}
	return nil, false
}

// explained is the Explain function of the [vm.Label] of every allocator's region.
func explained(p uintptr) error {
	f, ok := Describe(p)
	if !ok {
		return nil
	}
	f.At = here()
	return f
}

// describe is Describe for an address of this allocator. The caller holds the lock.
func (a *Allocator) describe(p uintptr) *Fault {
	offset := int(p - uintptr(a.base))
	page := offset / vm.PageSize()
	b := a.around(page)
	if b != nil && page < b.page+b.pages {
		at := offset - b.start
		switch {
		case b.state == freed:
			return a.report(AfterFree, b, at)
		case b.state == spare:
			return a.wild(p)
		case at < 0:
			return a.report(BeforeStart, b, at)
		case at >= b.size:
			return a.report(PastEnd, b, at)
		}
		return a.report(Nothing, b, at)
	}
	// The address is in a guard page, or in no block. The report is about the nearer block beside it.
	next := a.blocks[page+1]
	if b != nil && b.state == spare {
		b = nil
	}
	if next != nil && next.state == spare {
		next = nil
	}
	switch {
	case b != nil && (next == nil || offset-b.start-b.size < next.start-offset):
		return a.report(PastEnd, b, offset-b.start)
	case next != nil:
		return a.report(BeforeStart, next, offset-next.start)
	}
	return a.wild(p)
}

// around returns the block that the page belongs to, or nil. The guard page behind a block counts as a page
// of the block.
func (a *Allocator) around(page int) *block {
	for first := page; first > 0; first-- {
		if b := a.blocks[first]; b != nil {
			if page <= b.page+b.pages {
				return b
			}
			return nil
		}
	}
	return nil
}

func (a *Allocator) wild(p uintptr) *Fault {
	return &Fault{Kind: Wild, Allocator: a.o.Name, Address: p}
}

// notFreed returns the report about a free of the address p, which is not the address of a live block.
func (a *Allocator) notFreed(p uintptr) *Fault {
	f := &Fault{Kind: ForeignFree, Allocator: a.o.Name, Address: p}
	if p-uintptr(a.base) < a.size {
		switch known := a.describe(p); {
		case known.Kind == Nothing && known.Offset > 0:
			f = known
			f.Kind = InteriorFree
		case known.Kind == AfterFree && known.Distance == 0:
			f = known
			f.Kind = DoubleFree
		}
	}
	f.At = here()
	return f
}

// check returns a report about the damaged block with the lowest address, or nil. A live block is damaged if
// its slack was overwritten. A freed block is damaged if it was written to; check looks for such blocks only
// where accesses to freed blocks do not fault. The caller holds the lock.
func (a *Allocator) check() *Fault {
	var first *block
	var kind Kind
	at := 0
	for _, b := range a.blocks {
		if first != nil && first.page < b.page {
			continue
		}
		if b.state == live {
			if offset, damaged := a.damage(b); damaged {
				first, kind, at = b, Overwritten, offset
			}
		} else if b.state == freed && !a.faults {
			if offset, changed := a.disturbed(b); changed {
				first, kind, at = b, AfterFree, offset
			}
		}
	}
	if first == nil {
		return nil
	}
	return a.report(kind, first, at)
}
