package inspect

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// quietWorld is a world that does nothing but admit visits. It records the time of each visit.
type quietWorld struct {
	*Inspector
	mu     sync.Mutex
	visits []time.Duration
}

func newQuietWorld(b *testing.B, entities int) *quietWorld {
	w := vast.NewWorld(vast.Options{Name: "quiet", MaxEntities: entities + entities/4})
	cols := []vast.AnyColumn{vast.NewColumn[Position](w), vast.NewColumn[Velocity](w),
		vast.NewColumn[[3]float64](w), vast.NewTag(w, "Dead")}
	some := vast.NewColumn[Infected](w)
	w.Archetype(cols...).NewN(entities*9/10, func(r vast.Run) {})
	w.Archetype(cols[:2]...).NewN(entities/10, nil)
	for slot := 0; slot < entities; slot += 10 {
		if e, ok := probe.EntityAt(w, slot); ok {
			some.Add(e, Infected{})
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	in, err := Serve(ctx, w, Options{})
	if err != nil {
		b.Fatal(err)
	}
	q := &quietWorld{Inspector: in}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			begun := time.Now()
			w.Admit(0)
			// Without a visitor, Admit takes some nanoseconds.
			if took := time.Since(begun); took > time.Microsecond {
				q.mu.Lock()
				q.visits = append(q.visits, took)
				q.mu.Unlock()
			} else {
				time.Sleep(20 * time.Microsecond)
			}
		}
	}()
	b.Cleanup(func() {
		cancel()
		in.Close()
		<-ended
		if err := w.Close(); err != nil {
			b.Error(err)
		}
	})
	return q
}

// BenchmarkMemoryPicture reports the number of visits for each picture, and the times of the visits. The
// longest visit measures mostly other work of the machine.
func BenchmarkMemoryPicture(b *testing.B) {
	for _, millions := range []int{1, 10} {
		if millions > 1 && testing.Short() {
			break
		}
		q := newQuietWorld(b, millions*1_000_000)
		for _, by := range memoryModes {
			b.Run(fmt.Sprintf("%dM/%s", millions, by), func(b *testing.B) {
				q.mu.Lock()
				q.visits = nil
				q.mu.Unlock()
				for b.Loop() {
					drawForBenchmark(b, q, by)
				}
				q.mu.Lock()
				defer q.mu.Unlock()
				slices.Sort(q.visits)
				for name, share := range map[string]float64{"p50-µs": 0.5, "p95-µs": 0.95, "longest-µs": 1} {
					b.ReportMetric(float64(q.visits[int(share*float64(len(q.visits)-1))])/1e3, name)
				}
				b.ReportMetric(float64(len(q.visits))/float64(b.N), "visits")
			})
		}
	}
}

//go:noinline
func drawForBenchmark(b *testing.B, q *quietWorld, by string) {
	l, _, err := q.lookAtMemory(b.Context(), false)
	if err != nil {
		b.Fatal(err)
	}
	// The ranges are the committed parts of the areas, as in the page's requests.
	p := &memoryPicture{by: by, words: densityWords}
	for _, a := range l.areas {
		if n := a.Committed * (maxMemoryCells - len(l.areas)) / max(1,
			l.committed(0, l.bytes)); a.Committed > 0 {
			p.ranges = append(p.ranges, cells{a.UsedFrom, a.UsedFrom + a.Committed, max(1, n)})
			p.total += max(1, n)
		}
	}
	for _, view := range q.memory.changes.lenses {
		view.seen.at = view.seen.at.Add(-passInterval) // makes a new pass due
	}
	if err := q.Inspector.draw(b.Context(), p); err != nil {
		b.Fatal(err)
	}
	_ = p.encode()
}
