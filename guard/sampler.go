package guard

import "math/rand/v2"

// Sampler picks about one in so many allocations, at random. The decision costs a decrement; a random number is drawn for
// those that are picked, as GWP-ASan does it: the next interval is any from 1 to twice the mean, so that no rhythm of the
// program's keeps an allocation from being picked.
//
// The zero Sampler picks nothing. A Sampler belongs to one goroutine at a time.
type Sampler struct {
	left  uint32 // allocations up to the next one that is picked, that one included
	every uint32
}

// NewSampler returns a sampler that picks one in every allocations on average; 1 picks all of them, 0 none. It panics when
// every is negative or 2³¹ or more.
func NewSampler(every int) Sampler {
	if every < 0 || uint64(every) >= 1<<31 {
		panic("guard: NewSampler: one in how many is a number from 0 to 2147483647")
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

// draw chooses the next interval and reports whether anything is picked at all.
func (s *Sampler) draw() bool {
	if s.every == 0 {
		return false
	}
	s.left = 1 + rand.Uint32N(2*s.every-1)
	return true
}
