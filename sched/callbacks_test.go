package sched

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vastgo/vast"
)

// callbackSchedule is a schedule with a system that makes one call at one place.
type callbackSchedule struct {
	*Schedule
	w    *vast.World
	num  vast.Column[uint64]
	pool vast.SparseColumn[uint64]
	tag  vast.Tag
	es   []vast.Entity
	mode *State[mode]
	call func(c *Context) // called once; c is nil in a hook and in AfterTick
	left atomic.Int32     // the method at decrements left, and runs call when left is 0
}

func (f *callbackSchedule) at(c *Context) {
	if f.left.Add(-1) == 0 {
		f.call(c)
	}
}

// schedulePlaces are the places in which the test makes a call: callbacks, and a loop over a query in a
// system.
var schedulePlaces = map[string]func(f *callbackSchedule) System{
	"Run":       func(f *callbackSchedule) System { return System{Run: f.at} },
	"Run alone": func(f *callbackSchedule) System { return System{Run: f.at, Exclusive: true} },
	"If": func(f *callbackSchedule) System {
		return System{If: func(c *Context) bool { f.at(c); return true }}
	},
	"If of a set": func(f *callbackSchedule) System {
		f.ConfigureSet("set", SetOptions{If: func(c *Context) bool { f.at(c); return true }})
		return System{Sets: []Set{"set"}}
	},
	"a one-shot system": func(f *callbackSchedule) System {
		return System{Run: func(c *Context) { c.RunOnce(System{Name: "called", Run: f.at}) }}
	},
	"OnEnter": func(f *callbackSchedule) System {
		f.mode.OnEnter(menu, System{Name: "enter", Run: f.at})
		return System{}
	},
	"AfterTick": func(f *callbackSchedule) System {
		return System{Run: func(c *Context) { c.AfterTick(func(*Schedule) { f.at(nil) }) }}
	},
	"a part": func(f *callbackSchedule) System {
		return System{Run: func(c *Context) { c.Split(1, func(c *Context, _ int) { f.at(c) }) }}
	},
	"a batch": func(f *callbackSchedule) System { return System{Run: f.each} },
	"Reduce's part": func(f *callbackSchedule) System {
		return System{Run: func(c *Context) { f.reduce(c, true) }}
	},
	"Reduce's sum": func(f *callbackSchedule) System {
		return System{Run: func(c *Context) { f.reduce(c, false) }}
	},
	"a hook": func(f *callbackSchedule) System {
		f.tag.OnAdd(func(vast.Entity) { f.at(nil) })
		return System{Run: func(c *Context) { f.tag.AddLater(c.Commands(), f.es[0]) }}
	},
	"a loop": func(f *callbackSchedule) System {
		return System{Run: func(c *Context) {
			for range f.w.Query(f.num).Runs() {
				f.at(c)
			}
		}}
	},
}

func (f *callbackSchedule) each(c *Context) {
	first := f.w.Query().Among(f.es[:1])
	c.Each(first, 64, func(c *Context, _ vast.Batch) { f.at(c) })
}

func (f *callbackSchedule) reduce(c *Context, part bool) {
	// Parts may run at the same time. Only the part of 2048 entities calls f.at, so that each run of the test
	// makes the call in the same part.
	Reduce(c, f.w.Query(), 2048, func(c *Context, b vast.Batch) int {
		if part && b.Len() == 2048 {
			f.at(c)
		}
		return b.Len()
	}, func(a, b int) int {
		if !part {
			f.at(c)
		}
		return a + b
	})
}

