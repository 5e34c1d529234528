package guard

import "github.com/vastgo/vast/vm"

// What pools ask of their allocator.

// allows returns an error where n more blocks are more than there may be.
func (a *Allocator) allows(op string, n, size int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mustBeOpen()
	if n > a.o.Capacity-a.used {
		return a.full(op, n*max(1, size))
	}
	return nil
}

// hold returns a spare block for a later use that cannot fail.
func (a *Allocator) hold(op string, size, align int) (*block, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.prepare(op, size, align)
}

// letGo takes a spare block back.
func (a *Allocator) letGo(b *block) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.drop(b)
}

// use makes a spare block a live one.
//
//go:noinline
func (a *Allocator) use(b *block, what kind) {
	var from calls
	from.record()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mustBeOpen()
	a.bear(b, what, from)
}

// release frees the live block that begins in a page, and returns the damage around it. After an error the block is live.
//
//go:noinline
func (a *Allocator) release(page int) (*Fault, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mustBeOpen()
	f, err := a.end(a.blocks[page])
	if f != nil {
		f.At = here()
	}
	return f, err
}

// place returns the offset of a block of a size, in whole pages from a page on.
func (a *Allocator) place(page, size, align int) int {
	offset := page * vm.PageSize()
	if a.o.AtStart {
		return offset
	}
	rounded := roundedSize(size, align)
	return offset + pagesOf(rounded)*vm.PageSize() - rounded
}

// roundedSize returns the bytes that a block takes at the end of its pages. One of no bytes takes some too, so that it
// has an address of its own.
func roundedSize(size, align int) int { return (max(1, size) + align - 1) &^ (align - 1) }

// pagesOf returns how many pages a block takes.
func pagesOf(bytes int) int { return (bytes + vm.PageSize() - 1) / vm.PageSize() }
