package sched

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/vastgo/vast"
)

// TestPoolRunsSeveralWorlds: worlds that share a pool, and tick at the same time, are equal to worlds that
// tick alone on one worker.
func TestPoolRunsSeveralWorlds(t *testing.T) {
	const worlds, ticks = 8, 20
	p := NewPool(3)
	t.Cleanup(p.Close) // after the schedules
	makeOne := func(seed uint64, o Options) (*Schedule, func() uint64) {
		w, c := newWorld(t, 2)
		w.Archetype(c[0], c[1]).NewN(1000+int(seed), nil)
		q := w.Query(c[0])
		o.Seed = seed
		s := newSchedule(t, w, o)
		s.Add(System{Name: "sum", Reads: Columns(c[1]), Writes: Columns(c[0]), Run: func(x *Context) {
			x.Each(q, 64, func(x *Context, b vast.Batch) {
				for e := range b.All() {
					r := x.Random(e)
					*c[0].Get(e) += r.Uint64() + *c[1].Get(e)
					if r.Chance(0.01) {
						x.Commands().Delete(e)
					}
				}
			})
		}})
		s.Add(System{Name: "count", Writes: Columns(c[1]), Run: func(x *Context) {
			x.Each(q, 64, func(x *Context, b vast.Batch) {
				for e := range b.All() {
					*c[1].Get(e) += x.Tick()
				}
			})
		}})
		s.Add(System{Name: "idle", Reads: Columns(c[1]), Run: func(*Context) {}})
		return s, func() uint64 { return hash(w, c) }
	}
	var all sync.WaitGroup
	got := make([]func() uint64, worlds)
	for i := range worlds {
		s, sum := makeOne(uint64(i), Options{Pool: p})
		if n := s.Options().Workers; n != 3 {
			t.Fatalf("%d workers", n)
		}
		got[i] = sum
		all.Go(func() {
			if err := s.RunTicks(context.Background(), ticks); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range worlds {
		s, sum := makeOne(uint64(i), Options{Workers: 1})
		tick(t, s, ticks)
		if want := sum(); got[i]() != want {
			t.Errorf("world %d: %x in the pool, %x alone", i, got[i](), want)
		}
	}
}

// TestIdleSchedulesHaveNoGoroutines: schedules of a pool have no goroutines of their own.
func TestIdleSchedulesHaveNoGoroutines(t *testing.T) {
	for len(goroutines()) > 0 { // goroutines of earlier tests are ending
		runtime.Gosched()
	}
	p := NewPool(3)
	t.Cleanup(p.Close)
	for range 20 {
		w, _ := newWorld(t, 1)
		s := newSchedule(t, w, Options{Pool: p})
		s.Add(System{Name: "a", Run: func(x *Context) { x.Split(8, func(*Context, int) {}) }})
		tick(t, s, 2)
	}
	for len(goroutines()) < 2 { // a goroutine may not have begun yet
		runtime.Gosched()
	}
	if n := len(goroutines()); n != 2 {
		t.Errorf("%d goroutines", n)
	}
}

// TestPoolHelpsAnotherSchedule: while all goroutines of the pool are at work for a schedule, another schedule
// of the pool makes progress. Goroutines that become idle help the other schedule.
func TestPoolHelpsAnotherSchedule(t *testing.T) {
	if serial(nil) {
		t.Skip("this build runs systems one after the other")
	}
	p := NewPool(2)
	t.Cleanup(p.Close)
	w, _ := newWorld(t, 1)
	other, _ := newWorld(t, 1)
	s, o := newSchedule(t, w, Options{Pool: p}), newSchedule(t, other, Options{Pool: p})
	var meeting sync.WaitGroup
	stay, met := make(chan struct{}), make(chan struct{})
	meeting.Add(2)
	for _, name := range []string{"a", "b"} {
		s.Add(System{Name: name, Run: func(*Context) {
			meeting.Done()
			meeting.Wait() // both workers of s are at work
			if name == "a" {
				close(met)
			}
			<-stay
		}})
	}
	ended := make(chan error)
	go func() { ended <- s.Tick() }()
	<-met
	var pair sync.WaitGroup
	for i := range 2 {
		o.Add(System{Name: fmt.Sprint(i), Run: func(x *Context) {
			if x.Tick() == 2 {
				pair.Done()
				pair.Wait() // returns when both systems run, so one runs on the goroutine of the pool
			}
		}})
	}
	tick(t, o, 1)
	close(stay)
	pair.Add(2)
	tick(t, o, 1)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// TestGoexitInPool: a system that ends its goroutine takes no goroutine from the pool.
func TestGoexitInPool(t *testing.T) {
	p := NewPool(2)
	t.Cleanup(p.Close)
	w, c := newWorld(t, 1)
	w.Archetype(c[0]).NewN(128, nil)
	q := w.Query(c[0])
	s := newSchedule(t, w, Options{Pool: p})
	exits := true
	var all sync.WaitGroup
	s.Add(System{Name: "a", Run: func(x *Context) {
		x.Each(q, 64, func(x *Context, b vast.Batch) {
			all.Done()
			all.Wait()
			if exits && x.worker.index == 1 {
				runtime.Goexit()
			}
		})
	}})
	all.Add(2)
	if err := s.Tick(); err == nil {
		t.Fatal("no error")
	}
	exits = false
	all.Add(2)
	tick(t, s, 1)
}

func TestPoolMisuse(t *testing.T) {
	w, _ := newWorld(t, 1)
	p := NewPool(2)
	mustPanic(t, "cannot be negative", func() { NewPool(-1) })
	mustPanic(t, "leave Workers zero, or make a larger pool", func() { New(w, Options{Pool: p, Workers: 3}) })
	mustPanic(t, "make one with NewPool", func() { New(w, Options{Pool: new(Pool)}) })
	mustPanic(t, "make one with NewPool", func() { new(Pool).Close() })
	s := New(w, Options{Pool: p, Workers: 1})
	mustPanic(t, "close the schedules first", p.Close)
	tick(t, s, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	p.Close()
	p.Close()
	mustPanic(t, "close a pool after its last schedule", func() { New(w, Options{Pool: p}) })
	if list := Of(w); list != nil {
		t.Errorf("schedules are left: %v", list)
	}
}

// BenchmarkRooms ticks 64 small worlds, each with workers of its own or all with one pool.
func BenchmarkRooms(b *testing.B) {
	const rooms = 64
	for _, kind := range []string{"own", "pool"} {
		for _, at := range []string{"in-turn", "at-once"} {
			b.Run(kind+"/"+at, func(b *testing.B) {
				o := Options{}
				if kind == "pool" {
					o.Pool = NewPool(0)
					b.Cleanup(o.Pool.Close)
				}
				list := make([]*Schedule, rooms)
				for i := range list {
					w, c := newWorld(b, 4)
					w.Archetype(c[0], c[1], c[2], c[3]).NewN(2000, nil)
					list[i] = newSchedule(b, w, o)
					for k := range c {
						q := w.Query(c[k])
						list[i].Add(System{Name: fmt.Sprint(k), Writes: Columns(c[k]), Run: func(*Context) {
							count(q, c[k])
						}})
					}
					tick(b, list[i], 1)
				}
				started := len(goroutines())
				for b.Loop() {
					tickRooms(b, list, at == "at-once")
				}
				b.ReportMetric(float64(started), "goroutines")
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/rooms, "µs/tick")
			})
		}
	}
}

//go:noinline
func tickRooms(b *testing.B, list []*Schedule, atOnce bool) {
	var all sync.WaitGroup
	for _, s := range list {
		if !atOnce {
			tick(b, s, 1)
			continue
		}
		all.Go(func() {
			if err := s.Tick(); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
}

//go:noinline
func count(q vast.Query, c vast.Column[uint64]) {
	for run := range q.Runs() {
		for i := range c.Slice(run) {
			c.Slice(run)[i]++
		}
	}
}
