package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/disk"
)

type spot struct{ X, Y float64 }
type speed struct{ X, Y float32 }
type skills struct{ Points [8]uint32 }

// BenchmarkEvery keeps a world in a store without a journal, for 10 seconds with 60 ticks a second. The world
// has a million entities with three components each, together 56 MB. Each tick changes all components of 1 %
// of the entities: always the first entities (case "same"), the next adjacent entities ("together"), or
// random entities ("anywhere").
//
// Metrics: pause of the world for a checkpoint; time from the moment when a tick is due to its end; time for
// a checkpoint, including the removal of the files that it replaces; bytes written per second; share of
// skipped checkpoints; deltas in the longest chain; and number of checkpoints that hold the complete world.
func BenchmarkEvery(b *testing.B) {
	const entities, length = 1_000_000, 10 * time.Second
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 21})
	defer w.Close()
	places, speeds, abilities := vast.NewColumn[spot](w), vast.NewColumn[speed](w), vast.NewColumn[skills](w)
	w.Archetype(places, speeds, abilities).NewN(entities, nil)
	slots := slices.Collect(w.Query(places).Slots())
	r := rand.New(rand.NewPCG(1, 2))
	change := func(slot vast.Slot) {
		places.At(slot).X++
		speeds.At(slot).X++
		abilities.At(slot).Points[0]++
	}
	few := entities / 100
	ways := map[string]func(tick int){
		"same": func(int) {
			for _, slot := range slots[:few] {
				change(slot)
			}
		},
		"together": func(tick int) {
			at := tick * few % entities
			for _, slot := range slots[at : at+few] {
				change(slot)
			}
		},
		"anywhere": func(int) {
			for range few {
				change(slots[r.IntN(entities)])
			}
		},
	}
	for _, every := range []time.Duration{16 * time.Millisecond, 100 * time.Millisecond, time.Second} {
		for _, way := range []string{"same", "together", "anywhere"} {
			b.Run(fmt.Sprintf("%v/%s", every, way), func(b *testing.B) {
				for b.Loop() {
					everyFor(b, w, every, length, ways[way])
				}
			})
		}
	}
}

func everyFor(b *testing.B, w *vast.World, every, length time.Duration, change func(tick int)) {
	folder, err := disk.OpenFolder(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	var pauses, took []time.Duration
	var bytes int64
	var s *Store
	skipped, longest, complete := 0, 0, 0
	o := Options{Every: every, Notify: func(c Checkpoint) {
		if c.Err != nil || c.PruneErr != nil {
			b.Error(c.Err, c.PruneErr)
		}
		pauses, took = append(pauses, c.Pause), append(took, c.Took)
		bytes += c.Bytes
		skipped += c.Skipped
		longest = max(longest, len(s.chainSizes())-1)
		if s.kept[len(s.kept)-1].base == 0 {
			complete++
		}
	}}
	if s, err = open(folder, vast.NewWorld(vast.Options{}), o); err != nil {
		b.Fatal(err)
	}
	if err := s.w.Close(); err != nil {
		b.Fatal(err)
	}
	s.w = w // open refuses w for a new folder, because w has entities
	if err := s.Recover(nil, nil); err != nil {
		b.Fatal(err)
	}
	if err := s.Checkpoint(); err != nil {
		b.Fatal(err)
	}
	pauses, took, bytes, complete = nil, nil, 0, 0
	const rate = 60
	var ticks []time.Duration
	begin := time.Now()
	for n := range int(length.Seconds() * rate) {
		due := begin.Add(time.Duration(n) * time.Second / rate)
		time.Sleep(time.Until(due))
		if err := s.Tick(func() error {
			change(n)
			return nil
		}); err != nil {
			b.Fatal(err)
		}
		ticks = append(ticks, time.Since(due))
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	slices.Sort(pauses)
	slices.Sort(ticks)
	slices.Sort(took)
	ms := func(all []time.Duration, share float64) float64 {
		return float64(all[int(share*float64(len(all)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(pauses, 0.5), "pause-p50-ms")
	b.ReportMetric(ms(pauses, 0.99), "pause-p99-ms")
	b.ReportMetric(ms(ticks, 0.99), "tick-p99-ms")
	b.ReportMetric(ms(took, 0.5), "durable-p50-ms")
	b.ReportMetric(ms(took, 0.99), "durable-p99-ms")
	b.ReportMetric(float64(bytes)/1e6/length.Seconds(), "MB/s")
	b.ReportMetric(float64(skipped)/float64(skipped+len(pauses)), "skipped")
	b.ReportMetric(float64(longest), "deltas")
	b.ReportMetric(float64(complete), "complete")
}
