package bench

import (
	"fmt"
	"math/rand/v2"
)

// side is one way to do a work.
type side struct {
	name string
	do   func(*meter) // prepares the data, times the work with the meter, and cleans up
}

// reading returns a side that times the function read. The side panics if the result of the function is not
// want.
func reading[T comparable](name string, want T, read func() T) side {
	return side{name, func(m *meter) {
		var got T
		m.run(func() { got = read() })
		mustBe(name, got, want)
	}}
}

func mustBe[T comparable](name string, got, want T) {
	if got != want {
		panic(fmt.Sprintf("bench: the result of %s is %v, want %v", name, got, want))
	}
}

// seedOrder is a constant, so that the random orders are equal in every run.
const seedOrder = 1

func randomOrder(n int) []uint32 {
	order := make([]uint32, n)
	for i, index := range rand.New(rand.NewPCG(seedOrder, 0)).Perm(n) {
		order[i] = uint32(index)
	}
	return order
}

// shuffle returns values[order[0]], values[order[1]] and so on.
func shuffle[T any](values []T, order []uint32) []T {
	shuffled := make([]T, len(values))
	for i, index := range order {
		shuffled[i] = values[index]
	}
	return shuffled
}
