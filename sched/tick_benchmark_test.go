package sched

import (
	"fmt"
	"testing"
	"time"

	"github.com/vastgo/vast"
)

func BenchmarkNew(b *testing.B) {
	w, c := newWorld(b, 10)
	names := make([]string, 20)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	b.ReportAllocs()
	for b.Loop() {
		s := New(w, Options{Workers: 1})
		for i, name := range names {
			s.Add(System{Name: name, Writes: Columns(c[i%10]), Run: nothing})
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEmptyTick(b *testing.B) {
	for _, workers := range []int{1, 2} {
		for i, systems := range []int{1, 20, 100, 20} {
			name := fmt.Sprintf("workers=%d/systems=%d", workers, systems)
			if i == 3 {
				name += "/measured"
			}
			b.Run(name, func(b *testing.B) {
				w, c := newWorld(b, 10)
				s := newSchedule(b, w, Options{Workers: workers})
				if i == 3 {
					s.Stats()
				}
				for i := range systems {
					s.Add(System{Name: fmt.Sprint(i), Writes: Columns(c[i%10]), Run: nothing})
				}
				tick(b, s, 1)
				b.ResetTimer()
				for b.Loop() {
					if err := s.Tick(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(systems), "ns/system")
			})
		}
	}
}

type benchmarkPosition struct{ x, y float64 }

// lightWork is bound by memory bandwidth if there are many entities. heavyWork is bound by arithmetic.
//
//go:noinline
func lightWork(p, v []benchmarkPosition) {
	v = v[:len(p)]
	for i := range p {
		p[i].x += v[i].x
		p[i].y += v[i].y
	}
}

//go:noinline
func heavyWork(p, v []benchmarkPosition) {
	v = v[:len(p)]
	for i := range p {
		x, y := p[i].x, p[i].y
		for range 8 {
			x, y = x*0.99+v[i].x/(1+y*y), y*0.99+v[i].y/(1+x*x)
		}
		p[i].x, p[i].y = x, y
	}
}

// BenchmarkEach runs a plain loop, Each on one worker and Each on two workers in turn, and compares their
// shortest mean times. A ratio over 1 means that Each is faster than the plain loop.
func BenchmarkEach(b *testing.B) {
	for _, test := range []struct {
		name          string
		entities, cut int
		work          func(p, v []benchmarkPosition)
	}{
		{"light/16384", 16 << 10, 4096, lightWork}, {"heavy/16384", 16 << 10, 1024, heavyWork},
		{"light/1048576", 1 << 20, 16 << 10, lightWork}, {"heavy/1048576", 1 << 20, 16 << 10, heavyWork},
	} {
		b.Run(test.name, func(b *testing.B) {
			w := vast.NewWorld(vast.Options{MaxEntities: 2 << 20})
			defer w.Close()
			pos, vel := vast.NewColumn[benchmarkPosition](w), vast.NewColumn[benchmarkPosition](w)
			w.Archetype(pos, vel).NewN(test.entities, func(run vast.Run) {
				for i, v := range vel.Slice(run) {
					vel.Slice(run)[i] = benchmarkPosition{v.x + 1, v.y + 2}
				}
			})
			q := w.Query(pos, vel)
			part := func(_ *Context, batch vast.Batch) {
				for run := range batch.Runs() {
					test.work(pos.Slice(run), vel.Slice(run))
				}
			}
			var forms [3]func()
			forms[0] = func() {
				for run := range q.Runs() {
					test.work(pos.Slice(run), vel.Slice(run))
				}
			}
			for workers := 1; workers <= 2; workers++ {
				s := newSchedule(b, w, Options{Workers: workers})
				s.Add(System{Name: "move", Reads: Columns(vel), Writes: Columns(pos), Run: func(c *Context) {
					c.Each(q, test.cut, part)
				}})
				forms[workers] = func() { s.Tick() }
			}
			best := [3]time.Duration{time.Hour, time.Hour, time.Hour}
			rounds := max(1, 1<<16/test.entities)
			for b.Loop() {
				for i, f := range forms {
					f()
					start := time.Now()
					for range rounds {
						f()
					}
					best[i] = min(best[i], time.Since(start)/time.Duration(rounds))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(best[0].Nanoseconds()), "ns-plain")
			b.ReportMetric(float64(best[0])/float64(best[1]), "×1-worker")
			b.ReportMetric(float64(best[0])/float64(best[2]), "×2-workers")
		})
	}
}
