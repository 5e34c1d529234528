package guard

import "math"

// The methods of this file are for pools, which hold spare blocks.

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

func (a *Allocator) takeSpare(op string, size, align int) (*block, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.prepare(op, size, align)
}

func (a *Allocator) returnSpare(b *block) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.drop(b)
}

// useSpare turns a spare block into a live block. It needs no further memory.
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

// release frees the live block whose first page is page, and returns the damage around the block. After an
// error, the block is still live.
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
