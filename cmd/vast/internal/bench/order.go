package bench

import "math/rand/v2"

// seedOrder makes the random orders the same in every run.
const seedOrder = 1

// randomOrder returns the numbers below n in an order that is the same in every run.
func randomOrder(n int) []uint32 {
	order := make([]uint32, n)
	for i, index := range rand.New(rand.NewPCG(seedOrder, 0)).Perm(n) {
		order[i] = uint32(index)
	}
	return order
}

// shuffle returns the values in the given order.
func shuffle[T any](values []T, order []uint32) []T {
	shuffled := make([]T, len(values))
	for i, index := range order {
		shuffled[i] = values[index]
	}
	return shuffled
}
