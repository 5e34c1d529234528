package inspect

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkEntity reads one entity with six components of 100 fields. Besides the whole time, with the waiting for ticks, it
// reports how long the world stands still in a look.
func BenchmarkEntity(b *testing.B) {
	f := entityFixture(b, Options{})
	var looks []time.Duration
	for b.Loop() {
		k := entityReader{in: f.Inspector, id: f.london.String(), left: fieldsMost}
		if err := f.look(context.Background(), func() bool {
			start := time.Now()
			done := k.look()
			looks = append(looks, time.Since(start))
			return done
		}); err != nil {
			b.Fatal(err)
		}
		k.build()
		if err := f.resolve(context.Background(), k.links); err != nil {
			b.Fatal(err)
		}
	}
	reportLooks(b, looks)
}

// reportLooks reports how long the world stood still in most looks: the median, since others use the processors, too.
func reportLooks(b *testing.B, looks []time.Duration) {
	slices.Sort(looks)
	b.ReportMetric(float64(looks[len(looks)/2].Nanoseconds()), "ns/look")
}

// BenchmarkChildren reads 50 children from the n-th on, of 34,000.
func BenchmarkChildren(b *testing.B) {
	f := newFixtureOf(b, Options{}, 100_000)
	for _, offset := range []int{0, 30_000} {
		b.Run(fmt.Sprintf("from=%d", offset), func(b *testing.B) {
			var looks []time.Duration
			for b.Loop() {
				k := childrenReader{in: f.Inspector, id: f.paris.String(), limit: 50, atOnce: walkedAtOnce}
				k.answer.Offset = offset
				if err := f.look(context.Background(), func() bool {
					start := time.Now()
					done := k.look()
					looks = append(looks, time.Since(start))
					return done
				}); err != nil {
					b.Fatal(err)
				}
			}
			reportLooks(b, looks)
		})
	}
}