// scheduleVerbs are the calls that the test makes in schedulePlaces.
var scheduleVerbs = map[string]func(f *callbackSchedule, c *Context){
	"Add": func(f *callbackSchedule, _ *Context) {
		f.Add(System{Name: "more", Run: func(*Context) {}})
	},
	"AfterTick": func(f *callbackSchedule, c *Context) {
		if c != nil {
			c.AfterTick(func(s *Schedule) { _ = s.Remove("calling") })
		}
	},
	"Build":            func(f *callbackSchedule, _ *Context) { _ = f.Build() },
	"Close":            func(f *callbackSchedule, _ *Context) { _ = f.Close() },
	"ConfigureSet":     func(f *callbackSchedule, _ *Context) { f.ConfigureSet("a", SetOptions{}) },
	"Disable":          func(f *callbackSchedule, _ *Context) { f.Disable("calling"); f.Enable("calling") },
	"DropCommands":     func(f *callbackSchedule, _ *Context) { _ = f.DropCommands() },
	"Graph":            func(f *callbackSchedule, _ *Context) { f.Graph() },
	"GrowCommandBytes": func(f *callbackSchedule, _ *Context) { _ = f.GrowCommandBytes(100) },
	"Of":               func(f *callbackSchedule, _ *Context) { Of(f.w) },
	"Pause, Step":      func(f *callbackSchedule, _ *Context) { f.Pause(); f.Step(1); f.Resume() },
	"NewState":         func(f *callbackSchedule, _ *Context) { NewState(f.Schedule, menu) },
	"Remove":           func(f *callbackSchedule, _ *Context) { _ = f.Remove("calling") },
	"RunOnce": func(f *callbackSchedule, c *Context) {
		if c != nil {
			c.RunOnce(System{Name: "once", Run: func(*Context) {}})
		}
	},
	"RunOnce between": func(f *callbackSchedule, _ *Context) {
		_ = f.RunOnce(System{Name: "once", Run: func(*Context) {}})
	},
	"State": func(f *callbackSchedule, c *Context) {
		if c != nil {
			f.mode.Set(c, over)
		}
	},
	"State between": func(f *callbackSchedule, _ *Context) { f.mode.SetBetween(over) },
	"Record":        func(f *callbackSchedule, _ *Context) { f.Record(1) },
	"Record's wait": func(f *callbackSchedule, _ *Context) { _, _ = f.Record(1)(context.Background()) },
	"Recording":     func(f *callbackSchedule, _ *Context) { f.Recording() },
	"Run":           func(f *callbackSchedule, _ *Context) { _ = f.Run(context.Background()) },
	"Stats":         func(f *callbackSchedule, _ *Context) { f.Stats() },
	"Tick":          func(f *callbackSchedule, _ *Context) { _ = f.Tick() },
	"New":           func(f *callbackSchedule, _ *Context) { _ = New(f.w, Options{Workers: 2}).Close() },
	"Commands": func(f *callbackSchedule, c *Context) {
		if c != nil {
			c.Commands().Delete(f.es[9])
		}
	},
	"Each": func(f *callbackSchedule, c *Context) {
		if c != nil {
			c.Each(f.w.Query(), 64, func(*Context, vast.Batch) {})
		}
	},
	"Random": func(f *callbackSchedule, c *Context) {
		if c != nil {
			c.Random(f.es[0])
		}
	},
	"World.Admit": func(f *callbackSchedule, _ *Context) { f.w.Admit(0) },
	"World.Apply": func(f *callbackSchedule, _ *Context) {
		c := vast.NewCommands(f.w, vast.CommandsOptions{})
		c.Delete(f.es[1])
		_, _ = f.w.Apply(c)
	},
	"World.Close":     func(f *callbackSchedule, _ *Context) { _ = f.w.Close() },
	"World.Delete":    func(f *callbackSchedule, _ *Context) { f.w.Delete(f.es[2]) },
	"World.DeleteAll": func(f *callbackSchedule, _ *Context) { f.w.DeleteAll(f.w.Query()) },
	"World.New":       func(f *callbackSchedule, _ *Context) { f.w.Archetype(f.num).New() },
	"World.NewN":      func(f *callbackSchedule, _ *Context) { f.w.Archetype(f.num, f.pool).NewN(50, nil) },
	"World.Reset":     func(f *callbackSchedule, _ *Context) { f.w.Reset() },
	"NewTracker":      func(f *callbackSchedule, _ *Context) { vast.NewTracker(f.w, f.num) },
	"World.Trim":      func(f *callbackSchedule, _ *Context) { _ = f.w.Trim() },
	"World.Visit": func(f *callbackSchedule, _ *Context) {
		_ = f.w.Visit(context.Background(), func() bool { return true })
	},
	"Column.AddAll":    func(f *callbackSchedule, _ *Context) { f.pool.AddAll(f.w.Query(), 1) },
	"Column.RemoveAll": func(f *callbackSchedule, _ *Context) { f.num.RemoveAll(f.w.Query()) },
	"Goexit":           func(*callbackSchedule, *Context) { runtime.Goexit() },
	"panic":            func(*callbackSchedule, *Context) { panic("after the loop") },
}

