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

// Work pause-spread: the longest tick of a large world while a store takes a checkpoint each second. Each
// column has a system that declares the column in Writes and writes the whole column once a second. The peer
// has no store, and copies all columns in one tick of each second.
//
// A second of this work has 60 ticks. The length of such a second is proportional to the number of entities,
// so that a small world, too, is always busy. With a million entities, such a second is a real second.

const (
	spreadColumns  = 32
	ticksPerSecond = 60
)

type freight struct{ Values [4]float64 }

// spreadWorld is a world whose columns are written in different ticks.
type spreadWorld struct {
	*vast.World
	columns  []vast.Column[freight]
	schedule *sched.Schedule
	period   time.Duration // length of a tick
	due      time.Duration // time at which the next tick begins
	longest  time.Duration // length of the longest tick
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

// turnOf returns the number of the tick, within each second, that writes a column.
func turnOf(column int) uint64 { return uint64(column) * ticksPerSecond / spreadColumns }

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

// tick waits until the next tick is due, and makes it. The tick ends with a call of after, if after is not
// nil.
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

// check returns an error if the world does not hold n entities with the values that the given number of ticks
// gives them.
func (w *spreadWorld) check(n int, ticks uint64) error {
	for i, c := range w.columns {
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

// warmSeconds returns the number of seconds before the first measured second. In these seconds, page faults
// map fresh memory, and the store learns which pages are written often. A small world needs none.
func warmSeconds(n int) int { return min(3, n/1000) }

func newPauseSpreadVast(n int) side {
	w := newSpreadWorld(n)
	var reached atomic.Uint64          // the tick of the last durable checkpoint
	var firstErr atomic.Pointer[error] // of a checkpoint
	notify := func(c store.Checkpoint) {
		if err := errors.Join(c.Err, c.PruneErr); err != nil {
			firstErr.CompareAndSwap(nil, &err)
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
	// second makes the ticks of a second, and then further ticks until a checkpoint of one of its ticks is
	// durable. The further ticks are needed if the store still writes an earlier checkpoint: it begins no
	// other checkpoint before the earlier one is durable.
	second := func() {
		first := w.ticks
		for err == nil && (w.ticks < first+ticksPerSecond || reached.Load() <= first) {
			err = w.tick(nil)
			if e := firstErr.Load(); e != nil {
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
				err = st.Checkpoint() // wait, so that the store writes nothing while the peer is measured
			}
			return max(1, float64(w.longest))
		},
		check: func(int) error {
			second() // the newest checkpoint must be one that was written while the world made ticks
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
				if first := copied[i*n].Values; err == nil && first[1] != float64(i) {
					err = fmt.Errorf("the copy has %v in column %d", first, i)
				}
			}
			return err
		},
		close: func() { _ = w.close() }}
}
