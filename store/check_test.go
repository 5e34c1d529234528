package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/clock"
	"github.com/vastgo/vast/internal/disk/sim"
	"github.com/vastgo/vast/sched"
)

// unsound is an island that calls the function in the field change at the end of each tick. A replay may be
// unable to repeat the effect of this function.
type unsound struct {
	*island
	number int32 // number of the island; a replay cannot restore it, because it is not in the world
	change func(c *unsound)
	st     *Store
}

func (c *unsound) tick() error {
	if err := c.island.tick(); err != nil {
		return err
	}
	c.change(c)
	return nil
}

func (c *unsound) first() vast.Entity {
	for e := range c.w.Query().All() {
		return e
	}
	return c.people.New()
}

type opener = func(*vast.World, Options) (*Store, error)

// checkedStore opens a store on a simulated disk. The default of Check.Again opens another island.
func checkedStore(t *testing.T, d *sim.Disk, o Options, change func(*unsound)) *unsound {
	t.Helper()
	var islands atomic.Int32
	start := func(open opener, o Options) (*unsound, *Store, error) {
		c := &unsound{island: newIsland(), number: islands.Add(1), change: change}
		st, err := open(c.w, o)
		if err != nil {
			return c, nil, errors.Join(err, c.w.Close())
		}
		if st.New() {
			c.fill()
		}
		return c, st, st.Recover(c.apply, c.tick)
	}
	if o.Check.Again == nil {
		o.Check.Again = func(open opener) error {
			c, _, err := start(open, islandOptions())
			return errors.Join(err, c.w.Close())
		}
	}
	c, st, err := start(func(w *vast.World, o Options) (*Store, error) { return open(d.Folder(), w, o) }, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Kill()
		_ = st.Close()
		_ = c.w.Close()
	})
	c.st = st
	return c
}

