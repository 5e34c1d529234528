package guard

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// Allocator places each block in separate pages, with an uncommitted guard page before and behind them. Free
// decommits the pages of a block, and keeps their addresses in quarantine.
//
// Many goroutines may call the methods at the same time.
type Allocator struct {
	region *vm.Region
	base   unsafe.Pointer
	size   uintptr // size of the region in bytes
	o      Options
	faults bool // accesses to uncommitted pages fault

	mu             sync.Mutex
	joinable       bool // see makeJoinable
	addresses      addresses
	blocks         map[int]*block // spare, live and freed blocks, by their first page
	used           int            // number of spare and live blocks
	live           int            // number of live blocks
	oldest, newest *block         // the ends of the list of freed blocks
	unchecked      int            // number of changes since the last checkInvariants
	closing        bool           // Close was called
	found          *Fault         // damage that Close found
	closed         bool           // Close has succeeded
}

// NewAllocator makes an allocator without blocks. It reserves addresses and commits no memory. NewAllocator
// returns an error as [vm.Reserve] does. It panics if an option is negative.
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

// Alloc returns the address of a block of size bytes, which are zero. The address is a multiple of align,
// which is a power of two up to the page size. Free the block with [Allocator.Free].
//
// If Options.Capacity or Options.Addresses is too small, Alloc returns a [*vm.Error] that wraps
// [vm.ErrCapacity]. If the memory cannot be committed, it returns the error of [vm.Region.Commit]. After an
// error the oldest freed blocks may have left the quarantine; nothing else has changed. Alloc panics if size
// is negative or align is invalid. Complexity: at most one system call (more in the first Alloc), a page
// fault at the first access, and the recording of the call stack.
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

// at returns the address of a block. The address is valid while the allocator is open, because the region
// does not move.
func (a *Allocator) at(b *block) unsafe.Pointer { return unsafe.Add(a.base, b.start) }

// alloc needs a valid size and alignment.
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
// When a program first touches a mapping, Linux gives the mapping a record of its pages (an anon_vma). Linux
// never joins mappings with different records. Parts that are split from a mapping keep the record of the
// mapping. Therefore makeJoinable gives the whole region one record before the first block is made. It
// commits and touches the first page, which belongs to no block, so the mapping of this page gets a record.
// Then it decommits the page: Linux joins the page with the rest of the region, which has no record yet, and
// the joined mapping keeps the record.
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

func (a *Allocator) full(op string, bytes int) error {
	return a.failed(op, bytes, fmt.Sprintf("%d of %d blocks are in use: free some, or raise "+
		"Options.Capacity (on Linux each block takes two of the mappings that "+
		"vm.max_map_count allows)", a.used, a.o.Capacity))
}

func (a *Allocator) failed(op string, bytes int, detail string) error {
	return &vm.Error{Op: op, Purpose: a.o.Name, Bytes: bytes, Err: vm.ErrCapacity, Detail: detail}
}

// forgetOldest ends the quarantine of the oldest freed block.
func (a *Allocator) forgetOldest() {
	b := a.oldest
	if a.oldest = b.after; a.oldest == nil {
		a.newest = nil
	}
	delete(a.blocks, b.page)
	a.addresses.give(b.page, b.pages+1)
}

func (a *Allocator) makeLive(b *block, what kind, from calls) {
	b.what, b.allocated, b.state = what, from, live
	a.mark(b)
	a.live++
}

// Free decommits the pages of the block at p. Later accesses to the block fault. In some builds and with some
// options no access faults: see the package documentation. Complexity: at most one system call (on Linux
// two), and the recording of the call stack.
//
// If p is not the address of a live block, Free panics with a [*Fault]. If bytes around the block were
// overwritten, Free frees the block, and then panics with a [*Fault]. If the system cannot decommit the
// memory (see [vm.Region.Decommit]), Free panics with a [*vm.Error], and the block is unchanged.
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

// blockAt returns the live or freed block that begins at p, or nil.
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

// Owns reports whether p is an address in the allocator's region, even if p is in no live block. A program
// with several allocators can call Owns to find the allocator of a block. Complexity: one comparison.
func (a *Allocator) Owns(p unsafe.Pointer) bool { return uintptr(p)-uintptr(a.base) < a.size }

// Len returns the number of live blocks. It returns 0 after Close.
func (a *Allocator) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.live
}

// Check looks for overwritten bytes in the slack of all live blocks. If accesses do not fault (see the
// package documentation), Check also looks for writes to the freed blocks in quarantine. It returns a
// [*Fault] about the first damaged block, or nil. Complexity: Check reads less than two pages for each live
// block. If accesses do not fault, it also reads all pages of the freed blocks in quarantine.
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

// Close gives back the memory of all blocks, and the addresses. After Close, do not access the blocks. Alloc,
// Free and Check then panic. Closing a closed allocator does nothing.
//
// If the region cannot be closed, Close returns an error as [vm.Region.Close] does, and the allocator stays
// open. Otherwise Close returns the [*Fault] that [Allocator.Check] would return, or nil.
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
