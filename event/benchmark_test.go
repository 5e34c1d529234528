package event_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/event"
	"github.com/vastgo/vast/sched"
)

// hit is a typical event of 16 bytes. Some benchmarks send it to a target.
type hit struct {
	Damage float64
	Kind   uint32
	Source uint32
}

const benchmarkEvents = 100_000

//go:noinline
func sendHits(q *event.Queue[hit], c *sched.Context, n int) {
	for i := range n {
		q.Send(c, hit{Damage: float64(i), Kind: 1})
	}
}

//go:noinline
func sendHitsTo(q *event.Queue[hit], c *sched.Context, targets []vast.Entity, n int) {
	for i := range n {
		q.SendTo(c, targets[i%len(targets)], hit{Damage: float64(i), Kind: 1})
	}
}

//go:noinline
func sumHits(q *event.Queue[hit], c *sched.Context) (sum float64) {
	for _, h := range q.All(c) {
		sum += h.Damage
	}
	return sum
}

//go:noinline
func readHits(r *event.Reader[hit], c *sched.Context) (sum float64) {
	for _, h := range r.Next(c) {
		sum += h.Damage
	}
	return sum
}

//go:noinline
func sumHitsOf(q *event.Queue[hit], c *sched.Context, targets []vast.Entity) (sum float64) {
	for _, target := range targets {
		for h := range q.Of(c, target) {
			sum += h.Damage
		}
	}
	return sum
}

// BenchmarkEvents measures ticks that send 100,000 events. If the name has a +, the tick also reads events.
// The result is the time for each event sent. A channel and a slice with a mutex serve as comparison.
func BenchmarkEvents(b *testing.B) {
	for _, workers := range []int{1, 2} {
		for _, way := range []string{"send", "send in parts", "send to", "send+all", "send+next",
			"send to+of"} {
			b.Run(fmt.Sprintf("workers=%d/%s", workers, way), func(b *testing.B) {
				w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
				defer w.Close()
				var targets []vast.Entity
				for range 10_000 {
					targets = append(targets, w.Archetype().New())
				}
				s := sched.New(w, sched.Options{Workers: workers, Visits: -1})
				defer s.Close()
				q := event.New[hit](s, event.Options{})
				part := func(c *sched.Context, _ int) { sendHits(q, c, benchmarkEvents/20) }
				s.Add(sched.System{Name: "send", WritesResources: sched.Resources(q),
					Run: func(c *sched.Context) {
						switch way {
						case "send in parts":
							c.Split(20, part)
						case "send to", "send to+of":
							sendHitsTo(q, c, targets, benchmarkEvents)
						default:
							sendHits(q, c, benchmarkEvents)
						}
					}})
				r := q.NewReader()
				sum := 0.0
				s.Add(sched.System{Name: "read", ReadsResources: sched.Resources(q),
					Run: func(c *sched.Context) {
						switch way {
						case "send+all":
							sum += sumHits(q, c) // the events of two ticks
						case "send+next":
							sum += readHits(r, c)
						case "send to+of":
							sum += sumHitsOf(q, c, targets)
						}
					}})
				b.ReportAllocs()
				for b.Loop() {
					if err := s.Tick(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEvents, "ns/event")
			})
		}
	}
	b.Run("channel", func(b *testing.B) {
		ch := make(chan hit, benchmarkEvents)
		sum := 0.0
		for b.Loop() {
			for i := range benchmarkEvents {
				ch <- hit{Damage: float64(i), Kind: 1}
			}
			for range benchmarkEvents {
				sum += (<-ch).Damage
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEvents, "ns/event")
	})
	b.Run("slice with a mutex", func(b *testing.B) {
		var mu sync.Mutex
		var list []hit
		sum := 0.0
		for b.Loop() {
			list = list[:0]
			for i := range benchmarkEvents {
				mu.Lock()
				list = append(list, hit{Damage: float64(i), Kind: 1})
				mu.Unlock()
			}
			for i := range list {
				sum += list[i].Damage
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEvents, "ns/event")
	})
}
