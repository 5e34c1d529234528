package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/clock"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/store"
)

// Work pause-spread: all of a large world is written once a second, column by column, by systems that declare
// the columns that they write. A store takes a checkpoint each second. The peer has no store, and copies all
// columns in one tick of each second. The longest ticks are compared.
//
// Seconds are simulated time: a second has 60 ticks, and its length is in proportion to the number of
// entities, so that a small world also has no time to spare. With a million entities it is as long as a real
// second.

const (
	spreadColumns  = 32
	ticksPerSecond = 60
)

// freight is a component of 32 bytes.
type freight struct{ Values [4]float64 }

// spreadWorld is a world whose columns are written in different ticks.
type spreadWorld struct {
	*vast.World
	columns  []vast.Column[freight]
	schedule *sched.Schedule
	period   time.Duration // of a tick
	due      time.Duration // when the next tick begins
	longest  time.Duration // the longest tick
	ticks    uint64
}

func newSpreadWorld(n int) *spreadWorld {
	w := &spreadWorld{World: vast.NewWorld(vast.Options{MaxEntities: max(n, 64)}),
		period: time.Duration(n) * time.Second / 1_000_000 / ticksPerSecond}
	w.schedule = sched.New(w.World, sched.Options{})
	for i := range spreadColumns {
		c := vast.NewColumn[freight](w.World).Named(fmt.Sprintf("freight%02d", i))
		w.columns = append(w.columns, c)
		all := w.Query(c)
		w.schedule.Add(sched.System{Name: fmt.Sprintf("carry%02d", i), Writes: sched.Columns(c),
			If: func(c *sched.Context) bool { return c.Tick()%ticksPerSecond == turnOf(i) },
			Run: func(*sched.Context) {
				for r := range all.Runs() {
					part := c.Slice(r)
					for j := range part {
						part[j].Values[0]++
					}
				}
			}})
	}
	return w
}

// turnOf returns the tick of each second in which a column is written.
func turnOf(column int) uint64 { return uint64(column) * ticksPerSecond / spreadColumns }

// fill makes n entities.
func (w *spreadWorld) fill(n int) {
	columns := make([]vast.AnyColumn, len(w.columns))
	for i, c := range w.columns {
		columns[i] = c
	}
	w.Archetype(columns...).NewN(n, func(r vast.Run) {
		for i, c := range w.columns {
			part := c.Slice(r)
			for j := range part {
				part[j].Values = [4]float64{0, float64(i), 2, 3}
			}
		}
	})
}

// tick makes a tick when it is due. It calls after, if not nil, at the end of the tick.
func (w *spreadWorld) tick(after func()) error {
	for {
		wait := w.due - clock.Now()
		if wait <= 0 {
			break
		}
		time.Sleep(wait)
	}
	began := clock.Now()
	if err := w.schedule.Tick(); err != nil {
		return err
	}
	w.ticks++
	if after != nil {
		after()
	}
	ended := clock.Now()
	w.longest = max(w.longest, ended-began)
	w.due = max(w.due+w.period, ended) // missed ticks are dropped
	return nil
}

// check returns an error if n entities do not have the values that they must have after a number of ticks.
func (w *spreadWorld) check(n int, ticks uint64) error {
	for i, c := range w.columns {
		// writes is the number of ticks in which the column was written.
		writes := (ticks + ticksPerSecond - turnOf(i)) / ticksPerSecond
		if turnOf(i) == 0 {
			writes = ticks / ticksPerSecond
		}
		want, seen := freight{[4]float64{float64(writes), float64(i), 2, 3}}, 0
		for r := range w.Query(c).Runs() {
			for _, v := range c.Slice(r) {
				if v != want {
					return fmt.Errorf("after %d ticks column %d has %v, want %v", ticks, i, v, want)
				}
				seen++
			}
		}
		if seen != n {
			return fmt.Errorf("%d of %d entities have column %d", seen, n, i)
		}
	}
	return nil
}

