// Package kernel calculates with whole slices of numbers: sums, products, minima. The slices may be the
// components of a run in package vast, a field of a table in package bulk, or any others.
//
// In a program that is built with Go 1.26 and GOEXPERIMENT=simd for amd64, the functions use vector
// instructions: AVX2, and in Add, Sub and AddScaled also AVX-512. All other builds, and processors without
// AVX2, use loops that are about as fast as loops in the program. Go's compiler makes no vector instructions
// from loops.
//
//	positions := kernel.NewView[Position, float32]() // type Position struct{ X, Y, Z float32 }
//	velocities := kernel.NewView[Velocity, float32]()
//	for run := range moving.Runs() {
//		p, v := positions.Slice(pos.Slice(run)), velocities.Slice(vel.Slice(run))
//		kernel.AddScaled(p, p, v, dt)
//	}
//
// # Results
//
// Results have the same bits in all builds and on all processors, also for zeros with a sign, infinities and
// denormal numbers. Only the sign and the payload of a NaN may differ, as in Go. Integers wrap around.
//
// # Arguments
//
// The slices of a call must have the same length. dst may be one of the operands. If dst shares only a part
// of its memory with an operand, or if the lengths differ, a function panics and writes nothing.
//
// # Costs
//
// The time grows with the length. A call takes about 10 ns more than a loop, so a loop is faster for runs of
// fewer than 20 entities. The functions allocate nothing. For int64, only Add, Sub and AddScaled have vector
// instructions, and only with AVX-512.
//
// Builds with the race detector or another sanitizer have only loops, because sanitizers do not see vector
// instructions.
package kernel
