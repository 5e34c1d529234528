package sched

import (
	"math/rand/v2"
	"testing"

	"github.com/vastgo/vast"
)

// TestRandomStreams: the streams must stay as they are, because stored worlds are replayed.
func TestRandomStreams(t *testing.T) {
	w, c := newWorld(t, 1)
	e := w.Archetype(c[0]).New()
	s := newSchedule(t, w, Options{Workers: 1, Seed: 7})
	var drawn []uint64
	s.Add(System{Name: "draw", Run: func(c *Context) {
		r := c.Random(e)
		drawn = append(drawn, r.Uint64(), r.Uint64(), rand.New(c.RandomOf(1<<40|5)).Uint64())
		copied := *r
		if r.Uint64() != copied.Uint64() || !c.Random(e).Chance(1) || c.RandomOf(3).Chance(0) {
			t.Error("a copy has other numbers, or a chance is wrong")
		}
	}})
	tick(t, s, 1)
	for i, want := range []uint64{0xe10b5949833f0c, 0x40c393b3564a6093, 0xa6d83a7667567008} {
		if drawn[i] != want {
			t.Errorf("number %d is %#x, want %#x", i, drawn[i], want)
		}
	}
}

func TestRandomAllocatesNothing(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1})
	s.Add(System{Name: "draw", Run: func(c *Context) {
		hits := 0
		allocations := testing.AllocsPerRun(100, func() {
			if c.Random(vast.Entity{}).Chance(0.5) {
				hits++
			}
			if r := c.RandomOf(uint64(hits)); r.Below(2) == 0 && r.Exponential(1) > 1 {
				hits++
			}
		})
		if allocations > 0 {
			t.Errorf("drawing allocates %v times", allocations)
		}
	}})
	tick(t, s, 1)
}

// BenchmarkRandom measures one draw for an entity.
func BenchmarkRandom(b *testing.B) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := New(w, Options{Workers: 1})
	defer s.Close()
	entities := make([]vast.Entity, 0, 1000)
	for range cap(entities) {
		entities = append(entities, w.Archetype().New())
	}
	s.Add(System{Name: "draw", Run: func(c *Context) {
		for b.Loop() {
			drawChances(c, entities)
		}
	}})
	if err := s.Tick(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(entities)), "ns/draw")
}

//go:noinline
func drawChances(c *Context, entities []vast.Entity) (hits int) {
	for _, e := range entities {
		if r := c.Random(e); r.Chance(0.1) {
			hits++
		}
	}
	return hits
}
