package guard

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// Grow commits a block for each of the next n insertions, so that these insertions cannot fail. It panics
// when n is negative.
//
// If Grow fails, it returns an [*vm.Error]. The error wraps [vm.ErrCapacity] if Options.Capacity of the pool
// or the allocator, or Options.Addresses, is too small. It wraps [vm.ErrLimit] if Options.MaxBytes or
// Options.Limit is too small. Other errors are those of [vm.Region.Commit]. After an error, the pool has the
// same elements as before.
func (p *Pool[T]) Grow(n int) error {
	if n < 0 {
		panic(fmt.Sprintf("guard: Grow(%d) on %s: a number of elements is zero or more", n, p.name))
	}
	return p.makeRoom("grow", n)
}

// makeRoom makes sure that the pool has n free cells and n spare blocks.
func (p *Pool[T]) makeRoom(op string, n int) error {
	if have := p.Len(); n > p.maxElements-have {
		e := &vm.Error{Op: op, Purpose: p.name, Bytes: math.MaxInt, Err: vm.ErrLimit,
			Detail: fmt.Sprintf("%d of the %d elements that Options.MaxBytes (%s) allows are in use: "+
				"remove some, or raise Options.MaxBytes", have, p.maxElements, vm.Bytes(p.maxBytes))}
		if size := layout.Size[T](); n <= math.MaxInt/size {
			e.Bytes = n * size
		}
		return e
	}
	if err := p.cells.Grow(n); err != nil {
		return renamed(op, err)
	}
	var v T
	if err := p.a.allows(op, n-len(p.spare), int(unsafe.Sizeof(v))); err != nil {
		return err
	}
	before := len(p.spare)
	for len(p.spare) < n {
		b, err := p.a.takeSpare(op, int(unsafe.Sizeof(v)), int(unsafe.Alignof(v)))
		if err != nil {
			// A block that cannot be dropped stays spare: the next insertion takes it.
			for len(p.spare) > before && p.a.returnSpare(p.spare[len(p.spare)-1]) == nil {
				p.spare = p.spare[:len(p.spare)-1]
			}
			return renamed(op, err)
		}
		p.spare = append(p.spare, b)
	}
	return nil
}

// renamed returns a copy of a *vm.Error with the pool's operation op, in place of the operation of a part of
// the pool.
func renamed(op string, err error) error {
	var e *vm.Error
	if !errors.As(err, &e) {
		return err
	}
	other := *e
	other.Op = op
	return &other
}

// Trim gives back the unused whole pages of the pool's table of handles. Remove and Clear give back the
// memory of the elements. Trim returns an error as [vm.Region.Discard] does.
func (p *Pool[T]) Trim() error { return p.cells.Trim() }

// Reserved returns the number of bytes of addresses that the pool takes, including the pool's own allocator;
// 0 after Close.
func (p *Pool[T]) Reserved() int { return p.cells.Reserved() + p.ofAllocator(p.a.region.Size()) }

// Committed returns the number of bytes of memory that the pool may touch, including the pool's own
// allocator; 0 after Close.
func (p *Pool[T]) Committed() int { return p.cells.Committed() + p.ofAllocator(p.a.region.Committed()) }

// ofAllocator returns bytes if the pool has its own allocator and is open, and 0 otherwise.
func (p *Pool[T]) ofAllocator(bytes int) int {
	if !p.owned || p.cells.Reserved() == 0 {
		return 0
	}
	return bytes
}

// Resident returns how many bytes of the pool are in physical memory, including the pool's own allocator. It
// queries the operating system; see [vm.Region.Resident].
func (p *Pool[T]) Resident() (int, error) {
	bytes, err := p.cells.Resident()
	if err != nil || !p.owned {
		return bytes, err
	}
	blocks, err := p.a.region.Resident()
	return bytes + blocks, err
}

// Close gives back the memory and the pool's own addresses. A shared allocator stays open. The elements must
// not be used afterwards, and using the pool panics. Closing a closed pool does nothing.
//
// If the system refuses to take memory back, Close returns an error as [Allocator.Close] does, and the pool
// stays open: the program may call Close again. If Close has closed the pool, it returns nil, or the [*Fault]
// of a damaged element.
func (p *Pool[T]) Close() error {
	if p.cells.Reserved() == 0 {
		return nil
	}
	// If a step below fails, p.found keeps the damage for the Close that succeeds.
	if p.owned {
		if err := p.a.Close(); err != nil && !errors.As(err, &p.found) {
			return err
		}
	} else {
		for h, c := range p.cells.All() {
			f, err := p.a.release(c.page)
			if err != nil {
				return err
			}
			if p.found == nil {
				p.found = f
			}
			p.cells.Remove(h)
		}
		for len(p.spare) > 0 {
			if err := p.a.returnSpare(p.spare[len(p.spare)-1]); err != nil {
				return err
			}
			p.spare = p.spare[:len(p.spare)-1]
		}
	}
	if err := p.cells.Close(); err != nil {
		return err
	}
	p.spare = nil
	if p.found != nil {
		return p.found
	}
	return nil
}
