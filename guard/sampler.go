package guard

import "math/rand/v2"

// Sampler picks allocations at random. The decision for an allocation costs a decrement. After each pick, the
// sampler draws the interval to the next pick at random, as GWP-ASan does. A regular pattern of allocations
// therefore cannot avoid all picks. The interval is uniform from 1 to 2·every - 1 (see [NewSampler]).
//
// The zero Sampler picks nothing. Only one goroutine at a time may use a Sampler.
type Sampler struct {
	left  uint32 // number of allocations up to and including the next pick
	every uint32 // mean interval, 0 for no picks
}

// NewSampler returns a sampler. The argument every is the average number of allocations per pick: with 1 the
// sampler picks all allocations, with 0 none. NewSampler panics when every is negative or at least 2³¹.
func NewSampler(every int) Sampler {
	if every < 0 || uint64(every) >= 1<<31 {
		panic("guard: NewSampler: the argument every must be from 0 to 2147483647")
	}
	s := Sampler{every: uint32(every)}
	s.draw()
	return s
}

// Sample reports whether the caller must guard its next allocation.
func (s *Sampler) Sample() bool {
	s.left--
	return s.left == 0 && s.draw()
}

// draw draws the next interval. It returns false if the sampler picks nothing.
func (s *Sampler) draw() bool {
	if s.every == 0 {
		return false
	}
	s.left = 1 + rand.Uint32N(2*s.every-1)
	return true
}