func (w *spreadWorld) close() error {
	return errors.Join(w.schedule.Close(), w.Close())
}

// warmSeconds is the number of seconds before the first measured second. They are needed because fresh
// memory is slow and because a store learns which pages are written often. A small world needs none.
func warmSeconds(n int) int { return min(3, n/1000) }

// newPauseSpreadVast lets a store take a checkpoint each second. While the store writes a checkpoint, it
// begins no other.
func newPauseSpreadVast(n int) side {
	w := newSpreadWorld(n)
	var reached atomic.Uint64 // the tick of the last durable checkpoint
	var failed atomic.Pointer[error]
	notify := func(c store.Checkpoint) {
		if err := errors.Join(c.Err, c.PruneErr); err != nil {
			failed.CompareAndSwap(nil, &err)
		}
		reached.Store(c.Tick)
	}
	dir, err := makeFolder()
	folder := filepath.Join(dir, "world")
	var st *store.Store
	if err == nil {
		st, err = store.Open(folder, w.World, store.Options{Build: "bench", Notify: notify,
			Every: max(1, ticksPerSecond*w.period)})
	}
	if err == nil {
		w.fill(n)
		st.Attach(w.schedule)
		err = st.Recover(func([]byte) {}, w.schedule.Tick)
	}
	// second makes the ticks of a second. If no checkpoint of these ticks is durable by then, second makes
	// further ticks until a checkpoint of one of its ticks is durable.
	second := func() {
		first := w.ticks
		for err == nil && (w.ticks < first+ticksPerSecond || reached.Load() <= first) {
			err = w.tick(nil)
			if e := failed.Load(); e != nil {
				err = errors.Join(err, *e)
			}
		}
	}
	for range warmSeconds(n) {
		second()
	}
	return side{units: 1,
		figure: func() float64 {
			w.longest = 0
			second()
			if err == nil {
				err = st.Checkpoint() // so that the store writes nothing while the other side is measured
			}
			return max(1, float64(w.longest))
		},
		check: func(int) error {
			second() // so that the newest checkpoint was written while the world made ticks
			if err != nil {
				return err
			}
			if err := w.check(n, w.ticks); err != nil {
				return err
			}
			kept := newSpreadWorld(n)
			past, err := store.OpenAt(folder, kept.World, math.MaxUint64, store.Options{})
			if err == nil {
				err = errors.Join(kept.check(n, past.LastTick()), past.Close())
			}
			return errors.Join(err, kept.close())
		},
		close: func() {
			if st != nil {
				_ = st.Close()
			}
			_ = w.close()
			removeFolder(dir)
		}}
}

// newPauseSpreadCopy copies all columns in one tick of each second, into memory that was used before.
func newPauseSpreadCopy(n int) side {
	w := newSpreadWorld(n)
	w.fill(n)
	var parts [][]freight
	for _, c := range w.columns {
		for r := range w.Query(c).Runs() {
			parts = append(parts, c.Slice(r))
		}
	}
	copied := make([]freight, n*len(w.columns))
	var err error
	second := func() {
		for i := range ticksPerSecond {
			var after func()
			if i == ticksPerSecond-1 {
				after = func() { copyAll(copied, parts) }
			}
			if err == nil {
				err = w.tick(after)
			}
		}
	}
	for range warmSeconds(n) {
		second()
	}
	return side{units: 1,
		figure: func() float64 {
			w.longest = 0
			second()
			return max(1, float64(w.longest))
		},
		check: func(int) error {
			if err == nil {
				err = w.check(n, w.ticks)
			}
			for i := range len(w.columns) {
				// The last tick ended with the copy.
				if first := copied[i*n].Values; err == nil && first[1] != float64(i) {
					err = fmt.Errorf("the copy has %v in column %d", first, i)
				}
			}
			return err
		},
		close: func() { _ = w.close() }}
}