func (c *unsound) use(t *testing.T, ticks int) {
	t.Helper()
	for i := range ticks {
		if _, err := c.st.Record([]byte{byte(i), 1, 2, 3, 4, 5, 6, 7}); err != nil {
			t.Fatal(err)
		}
		if err := c.st.Tick(c.tick); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
}

type result struct {
	tick uint64
	err  error
}

// checking returns options of a store, and the channel that receives the results of its checks. Check.Every
// is only a nanosecond, so the store may begin a check after each checkpoint.
func checking() (Options, chan result) {
	o, results := islandOptions(), make(chan result, 100)
	o.Every = time.Hour
	o.Check.Every = 1
	o.Check.Done = func(tick uint64, err error) { results <- result{tick, err} }
	return o, results
}

func (c *unsound) checkOf(results chan result) result {
	r := <-results
	for c.st.check.busy.Load() {
		runtime.Gosched()
	}
	return r
}

func TestCheck(t *testing.T) {
	now := func() int32 { return int32(clock.Now()) } // precise on all systems
	for _, one := range []struct {
		name          string
		change        func(c *unsound)
		column, field string
		entity        bool
	}{
		{name: "sound", change: func(*unsound) {}},
		{"variable", func(c *unsound) { c.vigor.Set(c.first(), vigor{Points: c.number}) },
			"vigor", "Points", true},
		{"clock", func(c *unsound) { c.cargo.Add(c.first(), cargo{[3]uint32{1, uint32(now())}}) },
			"cargo", "Tons[1]", true},
		{"math/rand", func(c *unsound) {
			c.letters.Add(c.first(), letters{[]string{fmt.Sprint(rand.Uint64())}})
		}, "letters", "", true},
		{"map", func(c *unsound) {
			order := make(map[int]bool)
			for i := range 40 {
				order[i] = true
			}
			c.calendar.Sum = 0
			for i := range order {
				c.calendar.Sum = c.calendar.Sum*41 + uint64(i)
			}
		}, "store.calendar", "", false},
		{"births", func(c *unsound) { c.people.NewN(int(c.number), nil) }, "", "", true},
		{"components", func(c *unsound) {
			if e := c.first(); c.number == 1 { // in the first world
				c.cargo.Remove(e)
			} else {
				c.cargo.Add(e, cargo{})
			}
		}, "cargo", "", true},
		{"link", func(c *unsound) {
			all := slices.Collect(c.w.Query().All())
			c.follows.Set(all[0], all[c.number])
		}, "follows", "", true},
	} {
		t.Run(one.name, func(t *testing.T) {
			o, results := checking()
			c := checkedStore(t, sim.New(1), o, one.change)
			for round := range uint64(3) {
				c.use(t, 4)
				r := c.checkOf(results)
				if one.name == "sound" {
					if r.err != nil || r.tick != 4*(round+1) {
						t.Fatalf("a check up to tick %d, want %d; its error is %v", r.tick, 4*(round+1),
							r.err)
					}
					continue
				}
				d, ok := errors.AsType[*Difference](r.err)
				if !ok {
					t.Fatalf("up to tick %d: the error is %v", r.tick, r.err)
				}
				if d.From != 4*round || d.Tick != r.tick || !strings.HasSuffix(d.Column, one.column) ||
					one.column == "" && d.Column != "" || d.Field != one.field ||
					d.Entity.IsZero() == one.entity || d.Recorded == d.Replayed {
					t.Errorf("%+v: %v", *d, d)
				}
				for _, want := range []string{"island", d.Column, d.Field, d.Recorded, d.Replayed} {
					if !strings.Contains(d.Error(), want) {
						t.Errorf("%q lacks %q", d, want)
					}
				}
			}
			if len(results) > 0 {
				t.Errorf("%d checks too many", len(results))
			}
		})
	}
}

func TestCheckBesideTicks(t *testing.T) {
	o, results := checking()
	began, goOn := make(chan bool, 10), make(chan bool)
	d := sim.New(1)
	var c *unsound
	o.Check.Again = func(open opener) error {
		began <- true
		<-goOn
		n := newIsland()
		defer n.w.Close()
		st, err := open(n.w, islandOptions())
		if err != nil {
			return err
		}
		if st.New() {
			t.Error("the store of the second world is new")
		}
		return st.Recover(n.apply, n.tick)
	}
	checkpoints := func() (n int) {
		for _, name := range d.Names() {
			if strings.HasPrefix(name, checkpointPrefix) {
				n++
			}
		}
		return n
	}
	c = checkedStore(t, d, o, func(*unsound) {})
	c.use(t, 3)
	<-began
	for range 5 {
		c.use(t, 2)
	}
	if n := checkpoints(); n != 7 {
		t.Errorf("%d checkpoints during a check, want 7", n)
	}
	close(goOn)
	if r := c.checkOf(results); r.err != nil || r.tick != 3 {
		t.Errorf("a check up to tick %d, want 3; its error is %v", r.tick, r.err)
	}
	c.use(t, 1)
	if r := c.checkOf(results); r.err != nil || r.tick != 14 {
		t.Errorf("a check up to tick %d, want 14; its error is %v", r.tick, r.err)
	}
	if err := c.st.Close(); err != nil {
		t.Error(err)
	}
	if n := checkpoints(); n != 1 {
		t.Errorf("%d checkpoints after Close, want 1", n)
	}
}

func TestCheckOnlyRepeatable(t *testing.T) {
	o, results := checking()
	d := sim.New(1)
	c := checkedStore(t, d, o, func(*unsound) {})
	c.use(t, 2)
	if r := c.checkOf(results); r.err != nil || r.tick != 2 {
		t.Errorf("a check up to tick %d, want 2; its error is %v", r.tick, r.err)
	}
	for _, change := range []func(){func() { c.outside(1) }, c.st.Changed} {
		if err := errors.Join(c.st.Tick(c.tick), c.st.Tick(c.tick)); err != nil {
			t.Fatal(err)
		}
		change()
		c.use(t, 0)
	}
	c.use(t, 2)
	if r := c.checkOf(results); r.err != nil || r.tick != 8 || len(results) > 0 {
		t.Errorf("a check up to tick %d, want 8, and %d more checks, want none; the error is %v", r.tick,
			len(results), r.err)
	}
}

func TestCheckFails(t *testing.T) {
	wrong := errors.New("wrong")
	for want, again := range map[string]func(open opener) error{
		"wrong":                           func(opener) error { return wrong },
		"has not called open and Recover": func(opener) error { return nil },
		"panic: wrong":                    func(opener) error { panic(wrong) },
		"between Open and Recover": func(open opener) error {
			n := newIsland()
			defer n.w.Close()
			st, err := open(n.w, islandOptions())
			if err != nil {
				return err
			}
			n.outside(1)
			return st.Recover(n.apply, n.tick)
		},
		"ended its goroutine": func(opener) error {
			runtime.Goexit()
			return nil
		},
	} {
		o, _ := checking()
		o.Check.Done, o.Check.Again = nil, again
		c := checkedStore(t, sim.New(1), o, func(*unsound) {})
		c.use(t, 2)
		if err := c.st.Close(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	o, _ := checking()
	o.Check.Again = func(opener) error { return nil }
	l, err := openedIsland(t, sim.New(1).Folder(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.st.Recover(nil, nil); err == nil || !strings.Contains(err.Error(), "Options.Check") {
		t.Errorf("the error is %v", err)
	}
}

func TestCheckOfSchedule(t *testing.T) {
	for _, sound := range []bool{true, false} {
		d := sim.New(1)
		o, results := checking()
		o.Every = time.Millisecond
		start := func(open opener, o Options) (*island, *Store, *sched.Schedule, error) {
			n := newIsland()
			st, err := open(n.w, o)
			if err != nil {
				return nil, nil, nil, errors.Join(err, n.w.Close())
			}
			if st.New() {
				n.fill()
			}
			s := sched.New(n.w, sched.Options{Rate: 2000, Workers: 2, Seed: 5})
			ill := n.w.Query(n.vigor)
			s.Add(sched.System{Name: "age", Writes: sched.Columns(n.vigor), Run: func(c *sched.Context) {
				for slot := range ill.Slots() {
					random := c.Random(slot.Entity())
					n.vigor.At(slot).Points += int32(random.Below(100))
					if !sound {
						n.vigor.At(slot).Points += rand.Int32()
					}
				}
			}})
			s.Add(sched.System{Name: "live", Exclusive: true, Run: func(*sched.Context) {
				_ = n.tick()
				if n.w.Len() < 20 {
					n.fill() // a check finds no difference between worlds that are both empty
				}
			}})
			st.Attach(s)
			return n, st, s, st.Recover(n.apply, s.Tick)
		}
		o.Check.Again = func(open opener) error {
			n, _, s, err := start(open, islandOptions())
			if s == nil {
				return err
			}
			return errors.Join(err, s.Close(), n.w.Close())
		}
		n, st, s, err := start(func(w *vast.World, o Options) (*Store, error) {
			return open(d.Folder(), w, o)
		}, o)
		if err != nil {
			t.Fatal(err)
		}
		for len(results) < 3 {
			if err := s.RunTicks(t.Context(), 20); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			r := <-results
			d, differs := errors.AsType[*Difference](r.err)
			if sound && r.err != nil || !sound && !(differs && d.Field == "Points") {
				t.Errorf("the program is sound: %v; the error of the check is %v", sound, r.err)
			}
		}
		if err := errors.Join(st.Close(), s.Close(), n.w.Close()); err != nil {
			t.Error(err)
		}
	}
}
