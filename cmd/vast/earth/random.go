package earth

import "github.com/vastgo/vast/sched"

// golden is the increment of SplitMix64, the algorithm of sched.Random: 2⁶⁴ divided by the golden ratio.
const golden = 0x9e3779b97f4a7c15

// mix is the bijective finalizer of SplitMix64. It subtracts the increment because sched.Random adds it.
func mix(z uint64) uint64 {
	r := sched.Random(z - golden)
	return r.Uint64()
}

// purpose distinguishes streams that have the same number and the same tick.
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

// stream is a sequence of random values that depends only on the seed, a number (of a traveller, a cohort or
// a cell), the tick and the purpose. Other streams, the number of workers and the positions of entities in
// memory do not affect it.
type stream struct{ sched.Random }

func draws(seed uint64, number, tick uint32, p purpose) stream {
	return stream{sched.Random(mix(mix(seed+uint64(p)*golden) ^ (uint64(number)<<32 | uint64(tick))))}
}

// below returns an integer from 0 to n-1. n must not be 0.
func (s *stream) below(n uint64) uint64 { return uint64(s.Below(int(n))) }

// unit returns a multiple of 2⁻⁵³ in (0, 1]. The conversion prevents the compiler from fusing the addition
// with the multiplication in Float64 (see arithmetic.go).
func (s *stream) unit() float64 { return float64(s.Float64()) + 1.0/(1<<53) }

// exponential returns an exponentially distributed number of ticks, at least 1 and at most about 37 times the
// mean. The number is the same on every machine, unlike the result of [sched.Random.Exponential].
func (s *stream) exponential(mean float64) uint32 { return 1 + uint32(-mean*logarithm(s.unit())) }
