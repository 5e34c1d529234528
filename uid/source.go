package uid

import "fmt"

// block is the smallest number of addresses that a Source takes at a time.
const block = 4096

// New returns an ID that the program has not had before. Any number of goroutines may call it. A goroutine
// that needs many IDs should use a [Source].
//
// If the process has no more addresses, New panics with the [*vm.Error] that [Source.Grow] returns. The
// addresses of 64 billion IDs are about 1/2000 of the usual address space. In practice, addresses run out
// only if the system limits the process's address space.
func New[T any]() ID[T] {
	address, ok := current.Load().takeOne()
	if !ok {
		var err error
		if address, err = take(1); err != nil {
			panic(err)
		}
	}
	return ID[T]{address: address}
}

// Source hands out IDs to one goroutine at a time, from its own block of addresses. The zero Source is ready
// for use. Do not copy a Source after its first use: the copy would hand out equal IDs.
type Source[T any] struct {
	_         noCopy
	next, end uint64
}

// New returns an ID that the program has not had before. It panics as [New] does.
func (s *Source[T]) New() (id ID[T]) {
	if s.next == s.end {
		s.more()
	}
	id.address = s.next
	s.next++
	return
}

func (s *Source[T]) more() {
	if err := s.Grow(block); err != nil {
		panic(err)
	}
}

// Grow guarantees that the next n calls of New do not panic. If fewer than n addresses are left in the
// source's block, Grow drops them and takes a new block. If the process has too few addresses, Grow returns
// the [*vm.Error] of [vm.Reserve] and keeps the old block. Grow panics if n is negative.
func (s *Source[T]) Grow(n int) error {
	if n < 0 {
		panic(fmt.Sprintf("uid: Source.Grow(%d): n is negative", n))
	}
	if uint64(n) <= s.end-s.next {
		return nil
	}
	size := max(uint64(n), block)
	first, err := take(size)
	if err == nil {
		s.next, s.end = first, first+size
	}
	return err
}

// noCopy makes go vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