// TestScheduleCallbacks: each call in each place works, or the error of the tick says what to do.
func TestScheduleCallbacks(t *testing.T) {
	worked, refused := 0, 0
	for place, system := range schedulePlaces {
		for verb, do := range scheduleVerbs {
			for _, workers := range []int{1, 3} {
				f := &callbackSchedule{w: vast.NewWorld(vast.Options{MaxEntities: 1 << 12})}
				f.num, f.pool, f.tag = vast.NewColumn[uint64](f.w),
					vast.NewSparseColumn[uint64](f.w).Named("pool"),
					vast.NewTag(f.w, "tag")
				f.w.Archetype(f.num, f.pool).NewN(3000, func(r vast.Run) {
					for i := range r.Len() {
						f.es = append(f.es, r.Entity(i))
					}
				})
				f.Schedule = New(f.w, Options{Workers: workers})
				f.mode = NewState(f.Schedule, menu)
				s := system(f)
				s.Name, s.Reads, s.Writes = "calling", Columns(f.num), Columns(f.pool)
				if s.Run == nil {
					s.Run = func(*Context) {}
				}
				f.Add(s)
				called := false
				f.left.Store(1)
				f.call = func(c *Context) { called = true; do(f, c) }
				what := fmt.Sprintf("%s in %s with %d workers", verb, place, workers)
				var err error
				ticked := make(chan struct{})
				go func() { // Goexit may end this goroutine
					defer close(ticked)
					err = f.Tick()
				}()
				<-ticked
				if !called {
					t.Fatalf("%s: the callback was not called", what)
				}
				if err == nil {
					worked++
				} else {
					refused++
					mustSayHow(t, what, err)
				}
				if err := f.Tick(); err != nil && !strings.Contains(what, "World.Close") {
					t.Fatalf("%s: the next tick: %v", what, err)
				}
				if !strings.Contains(what, "World.Close") {
					f.w.Reset()
					f.w.Archetype(f.num, f.pool).NewN(100, nil)
					if f.w.Len() != 100 || f.pool.Len() != 100 {
						t.Fatalf("%s: %d entities afterwards", what, f.w.Len())
					}
				}
				if err := errors.Join(f.Close(), f.w.Close()); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
		}
	}
	t.Logf("%d calls worked, %d were refused", worked, refused)
	if worked == 0 || refused == 0 {
		t.Error("the test does not reach both outcomes")
	}
}

func mustSayHow(t *testing.T, what string, err error) {
	t.Helper()
	var structure *StructureError
	var failed *PanicError
	if errors.As(err, &structure) || errors.As(err, new(*AccessError)) {
		return
	}
	if !errors.As(err, &failed) {
		t.Fatalf("%s: %v", what, err)
	}
	if _, ok := failed.Value.(runtime.Error); ok {
		t.Fatalf("%s: %v\n%s", what, failed, failed.Stack)
	}
	text := fmt.Sprint(failed.Value)
	for _, remedy := range []string{"after the loop", ": call it ", "merge the two loops",
		"use a world after Close", "wait on another goroutine", "Context.AfterTick", "define another type",
		"do the work directly",
		goexit, "let hooks record into other Commands"} {
		if strings.Contains(text, remedy) {
			return
		}
	}
	t.Fatalf("%s: the panic does not say what to do: %s", what, text)
}
