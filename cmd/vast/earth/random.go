package earth

import "math/bits"

// Random numbers are computed from what they are for: the seed, who draws, the tick and the purpose. So they do not
// depend on who drew before, on the number of workers, or on where an entity lies in memory.
//
// The generator is SplitMix64: G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators",
// OOPSLA 2014, with the constants of D. Stafford's variant 13 of its mixing function.

// golden is 2⁶⁴ divided by the golden ratio, the increment of SplitMix64.
const golden = 0x9e3779b97f4a7c15

// mix is the bijective finalizer of SplitMix64.
func mix(z uint64) uint64 {
	z ^= z >> 30
	z *= 0xbf58476d1ce4e5b9
	z ^= z >> 27
	z *= 0x94d049bb133111eb
	return z ^ z>>31
}

// purpose tells apart the draws of one traveller in one tick.
type purpose uint64

const (
	forHome purpose = iota
	forLife
	forStay
	forTrip
	forStart
	forInfection
	forImmunity
	forBirths
	forOutbreak
	forCells
)

// stream is a SplitMix64 generator.
type stream uint64

// draws returns the stream of number, a traveller's or whatever else draws for the purpose, in the given tick.
func draws(seed uint64, number, tick uint32, p purpose) stream {
	return stream(mix(mix(seed+uint64(p)*golden) ^ (uint64(number)<<32 | uint64(tick))))
}

func (s *stream) next() uint64 {
	*s += golden
	return mix(uint64(*s))
}

// below returns a number from 0 to n-1; n must not be 0. D. Lemire's multiplication; the deviation from equal chances, at
// most n in 2⁶⁴, is left as it is.
func (s *stream) below(n uint64) uint64 {
	high, _ := bits.Mul64(s.next(), n)
	return high
}

// unit returns a number in (0, 1], a multiple of 2⁻⁵³.
func (s *stream) unit() float64 {
	return float64(float64(s.next()>>11+1) * (1.0 / (1 << 53)))
}

// exponential returns an exponentially distributed number of ticks, at least 1. The largest is 37 times the mean.
func (s *stream) exponential(mean float64) uint32 { return 1 + uint32(-mean*logarithm(s.unit())) }
