package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/vastgo/vast/internal/clock"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/store"
)

// Work replay: a store recovers the ticks that follow its last checkpoint. The time of a recovery is from the
// call of Recover to the end of the last tick. The peer (newReplayTicks) makes the same ticks without a
// store. Times are per tick.

// replayedTicks is the number of ticks after the checkpoint: two seconds at 60 Hz.
const replayedTicks = 120

type tickingWorld struct {
	*savedWorld
	schedule *sched.Schedule
	inputs   int           // number of bytes of the applied inputs
	ended    time.Duration // time at the end of the last tick
}

func newTickingWorld() *tickingWorld {
	w := &tickingWorld{savedWorld: newSavedWorld(0)}
	all := w.Query(w.momentum, w.charge, w.kind)
	w.schedule = sched.New(w.World, sched.Options{})
	w.schedule.Add(sched.System{Name: "charge", Writes: sched.Columns(w.charge, w.kind),
		Run: func(*sched.Context) {
			for r := range all.Runs() {
				charges, kinds := w.charge.Slice(r), w.kind.Slice(r)
				for i := range charges {
					c := &charges[i]
					if c.Now += c.Rate; c.Now > c.Most {
						c.Now = 0
						kinds[i].Flags++
					}
				}
			}
		}})
	w.schedule.Add(sched.System{Name: "move", Reads: sched.Columns(w.charge),
		Writes: sched.Columns(w.momentum),
		Run: func(c *sched.Context) {
			for r := range all.Runs() {
				momenta, charges := w.momentum.Slice(r), w.charge.Slice(r)
				for i := range momenta {
					m := &momenta[i]
					m.X += charges[i].Now * m.Y * c.Seconds()
					m.Y += charges[i].Now * m.Z * c.Seconds()
				}
			}
		}})
	return w
}

func (w *tickingWorld) apply(input []byte) { w.inputs += len(input) }

func (w *tickingWorld) tick() error {
	err := w.schedule.Tick()
	w.ended = clock.Now()
	return err
}

// sum returns a checksum of the world and the inputs. It changes with each tick.
func (w *tickingWorld) sum() (sum float64) {
	for r := range w.Query(w.momentum, w.kind).Runs() {
		for i, m := range w.momentum.Slice(r) {
			sum += m.X + m.Y + float64(w.kind.Slice(r)[i].Flags)
		}
	}
	return sum + float64(w.inputs)
}

func (w *tickingWorld) close() error {
	w.schedule.Close()
	return w.Close()
}

// openTicking opens a store with a ticking world, calls beforeRecover, and recovers. If the folder is new,
// openTicking fills the world with n entities.
func openTicking(dir string, n int, beforeRecover func()) (w *tickingWorld, st *store.Store, err error) {
	w = newTickingWorld()
	// Without Build, the store would read the whole executable to identify the program.
	if st, err = store.Open(dir, w.World, store.Options{Every: time.Hour, Build: "bench"}); err == nil {
		if st.New() {
			w.fill(n)
		}
		st.Attach(w.schedule)
		beforeRecover()
		if err = st.Recover(w.apply, w.tick); err != nil {
			err = errors.Join(err, st.Close())
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, w.close())
	}
	return w, st, nil
}

// recordTicks makes a world in the folder source and takes a checkpoint. It then makes replayedTicks ticks,
// each with an input. Before the store closes, recordTicks copies source to the folder target. So target has
// the files that a killed program would leave.
func recordTicks(n int, source, target string) error {
	w, st, err := openTicking(source, n, func() {})
	if err != nil {
		return err
	}
	record := func() (position uint64, err error) { return st.Record(recordedInput) }
	err = st.Checkpoint()
	for range replayedTicks {
		if err == nil {
			_, err = record()
		}
		if err == nil {
			err = w.tick()
		}
	}
	if err == nil {
		// One more input is recorded, for which no tick follows: once it is durable, all earlier records are
		// durable. Recover does not apply this input.
		var last uint64 // position of this input
		if last, err = record(); err == nil {
			err = st.Wait(context.Background(), last)
		}
	}
	if err == nil {
		err = os.CopyFS(target, os.DirFS(source))
	}
	return errors.Join(err, st.Close(), w.close())
}

// linkFolder makes the folder target with hard links to the files of the folder source. Copies are not
// needed, because a store does not write to files of an earlier process.
func linkFolder(source, target string) error {
	files, err := os.ReadDir(source)
	if err == nil {
		err = os.Mkdir(target, 0o700)
	}
	for _, f := range files {
		if err == nil && f.Name() != "lock" {
			err = os.Link(filepath.Join(source, f.Name()), filepath.Join(target, f.Name()))
		}
	}
	return err
}

type replayed struct {
	n     int
	dir   string
	sum   float64 // checksum of the recovered world
	err   error
	count int // number of recoveries
}

func newReplayVast(n int) side {
	dir, err := makeFolder()
	if err != nil {
		panic(err)
	}
	r := &replayed{n: n, dir: dir}
	r.err = recordTicks(n, filepath.Join(dir, "from"), filepath.Join(dir, "recorded"))
	return side{units: replayedTicks,
		sample: func(reps int) (total time.Duration) {
			for range reps {
				if r.err != nil {
					return time.Second // check returns the error
				}
				var took time.Duration
				took, r.err = r.recover()
				total += took
			}
			return total
		},
		check: r.check,
		close: func() { removeFolder(dir) }}
}

// recover recovers the recorded ticks and returns the time of the recovery.
func (r *replayed) recover() (took time.Duration, err error) {
	r.count++
	dir := filepath.Join(r.dir, fmt.Sprint(r.count))
	if err := linkFolder(filepath.Join(r.dir, "recorded"), dir); err != nil {
		return 0, err
	}
	var began time.Duration
	w, st, err := openTicking(dir, 0, func() { began = clock.Now() })
	if err != nil {
		return 0, err
	}
	took = w.ended - began
	r.sum = w.sum()
	if st.LastTick() != replayedTicks {
		err = fmt.Errorf("%d of %d ticks were recovered", st.LastTick(), replayedTicks)
	}
	return took, errors.Join(err, st.Close(), w.close(), os.RemoveAll(dir))
}

// check compares the recovered world with a world that has made the ticks without a store.
func (r *replayed) check(int) error {
	if r.err != nil {
		return r.err
	}
	w := newTickingWorld()
	w.fill(r.n)
	err := w.play()
	if sum := w.sum(); sum != r.sum {
		err = errors.Join(err, fmt.Errorf("the recovered world has the checksum %v, want %v", r.sum, sum))
	}
	return errors.Join(err, w.close())
}

// play makes the ticks of recordTicks without a store.
func (w *tickingWorld) play() error {
	for range replayedTicks {
		w.apply(recordedInput)
		if err := w.tick(); err != nil {
			return err
		}
	}
	return nil
}

func newReplayTicks(n int) side {
	w := newTickingWorld()
	w.fill(n)
	var err error
	return side{units: replayedTicks,
		sample: func(reps int) time.Duration {
			began := clock.Now()
			for range reps {
				err = errors.Join(err, w.play())
			}
			return clock.Now() - began
		},
		check: func(done int) error {
			if want := done * replayedTicks * len(recordedInput); err == nil && w.inputs != want {
				return fmt.Errorf("%d bytes of inputs were applied, want %d", w.inputs, want)
			}
			return err
		},
		close: func() { _ = w.close() }}
}
