package inspect

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkEntity reads an entity whose components have about 100 fields together. The metric ns/op includes
// the wait for ticks. The metric ns/look is the median time of a look (a visit to the world between ticks).
func BenchmarkEntity(b *testing.B) {
	f := entityFixture(b, Options{})
	var looks []time.Duration
	for b.Loop() {
		k := entityReader{in: f.Inspector, id: f.london.String(), left: maxShown}
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

// reportLooks reports the median, because other programs on the machine disturb the median less than the
// mean.
func reportLooks(b *testing.B, looks []time.Duration) {
	slices.Sort(looks)
	b.ReportMetric(float64(looks[len(looks)/2].Nanoseconds()), "ns/look")
}

// BenchmarkChildren reads 50 of 33,335 children. The first child that it reads is number 0 or 30,000.
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
