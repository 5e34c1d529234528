package inspect

import (
	"math/bits"
	"math/rand/v2"
)

// thinning keeps an even random sample of what there turns out to be more of than is wanted: each is kept with the same
// chance, which is halved, for what was kept so far too, whenever that is too much.
type thinning struct {
	halvings int
}

// thin clears bits at random, so that each stays set with the current chance.
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

// halve halves the chance and drops what was kept likewise.
func halve[T any](t *thinning, kept []T) []T {
	t.halvings++
	left := kept[:0]
	for i := 0; i < len(kept); i += 64 {
		for mask := rand.Uint64(); mask != 0; mask &= mask - 1 {
			if at := i + bits.TrailingZeros64(mask); at < len(kept) {
				left = append(left, kept[at])
			}
		}
	}
	return left
}

// choose returns so many of the list, each with the same chance, in the order of the list.
func choose[T any](list []T, n int) []T {
	left := list[:0]
	for i, v := range list {
		if rand.IntN(len(list)-i) < n-len(left) {
			left = append(left, v)
		}
	}
	return left
}
