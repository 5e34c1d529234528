package guard

import "math/rand/v2"

// Sampler picks a fraction of all allocations at random. The decision for an allocation costs a decrement.
// After each pick, the sampler draws the interval to the next pick at random, as in GWP-ASan, so that no
// regular pattern of allocations escapes. The interval is uniform from 1 to one less than twice the mean.
//
// The zero Sampler picks nothing. A Sampler belongs to one goroutine at a time.
type Sampler struct {
	left  uint32 // allocations until the next pick, including the picked one
	every uint32
}

// NewSampler returns a sampler. The argument every is the average number of allocations per pick; 1 picks
// all, 0 picks none. NewSampler panics when every is negative or at least 2³¹.
func NewSampler(every int) Sampler {
	if every < 0 || uint64(every) >= 1<<31 {
		panic("guard: NewSampler: the argument every must be from 0 to 2147483647")
	}
	s := Sampler{every: uint32(every)}
	s.draw()
	return s
}

// Sample reports whether this allocation is picked.
func (s *Sampler) Sample() bool {
	s.left--
	return s.left == 0 && s.draw()
}

// draw chooses the next interval. It reports false if the sampler picks nothing.
func (s *Sampler) draw() bool {
	if s.every == 0 {
		return false
	}
	s.left = 1 + rand.Uint32N(2*s.every-1)
	return true
}
