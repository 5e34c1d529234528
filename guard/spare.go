package guard

import "math"

// These methods serve pools, which hold spare blocks.

// allows returns an error if n more blocks exceed the capacity.
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

// takeSpare makes a spare block. A later useSpare of this block cannot fail.
func (a *Allocator) takeSpare(op string, size, align int) (*block, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.prepare(op, size, align)
}

// returnSpare gives a spare block back.
func (a *Allocator) returnSpare(b *block) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.drop(b)
}

// useSpare turns a spare block into a live one.
//
//go:noinline
func (a *Allocator) useSpare(b *block, what kind) {
	var from calls
	from.record()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mustBeOpen()
	a.makeLive(b, what, from)
}

// release frees the live block whose first page is given, and returns the damage around it. After an error
// the block is still live.
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
