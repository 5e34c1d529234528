package guard

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// Allocator gives every block pages of its own, with an uncommitted guard page before and behind them.
// Freeing a block decommits its pages and keeps their addresses.
//
// Many goroutines may call the methods at the same time.
type Allocator struct {
	region *vm.Region
	base   unsafe.Pointer
	size   uintptr // of the region, bytes
	o      Options
	faults bool // accesses to uncommitted pages fault

	mu             sync.Mutex
	joinable       bool // see makeJoinable
	addresses      addresses
	blocks         map[int]*block // by first page: spare, live and freed blocks
	used           int            // number of spare and live blocks
	live           int
	oldest, newest *block // of the freed blocks
	unchecked      int    // changes since the last checkInvariants
	closing        bool   // Close was called
	found          *Fault // damage that Close found
	closed         bool
}

// NewAllocator makes an allocator without blocks. It reserves addresses and commits no memory.
//
// It returns an error as [vm.Reserve] does, and panics when an option is negative.
func NewAllocator(o Options) (*Allocator, error) {
	o = o.withDefaults()
	r, err := vm.Reserve(o.Addresses, vm.Options{Name: o.Name, Limit: o.Limit, Pages: o.Pages})
	if err != nil {
		return nil, err
	}
	a := &Allocator{
		region: r, base: r.Base(), size: uintptr(r.Size()), o: o, faults: !standsIn(o.Pages),
		addresses: addresses{total: r.Size() / vm.PageSize(), next: 1}, // page 0 guards the first block
		blocks:    make(map[int]*block),
	}
	open.add(a)
	r.Label(0, r.Size(), vm.Label{What: o.Name, Explain: explained})
	return a, nil
}

// Alloc returns the address of a block of size bytes, which are zero. The address is a multiple of align, a
// power of two up to the page size. Free the block with [Allocator.Free].
//
// Alloc returns an [*vm.Error] wrapping [vm.ErrCapacity] if Options.Capacity or Options.Addresses is too
// small, or an error of [vm.Region.Commit]. After an error nothing has changed, except that the oldest freed
// blocks may have left the quarantine. Alloc panics when size is negative or align is invalid. Complexity:
// one system call to make the block and one to free it (on Linux two), a page fault, and the recording of the
// call stack.
func (a *Allocator) Alloc(size, align int) (unsafe.Pointer, error) {
	if size < 0 {
		panic(fmt.Sprintf("guard: Alloc(%d, %d) on %s: a size is zero bytes or more", size, align, a.o.Name))
	}
	if align < 1 || align&(align-1) != 0 || align > vm.PageSize() {
		panic(fmt.Sprintf("guard: Alloc(%d, %d) on %s: an alignment is a power of two from 1 to the page "+
			"size, %d", size, align,
			a.o.Name, vm.PageSize()))
	}
	b, err := a.alloc(size, align, kind{})
	if err != nil {
		return nil, err
	}
	return a.at(b), nil
}

// at returns the address of a block. The conversion is sound while the allocator is open: the region does not
// move.
func (a *Allocator) at(b *block) unsafe.Pointer { return unsafe.Add(a.base, b.start) }

// alloc is Alloc for a valid size and alignment.
//
//go:noinline
func (a *Allocator) alloc(size, align int, what kind) (*block, error) {
	var from calls
	from.record()
	a.mu.Lock()
	defer a.mu.Unlock()
	b, err := a.prepare("alloc", size, align)
	if err != nil {
		return nil, err
	}
	a.makeLive(b, what, from)
	return b, nil
}

// prepare makes a spare block: it allocates addresses and commits their memory.
func (a *Allocator) prepare(op string, size, align int) (*block, error) {
	a.mustBeOpen()
	page := vm.PageSize()
	if size > int(a.size) {
		return nil, a.failed(op, size, fmt.Sprintf("the allocator has %s of addresses for all its "+
			"blocks: raise Options.Addresses", vm.Bytes(int(a.size))))
	}
	if a.used >= a.o.Capacity {
		return nil, a.full(op, size)
	}
	b := &block{size: size, pages: pagesOf(roundedSize(size, align))}
	var ok bool
	for {
		if b.page, ok = a.addresses.take(b.pages + 1); ok || a.oldest == nil {
			break
		}
		a.forgetOldest()
	}
	if !ok {
		return nil, a.failed(op, size, fmt.Sprintf("%d blocks fill the %s of addresses: free some, or "+
			"raise Options.Addresses",
			a.used, vm.Bytes(int(a.size))))
	}
	b.start = a.place(b.page, size, align)
	err := a.makeJoinable()
	if err == nil {
		err = a.region.Commit(b.page*page, b.pages*page)
	}
	if err != nil {
		a.addresses.give(b.page, b.pages+1)
		return nil, err
	}
	if !a.faults {
		for i := range b.pages {
			clear(a.pageOf(b.page + i))
		}
	}
	a.blocks[b.page] = b
	a.used++
	a.changed()
	return b, nil
}

// makeJoinable lets Linux join the pages of freed blocks with their neighbours into one mapping.
//
// A mapping gets a record of its pages (an anon_vma) when the program first touches it. Linux never joins
// mappings that have different records. If each block's mapping got a record of its own, freed blocks would
// stay separate mappings. Parts that are split from one mapping share its record. Before the first block is
// made, makeJoinable therefore commits, touches and decommits the first page, which belongs to no block.
// After this the whole region is one mapping with one record.
func (a *Allocator) makeJoinable() error {
	if a.joinable {
		return nil
	}
	if err := a.region.Commit(0, vm.PageSize()); err != nil {
		return err
	}
	*(*byte)(a.base) = 0
	if err := a.region.Decommit(0, vm.PageSize()); err != nil {
		return err
	}
	a.joinable = true
	return nil
}

