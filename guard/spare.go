package guard

import "math"

// What pools ask of their allocator.

// allows returns an error where n more blocks are more than there may be.
func (a *Allocator) allows(op string, n, size int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mustBeOpen()
	if n > a.o.Capacity-a.used {
		bytes := math.MaxInt
		if n <= math.MaxInt/max(1, size) {
			bytes = n * size
		}
		return a.full(op, bytes)
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
