package sched_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

type (
	position struct{ X, Y float64 }
	velocity struct{ X, Y float64 }
	age      uint32
)

// A complete loop: ships move and age, old ships are scrapped, and the loop ends when no ship is left.
func Example() {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	defer w.Close()
	pos, vel, ages := vast.NewColumn[position](w), vast.NewColumn[velocity](w), vast.NewColumn[age](w)
	w.Archetype(pos, vel, ages).NewN(3, func(run vast.Run) {
		for i := range run.Len() {
			ages.Slice(run)[i] = age(10 * i)
		}
	})
	moving, aging := w.Query(pos, vel), w.Query(ages)

	s := sched.New(w, sched.Options{Rate: 1000})
	defer s.Close()
	s.Add(sched.System{ // may run at the same time as "age", which uses another column
		Name: "move", Reads: sched.Columns(vel), Writes: sched.Columns(pos),
		Run: func(c *sched.Context) {
			for run := range moving.Runs() {
				p, v := pos.Slice(run), vel.Slice(run)
				for i := range p {
					p[i].X += v[i].X * c.Seconds()
				}
			}
		},
	})
	s.Add(sched.System{
		Name: "age", Writes: sched.Columns(ages),
		Run: func(c *sched.Context) {
			for run := range aging.Runs() {
				for i := range ages.Slice(run) {
					if ages.Slice(run)[i]++; ages.Slice(run)[i] > 25 {
						c.Commands().Delete(run.Entity(i))
					}
				}
			}
		},
	})
	ctx, stop := context.WithCancel(context.Background())
	s.Add(sched.System{
		Name: "end", Phase: "after update",
		Run: func(c *sched.Context) {
			if w.Len() == 0 {
				fmt.Println("no ship is left after tick", c.Tick())
				stop()
			}
		},
	})
	if err := s.Run(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// no ship is left after tick 26
}

// The number of workers changes neither the batches nor the sum.
func ExampleReduce() {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	defer w.Close()
	pos, vel := vast.NewColumn[position](w), vast.NewColumn[velocity](w)
	w.Archetype(pos, vel).NewN(10_000, func(run vast.Run) {
		for i := range vel.Slice(run) {
			vel.Slice(run)[i] = velocity{1, 2}
		}
	})
	moving := w.Query(pos, vel)

	s := sched.New(w, sched.Options{Workers: 4, Rate: 1})
	defer s.Close()
	move := func(c *sched.Context, b vast.Batch) {
		for run := range b.Runs() {
			p, v := pos.Slice(run), vel.Slice(run)
			for i := range p {
				p[i].X += v[i].X * c.Seconds()
				p[i].Y += v[i].Y * c.Seconds()
			}
		}
	}
	sum := func(c *sched.Context, b vast.Batch) (sum float64) {
		for run := range b.Runs() {
			for _, p := range pos.Slice(run) {
				sum += p.X + p.Y
			}
		}
		return sum
	}
	s.Add(sched.System{
		Name: "move", Reads: sched.Columns(vel), Writes: sched.Columns(pos),
		Run: func(c *sched.Context) { c.Each(moving, 1024, move) },
	})
	s.Add(sched.System{
		Name: "sum", Reads: sched.Columns(pos),
		Run: func(c *sched.Context) {
			fmt.Println(sched.Reduce(c, moving, 1024, sum, func(a, b float64) float64 { return a + b }))
		},
	})
	for range 2 {
		if err := s.Tick(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 30000
	// 60000
}

// The method Each divides the batches among the workers. The recorded commands are applied after the phase,
// in the same order on any number of workers.
func ExampleContext_Each() {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	defer w.Close()
	ages := vast.NewColumn[age](w)
	cells := w.Archetype(ages)
	cells.NewN(10_000, nil)
	all := w.Query(ages)

	s := sched.New(w, sched.Options{Workers: 2, Seed: 1})
	defer s.Close()
	grow := func(c *sched.Context, b vast.Batch) {
		for run := range b.Runs() {
			for i := range ages.Slice(run) {
				if ages.Slice(run)[i]++; ages.Slice(run)[i] == 3 {
					c.Commands().New(cells) // the cell divides
				}
			}
		}
	}
	s.Add(sched.System{
		Name: "grow", Writes: sched.Columns(ages),
		Run: func(c *sched.Context) { c.Each(all, 4096, grow) },
	})
	for range 3 {
		if err := s.Tick(); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(w.Len())
	// Output: 20000
}

// Graph shows the order of the systems, which follows from the columns that they read and write.
func ExampleSchedule_Graph() {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	defer w.Close()
	pos, vel, ages := vast.NewColumn[position](w), vast.NewColumn[velocity](w), vast.NewColumn[age](w)

	s := sched.New(w, sched.Options{})
	defer s.Close()
	nothing := func(*sched.Context) {}
	s.Add(sched.System{Name: "steer", Writes: sched.Columns(vel), Run: nothing})
	s.Add(sched.System{Name: "move", Reads: sched.Columns(vel), Writes: sched.Columns(pos), Run: nothing})
	s.Add(sched.System{Name: "age", Writes: sched.Columns(ages), Run: nothing}) // runs at any time
	if err := s.Build(); err != nil {
		fmt.Println(err)
	}
	for _, e := range s.Graph().Edges {
		fmt.Println(e.From, "before", e.To, "because", e.Why[0])
	}
	// Output: steer before move because steer writes velocity, move reads it
}

// Record shows the work of each worker in one tick.
func ExampleSchedule_Record() {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	defer w.Close()
	s := sched.New(w, sched.Options{Workers: 1})
	defer s.Close()
	s.Add(sched.System{Name: "think", Run: func(c *sched.Context) {
		c.Split(2, func(*sched.Context, int) {})
	}})
	s.Add(sched.System{Name: "act", Phase: "after thinking", Run: func(*sched.Context) {}})

	wait := s.Record(1)
	if err := s.Tick(); err != nil {
		panic(err)
	}
	ticks, err := wait(context.Background())
	if err != nil {
		panic(err)
	}
	for _, span := range ticks[0].Spans {
		fmt.Println(span.Kind, span.System, span.Part)
	}
	// Output:
	// system think -1
	// part think 0
	// part think 1
	// system act -1
}

// Start fills the world, Run stops the simulation, and End reports the result. Reset prepares the next
// simulation.
func ExampleSchedule_Reset() {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	defer w.Close()
	ages := vast.NewColumn[age](w)
	born, all := w.Archetype(ages), w.Query(ages)

	s := sched.New(w, sched.Options{})
	defer s.Close()
	s.Add(sched.System{
		Name: "live", Writes: sched.Columns(ages),
		Start: func(*sched.Context) { born.NewN(10, nil) },
		Run: func(c *sched.Context) {
			for e := range all.All() {
				if *ages.Get(e)++; *ages.Get(e) == 20 {
					c.Stop()
				}
			}
		},
		End: func(c *sched.Context) { fmt.Println(w.Len(), "live, tick", c.Tick(), "seed", c.Seed()) },
	})
	for seed := range uint64(2) {
		if err := s.Reset(seed); err != nil {
			panic(err)
		}
		w.Reset()
		if err := s.RunTicks(context.Background(), 1000); err != nil {
			panic(err)
		}
	}
	// Output:
	// 10 live, tick 20 seed 0
	// 10 live, tick 20 seed 1
}

// mode is the state of a game.
type mode string

// A state decides which systems run. It changes when a tick begins.
func ExampleState() {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	defer w.Close()
	s := sched.New(w, sched.Options{})
	defer s.Close()
	mode := sched.NewState(s, mode("menu"))
	mode.OnExit("menu", sched.System{Name: "close menu", Run: func(c *sched.Context) {
		fmt.Println("tick", c.Tick(), "closes the menu")
	}})
	mode.OnEnter("playing", sched.System{Name: "load level", Run: func(c *sched.Context) {
		fmt.Println("tick", c.Tick(), "loads the level")
	}})
	s.Add(sched.System{Name: "wait for a key", If: mode.In("menu"), Run: func(c *sched.Context) {
		fmt.Println("tick", c.Tick(), "waits")
		mode.Set(c, "playing")
	}})
	s.Add(sched.System{Name: "play", If: mode.In("playing"), Run: func(c *sched.Context) {
		fmt.Println("tick", c.Tick(), "plays")
	}})
	if err := s.RunTicks(context.Background(), 3); err != nil {
		fmt.Println(err)
	}
	// Output:
	// tick 1 waits
	// tick 2 closes the menu
	// tick 2 loads the level
	// tick 2 plays
	// tick 3 plays
}

// The systems of a set are ordered and switched together.
func ExampleSchedule_ConfigureSet() {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	defer w.Close()
	s := sched.New(w, sched.Options{Workers: 1})
	defer s.Close()
	show := func(c *sched.Context) { fmt.Println(c.Tick(), c.System()) }
	s.ConfigureSet("physics", sched.SetOptions{
		Before: []string{"draw"},
		If:     func(c *sched.Context) bool { return c.Tick() > 1 },
	})
	s.Add(sched.System{Name: "draw", Run: show})
	s.Add(sched.System{Name: "move", Sets: []sched.Set{"physics"}, Run: show})
	s.Add(sched.System{Name: "collide", Sets: []sched.Set{"physics"}, Run: show})
	for range 2 {
		if err := s.Tick(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 1 draw
	// 2 move
	// 2 collide
	// 2 draw
}

// A slow system runs ten times in a second of simulated time. Its step is a tenth of a second.
func ExampleContext_Delta() {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	defer w.Close()
	s := sched.New(w, sched.Options{Rate: 50})
	defer s.Close()
	s.Add(sched.System{Name: "think", Rate: 10, Offset: 2, Run: func(c *sched.Context) {
		fmt.Println("tick", c.Tick(), "stands for", c.Delta())
	}})
	if err := s.RunTicks(context.Background(), 10); err != nil {
		fmt.Println(err)
	}
	// Output:
	// tick 2 stands for 100ms
	// tick 7 stands for 100ms
}

// RunOnce runs a system when the running systems are done.
func ExampleContext_RunOnce() {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	defer w.Close()
	ages := vast.NewColumn[age](w)
	born := w.Archetype(ages)
	s := sched.New(w, sched.Options{})
	defer s.Close()
	count := sched.System{Name: "count", Run: func(c *sched.Context) {
		fmt.Println(w.Len(), "live in tick", c.Tick())
	}}
	s.Add(sched.System{Name: "birth", Every: 2, Run: func(c *sched.Context) {
		c.Commands().New(born)
		c.RunOnce(count)
	}})
	if err := s.RunTicks(context.Background(), 4); err != nil {
		fmt.Println(err)
	}
	if err := s.RunOnce(count); err != nil { // between ticks
		fmt.Println(err)
	}
	// Output:
	// 1 live in tick 2
	// 2 live in tick 4
	// 2 live in tick 4
}

// A system replaces itself after the tick.
func ExampleContext_AfterTick() {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	defer w.Close()
	s := sched.New(w, sched.Options{})
	defer s.Close()
	show := func(c *sched.Context) { fmt.Println(c.Tick(), c.System()) }
	s.Add(sched.System{Name: "tutorial", End: show, Run: func(c *sched.Context) {
		show(c)
		c.AfterTick(func(s *sched.Schedule) {
			if err := s.Remove("tutorial"); err != nil {
				fmt.Println(err)
			}
			s.Add(sched.System{Name: "game", Run: show})
		})
	}})
	if err := s.RunTicks(context.Background(), 2); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 tutorial
	// 1 tutorial
	// 2 game
}

// An operator switches a system off, and on again.
func ExampleSchedule_Disable() {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	defer w.Close()
	s := sched.New(w, sched.Options{})
	defer s.Close()
	s.Add(sched.System{Name: "weather", Run: func(c *sched.Context) {
		fmt.Println("it rains in tick", c.Tick())
	}})
	for i := range 3 {
		if i == 1 {
			s.Disable("weather")
		} else {
			s.Enable("weather")
		}
		if err := s.Tick(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// it rains in tick 1
	// it rains in tick 3
}

// A job searches for a path beside the ticks. Its result is handed in ten ticks later, on any machine.
func ExampleJobs() {
	type request struct {
		Ship     vast.Entity
		From, To int
	}
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 10})
	defer w.Close()
	places := vast.NewColumn[int](w)
	ship := w.Archetype(places).New()
	s := sched.New(w, sched.Options{})
	defer s.Close()
	paths := sched.NewJobs(s, func(ctx context.Context, r request) (path []int) {
		for place := r.From; place != r.To && ctx.Err() == nil; place++ { // a long search
			path = append(path, place+1)
		}
		return path
	}, sched.JobsOptions{Name: "paths", Ticks: 10})

	s.Add(sched.System{Name: "ask", Reads: sched.Columns(places),
		WritesResources: sched.Resources(paths), Run: func(c *sched.Context) {
			if c.Tick() == 3 {
				if err := paths.Start(c, request{ship, *places.Get(ship), 4}); err != nil {
					fmt.Println(err) // too many jobs are in flight
				}
			}
		}})
	s.Add(sched.System{Name: "follow", Writes: sched.Columns(places),
		WritesResources: sched.Resources(paths), Run: func(c *sched.Context) {
			for r, path := range paths.Results(c) {
				if place := places.Get(r.Ship); place != nil { // the ship may be gone by now
					*place = path[len(path)-1]
					fmt.Println("tick", c.Tick(), path)
				}
			}
		}})
	if err := s.RunTicks(context.Background(), 20); err != nil {
		fmt.Println(err)
	}
	// Output:
	// tick 13 [1 2 3 4]
}

// Three rooms, a world each, share the goroutines of one pool.
func ExampleNewPool() {
	p := sched.NewPool(0) // as many workers as processors
	defer p.Close()       // after the schedules
	var rooms []*sched.Schedule
	for i := range 3 {
		w := vast.NewWorld(vast.Options{MaxEntities: 1 << 10})
		defer w.Close()
		ages := vast.NewColumn[age](w)
		w.Archetype(ages).NewN(100*(i+1), nil)
		guests := w.Query(ages)
		s := sched.New(w, sched.Options{Pool: p})
		defer s.Close()
		s.Add(sched.System{Name: "age", Writes: sched.Columns(ages), Run: func(c *sched.Context) {
			c.Each(guests, 64, func(_ *sched.Context, b vast.Batch) {
				for slot := range b.Slots() {
					*ages.At(slot)++
				}
			})
		}})
		rooms = append(rooms, s)
	}
	var all sync.WaitGroup
	for _, s := range rooms {
		all.Go(func() {
			if err := s.RunTicks(context.Background(), 10); err != nil {
				fmt.Println(err)
			}
		})
	}
	all.Wait()
	for _, s := range rooms {
		fmt.Println(s.World().Len(), "guests after tick", s.Stats().Tick)
	}
	// Output:
	// 100 guests after tick 10
	// 200 guests after tick 10
	// 300 guests after tick 10
}
