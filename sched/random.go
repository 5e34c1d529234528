package sched

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/vastgo/vast"
)

// Random is a stream of random numbers. It is computed from the seed of the schedule, the name of the system,
// the tick and an entity or a number. It does not depend on draws from other streams, on the number of
// workers, or on the order of the entities in a loop. Make a Random with [Context.Random] where it is needed;
// it takes no memory on the Go heap. Each draw changes the Random, so a copy of the value repeats the next
// draws. A *Random is a Source of math/rand/v2. The numbers are not for secrets.
//
// The generator is SplitMix64: G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number
// Generators", OOPSLA 2014. Its mixing function has the constants of D. Stafford's variant 13.
type Random uint64

// golden is the increment of SplitMix64: 2⁶⁴ divided by the golden ratio.
const golden = 0x9e3779b97f4a7c15

// mix is the mixing function of SplitMix64, a bijection. It spreads small numbers, such as slots, over all 64
// bits.
func mix(z uint64) uint64 {
	z ^= z >> 30
	z *= 0xbf58476d1ce4e5b9
	z ^= z >> 27
	z *= 0x94d049bb133111eb
	return z ^ z>>31
}

// Random returns the random numbers of an entity in this system and tick. Each call returns the same stream,
// from its beginning: a system that draws several numbers keeps the result in a variable.
//
// The stream depends on the slot and the generation of the entity. Therefore an entity that gets the slot of
// a deleted entity has another stream. Generations can differ between two runs of a simulation with the same
// seed: after vast.World.Reset, and in a new world that the program fills from a file. To repeat such a run
// exactly, use [Context.RandomOf] with the slot, or with a number in a component.
func (c *Context) Random(e vast.Entity) *Random {
	r := c.streamOf(e)
	return &r // on the caller's stack, because the compiler inlines Random
}

// streamOf is not inlined, so that Random is small enough for inlining.
//
//go:noinline
func (c *Context) streamOf(e vast.Entity) Random {
	return c.stream(uint64(e.Generation())<<32 | uint64(e.Slot()))
}

// RandomOf returns the random numbers for a number, such as a place on a map, in this system and tick. Equal
// numbers give equal streams. A number from 2³² to 2⁵⁶−1 has the stream of the entity whose generation is
// the upper 32 bits and whose slot is the lower 32 bits. All other numbers have streams of their own.
func (c *Context) RandomOf(number uint64) *Random {
	r := c.stream(number)
	return &r // on the caller's stack, as in Random
}

func (c *Context) stream(number uint64) Random {
	s := c.of()
	return Random(mix(mix(mix(s.options.Seed+golden)^c.system.hash+s.number*golden) ^ number))
}

// Uint64 returns 64 random bits.
func (r *Random) Uint64() uint64 {
	*r += golden
	return mix(uint64(*r))
}

// Float64 returns a number in [0, 1). It is a multiple of 2⁻⁵³.
func (r *Random) Float64() float64 { return float64(r.Uint64()>>11) * (1.0 / (1 << 53)) }

// Below returns a number from 0 to n-1. The probabilities of two numbers differ by a factor of at most about
// 1 + n/2⁶⁴. Below panics if n is not positive. The method is from D. Lemire, "Fast Random Integer Generation
// in an Interval", ACM TOMACS 29, 2019, without the rejection step.
func (r *Random) Below(n int) int {
	if n <= 0 {
		panic(fmt.Sprintf("sched: Random.Below(%d): the number must be positive", n))
	}
	high, _ := bits.Mul64(r.Uint64(), uint64(n))
	return int(high)
}

// Chance returns true with probability p.
func (r *Random) Chance(p float64) bool { return r.Float64() < p }

// Exponential returns an exponentially distributed number with the given mean, such as the time between two
// events. The largest possible number is about 37 times the mean. The last bits depend on math.Log, whose
// results can differ between processor architectures.
func (r *Random) Exponential(mean float64) float64 { return -mean * math.Log(1-r.Float64()) }
