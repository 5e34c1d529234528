package kernel_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/measure"
	"github.com/vastgo/vast/kernel"
)

// Each benchmark compares a function with the loop that a program would write instead. The compiler must not
// inline the functions with the loops, so that both ways cost a call.

//go:noinline
func addLoop[T kernel.Number](dst, a, b []T, _ T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

//go:noinline
func mulLoop[T kernel.Number](dst, a, b []T, _ T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] * b[i]
	}
}

//go:noinline
func scaleLoop[T kernel.Number](dst, a, _ []T, s T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = a[i] * s
	}
}

//go:noinline
func addScaledLoop[T kernel.Number](dst, a, b []T, s T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] + b[i]*s
	}
}

//go:noinline
func minLoop[T kernel.Number](dst, a, b []T, _ T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = min(a[i], b[i])
	}
}

func BenchmarkKernel(b *testing.B) {
	benchmark[float32](b)
	benchmark[float64](b)
	benchmark[int32](b)
	benchmark[int64](b)
}

func benchmark[T kernel.Number](b *testing.B) {
	for _, w := range []struct {
		name         string
		kernel, loop func(dst, a, b []T, s T)
	}{
		{"Add", func(dst, a, b []T, _ T) { kernel.Add(dst, a, b) }, addLoop[T]},
		{"Mul", func(dst, a, b []T, _ T) { kernel.Mul(dst, a, b) }, mulLoop[T]},
		{"Scale", func(dst, a, _ []T, s T) { kernel.Scale(dst, a, s) }, scaleLoop[T]},
		{"AddScaled", kernel.AddScaled[T], addScaledLoop[T]},
		{"Min", func(dst, a, b []T, _ T) { kernel.Min(dst, a, b) }, minLoop[T]},
	} {
		for _, n := range []int{1 << 10, 64 << 10, 1 << 20} {
			x, y := make([]T, n), make([]T, n)
			for i := range x {
				x[i], y[i] = T(i), 1
			}
			b.Run(fmt.Sprintf("%s/%T/%d", w.name, x[0], n), func(b *testing.B) {
				times := max(1, 1<<17/n)
				report(b, "number", n*times, func() {
					for range times {
						w.kernel(x, x, y, 1)
					}
				}, func() {
					for range times {
						w.loop(x, x, y, 1)
					}
				})
			})
		}
	}
}

// report runs two ways to do the same work in turns. It reports the best time of each way, divided by n, and
// their ratio.
func report(b *testing.B, unit string, n int, ways ...func()) {
	samples := measure.Turns(max(b.N, 25), len(ways), nil, func(way int) float64 {
		start := time.Now()
		ways[way]()
		return float64(time.Since(start).Nanoseconds()) / float64(n)
	})
	b.ReportMetric(measure.Samples(samples[0]).Best(), "ns-kernel/"+unit)
	b.ReportMetric(measure.Samples(samples[1]).Best(), "ns-loop/"+unit)
	b.ReportMetric(measure.Ratio(samples[0], samples[1]), "times-faster")
	b.ReportMetric(0, "ns/op")
}

type position struct{ X, Y, Z float32 }
type velocity struct{ X, Y, Z float32 }

var (
	positions  = kernel.NewView[position, float32]()
	velocities = kernel.NewView[velocity, float32]()
)

//go:noinline
func moveByKernel(q vast.Query, pos vast.Column[position], vel vast.Column[velocity], dt float32) {
	for run := range q.Runs() {
		p, v := positions.Slice(pos.Slice(run)), velocities.Slice(vel.Slice(run))
		kernel.AddScaled(p, p, v, dt)
	}
}

//go:noinline
func moveByLoop(q vast.Query, pos vast.Column[position], vel vast.Column[velocity], dt float32) {
	for run := range q.Runs() {
		p, v := pos.Slice(run), vel.Slice(run)
		v = v[:len(p)]
		for i := range p {
			p[i].X += v[i].X * dt
			p[i].Y += v[i].Y * dt
			p[i].Z += v[i].Z * dt
		}
	}
}

// BenchmarkMove moves all entities of a world that have a velocity. In "runs of 8", every ninth entity has no
// velocity.
func BenchmarkMove(b *testing.B) {
	for _, length := range []int{0, 8, 64} {
		for _, n := range []int{1 << 10, 64 << 10, 1 << 20} {
			name := fmt.Sprintf("runs of %d/%d", length, n)
			if length == 0 {
				name = fmt.Sprintf("one run/%d", n)
			}
			b.Run(name, func(b *testing.B) {
				w := vast.NewWorld(vast.Options{})
				defer w.Close()
				pos, vel := vast.NewColumn[position](w), vast.NewColumn[velocity](w)
				w.Archetype(pos, vel).NewN(n, nil)
				q := w.Query(pos, vel)
				if length > 0 {
					for i, e := range slices.Collect(q.All()) {
						if i%(length+1) == length {
							vel.Remove(e)
						}
					}
				}
				times := max(1, 1<<17/n)
				report(b, "entity", q.Count()*times, func() {
					for range times {
						moveByKernel(q, pos, vel, 1)
					}
				}, func() {
					for range times {
						moveByLoop(q, pos, vel, 1)
					}
				})
			})
		}
	}
}
