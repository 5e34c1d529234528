package inspect

import (
	"math/bits"
	"math/rand/v2"
)

// thinning makes a uniform random sample of a growing list: each element is kept with the same probability.
// The function halve halves this probability and drops about half of the sample.
type thinning struct {
	halvings int
}

// thin clears bits at random. A set bit stays set with the probability 1/2^halvings.
func (t *thinning) thin(words []uint64) {
	if t.halvings == 0 {
		return
	}
	for i, mask := range words {
		for n := 0; mask != 0 && n < t.halvings; n++ {
			mask &= rand.Uint64()
		}
		words[i] = mask
	}
}

// halve halves the probability of t, and returns each element of the sample with probability 1/2. It
// overwrites the sample.
func halve[T any](t *thinning, sample []T) []T {
	t.halvings++
	left := sample[:0]
	for i := 0; i < len(sample); i += 64 {
		for mask := rand.Uint64(); mask != 0; mask &= mask - 1 {
			if at := i + bits.TrailingZeros64(mask); at < len(sample) {
				left = append(left, sample[at])
			}
		}
	}
	return left
}

// choose returns n random elements of the list in their order, each with the same probability. It overwrites
// the list.
func choose[T any](list []T, n int) []T {
	left := list[:0]
	for i, v := range list {
		if rand.IntN(len(list)-i) < n-len(left) {
			left = append(left, v)
		}
	}
	return left
}