// full returns the error for an allocator at its capacity.
func (a *Allocator) full(op string, bytes int) error {
	return a.failed(op, bytes, fmt.Sprintf("%d of %d blocks are in use: free some, or raise "+
		"Options.Capacity (on Linux each block takes two of the mappings that "+
		"vm.max_map_count allows)", a.used, a.o.Capacity))
}

func (a *Allocator) failed(op string, bytes int, detail string) error {
	return &vm.Error{Op: op, Purpose: a.o.Name, Bytes: bytes, Err: vm.ErrCapacity, Detail: detail}
}

// forgetOldest makes the addresses of the oldest freed block available again.
func (a *Allocator) forgetOldest() {
	b := a.oldest
	if a.oldest = b.after; a.oldest == nil {
		a.newest = nil
	}
	delete(a.blocks, b.page)
	a.addresses.give(b.page, b.pages+1)
}

// makeLive turns a spare block into a live one.
func (a *Allocator) makeLive(b *block, what kind, from calls) {
	b.what, b.allocated, b.state = what, from, live
	a.mark(b)
	a.live++
}

// Free decommits the pages of the block at p, so that later accesses to the block fault. Free panics with a
// [*Fault] if p is not the address of a live block (a freed block, an interior address, a foreign address).
// If bytes around the block were overwritten, Free frees the block and then panics with a [*Fault]. If the
// system cannot decommit the memory (see [vm.Region.Decommit]), Free panics with an [*vm.Error], and the
// block is unchanged.
func (a *Allocator) Free(p unsafe.Pointer) { a.free(uintptr(p)) }

//go:noinline
func (a *Allocator) free(p uintptr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mustBeOpen()
	b := a.blockAt(p)
	if b == nil || b.state != live {
		panic(a.notFreed(p))
	}
	f, err := a.end(b)
	if err != nil {
		panic(err)
	}
	if f != nil {
		f.At = here()
		panic(f)
	}
}

// end frees a live block and returns the damage around it. After an error nothing has changed.
func (a *Allocator) end(b *block) (*Fault, error) {
	offset, damaged := a.damage(b)
	if err := a.uncommit(b); err != nil {
		return nil, err
	}
	b.freed.record()
	b.state = freed
	if a.newest == nil {
		a.oldest = b
	} else {
		a.newest.after = b
	}
	a.newest = b
	a.live--
	a.changed()
	if damaged {
		return a.report(Overwritten, b, offset), nil
	}
	return nil, nil
}

// drop gives back a spare block and its addresses.
func (a *Allocator) drop(b *block) error {
	if err := a.uncommit(b); err != nil {
		return err
	}
	delete(a.blocks, b.page)
	a.addresses.give(b.page, b.pages+1)
	a.changed()
	return nil
}

// uncommit decommits the pages of a block.
func (a *Allocator) uncommit(b *block) error {
	if err := a.region.Decommit(b.page*vm.PageSize(), b.pages*vm.PageSize()); err != nil {
		return err
	}
	if !a.faults {
		a.fillFreed(b)
	}
	a.used--
	return nil
}

// blockAt returns the block that begins at p, or nil.
func (a *Allocator) blockAt(p uintptr) *block {
	offset := p - uintptr(a.base)
	if offset >= a.size {
		return nil
	}
	b := a.blocks[int(offset)/vm.PageSize()]
	if b == nil || b.start != int(offset) || b.state == spare {
		return nil
	}
	return b
}

// Owns reports whether p is one of the allocator's addresses, even if no live block has this address. It
// costs one comparison. A program that has blocks of several allocators calls Owns to find the allocator of
// a block.
func (a *Allocator) Owns(p unsafe.Pointer) bool { return uintptr(p)-uintptr(a.base) < a.size }

// Len returns the number of live blocks; 0 after Close.
func (a *Allocator) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.live
}

// Check looks for overwritten bytes in the slack of all live blocks, and returns a [*Fault] about the first
// damaged block. If accesses do not fault (see the package documentation), Check also finds writes to freed
// blocks. It changes nothing. Complexity: it reads less than two pages for each live block. If accesses do
// not fault, it also reads all pages of the freed blocks in the quarantine.
func (a *Allocator) Check() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mustBeOpen()
	if f := a.check(); f != nil {
		f.At = here()
		return f
	}
	return nil
}

// Close gives back the memory of all blocks, and the addresses. The blocks must not be used afterwards, and
// Alloc, Free and Check panic. A second Close does nothing.
//
// If the region cannot be closed, Close returns an error as [vm.Region.Close] does, and the allocator stays
// open. Otherwise the allocator is closed. If [Allocator.Check] would return a [*Fault], Close returns this
// Fault.
func (a *Allocator) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	if !a.closing {
		// The check runs once, before the first call of Region.Close, because a failing Region.Close may
		// decommit some pages.
		a.closing, a.found = true, a.check()
	}
	if err := a.region.Close(); err != nil {
		return err
	}
	open.remove(a)
	f := a.found
	a.closed, a.used, a.live, a.blocks, a.oldest, a.newest = true, 0, 0, nil, nil, nil
	if f != nil {
		f.At = here()
		return f
	}
	return nil
}

func (a *Allocator) mustBeOpen() {
	if a.closed {
		panic("guard: " + a.o.Name + " is used after Close: keep it open as long as its blocks are in use")
	}
}
