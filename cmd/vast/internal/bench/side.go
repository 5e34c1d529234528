package bench

import (
	"fmt"
	"math/rand/v2"
)

// side is one way to do a work. The function do prepares the data, runs the work on the meter, and cleans up.
type side struct {
	name string
	do   func(*meter)
}

// reading returns a side that times the function read, and panics if the function does not return want.
func reading[T comparable](name string, want T, read func() T) side {
	return side{name, func(m *meter) {
		var got T
		m.run(func() { got = read() })
		mustBe(name, got, want)
	}}
}

// mustBe panics if a side got a wrong result, because the time of that side would mean nothing.
func mustBe[T comparable](name string, got, want T) {
	if got != want {
		panic(fmt.Sprintf("bench: the result of %s is %v, want %v", name, got, want))
	}
}

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
