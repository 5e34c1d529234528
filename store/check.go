package store

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/clock"
)

// Check says how a store checks that its program can repeat ticks. For a check, the store loads the
// second-newest checkpoint into a second world of the program. In this world, the store repeats the ticks and
// inputs up to the newest checkpoint. Then the store compares the second world with the newest checkpoint.
// The zero Check checks nothing.
//
// Use checks in tests, and on a few of many servers. A check takes as much time as the repeated ticks. It
// needs the memory of a second world, and of a copy of the state in the newest checkpoint. A check runs
// beside the ticks, and ticks never wait for a check.
type Check struct {
	// Again opens the program's world once more, as the program does at its start, but with the function open
	// instead of [Open]. Again makes a new world, calls open, calls Attach if the program does, calls
	// Recover, and closes the world. Again must not make ticks after Recover, and returns the error of open
	// or Recover. For each check, the store calls Again twice on a separate goroutine: to copy the newest
	// checkpoint, and to repeat the ticks. The codecs, variables and sched.Jobs of the program must be safe
	// for use by two goroutines, because both worlds of the program may use them at the same time. Default:
	// no checks.
	Again func(open func(w *vast.World, o Options) (*Store, error)) error
	// Every is the least time from the end of one check to the beginning of the next. Default: a minute.
	Every time.Duration
	// Done is called after each check, on the goroutine of the check. tick is the tick of the newest
	// checkpoint. If the second world differs from this checkpoint, err is a [*Difference]. Another error
	// says why the check could not be made. Default: Close returns the first error of a check.
	Done func(tick uint64, err error)
}

// checks are the checks of a store.
type checks struct {
	since   []repeat    // the steps after the last checkpoint; only the world's goroutine uses the list
	busy    atomic.Bool // whether a check is under way
	running sync.WaitGroup
	ended   time.Duration // time of package clock when the last check ended, or 0; set before busy is cleared
	err     error         // error of the first failed check, if Check.Done is nil; set before busy is cleared
}

// repeat is a step that a check repeats: a tick with its inputs, or inputs that were applied between two
// ticks.
type repeat struct {
	tick   uint64 // 0 for inputs between two ticks
	inputs []input
	// broken reports whether the steps up to the next checkpoint cannot be repeated. The list of steps then
	// has only this element.
	broken bool
}

// noteRepeat adds a step to the next check.
func (s *Store) noteRepeat(one repeat) {
	switch {
	case s.o.Check.Again == nil || unrepeatable(s.check.since):
	case one.broken:
		s.check.since = []repeat{one}
	default:
		s.check.since = append(s.check.since, one)
	}
}

func unrepeatable(steps []repeat) bool { return len(steps) > 0 && steps[0].broken }

// mayCheck begins a check if one is due. The goroutine that writes checkpoints calls mayCheck when a
// checkpoint is durable. busy reports whether a check is under way, which may still read old checkpoints.
func (s *Store) mayCheck(w *writing) (busy bool) {
	c := &s.check
	switch {
	case s.o.Check.Again == nil:
		return false
	case c.busy.Load():
		return true
	}
	every := s.o.Check.Every
	if every == 0 {
		every = time.Minute
	}
	rests := c.ended != 0 && clock.Now()-c.ended < every
	if rests || len(w.steps) == 0 || unrepeatable(w.steps) || len(s.kept) < 2 {
		return false
	}
	c.busy.Store(true)
	from := s.kept[len(s.kept)-2].number
	c.running.Go(func() {
		err := errors.New("store: Options.Check.Again ended its goroutine")
		defer func() {
			if done := s.o.Check.Done; done != nil {
				done(w.info.Tick, err)
			} else if c.err == nil {
				c.err = err
			}
			c.ended = clock.Now()
			c.busy.Store(false)
		}()
		err = s.replayBeside(from, w)
	})
	return true
}

// replayBeside repeats in a second world the ticks and inputs between two checkpoints, and compares that
// world with the second checkpoint.
func (s *Store) replayBeside(from uint64, w *writing) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("store: checking the replay of world %q: panic: %v\n%s", s.w.Options().Name, v,
				debug.Stack())
		}
	}()
	var want *moment
	if err = s.again(&replica{number: w.number, over: func(r *Store) (err error) {
		want, err = momentOf(r.w, r.o)
		return err
	}}); err != nil {
		return err
	}
	return s.again(&replica{number: from, steps: w.steps, over: func(r *Store) error {
		d, err := want.compare(r.w, r.o)
		if d == nil {
			return err
		}
		d.World, d.From, d.Tick = r.w.Options().Name, r.base, r.tick
		return d
	}})
}

// replica is the work of one call of Check.Again, and its result. A check makes one to copy the newest
// checkpoint, and one to repeat the ticks.
type replica struct {
	of     *Store
	number uint64               // number of the checkpoint to read
	steps  []repeat             // the steps that Recover repeats
	over   func(r *Store) error // called after the steps
	err    error                // result of over
	ended  bool                 // whether Recover has repeated all steps
}

// again calls Check.Again, which opens the program's world once more.
func (s *Store) again(r *replica) error {
	r.of = s
	err := s.o.Check.Again(r.open)
	switch {
	case r.err != nil: // err may be another error, because Again chooses what it returns
		return r.err
	case err == nil && !r.ended:
		err = errors.New("Options.Check.Again has not called open and Recover")
	}
	if err != nil {
		return fmt.Errorf("store: checking the replay of world %q: %w", s.w.Options().Name, err)
	}
	return nil
}

// open reads the checkpoint into a second world.
func (r *replica) open(w *vast.World, o Options) (*Store, error) {
	o.Check = Check{}
	s := &Store{w: w, o: o, folder: r.of.folder, replica: r}
	s.checkpoints.prepare()
	if err := s.readMoment(r.number); err != nil {
		return nil, fmt.Errorf("store: reading %s into another world %q: %w", checkpointName(r.number),
			w.Options().Name, err)
	}
	s.unchanged()
	return s, nil
}

// recoverReplica repeats the steps of a check in the second world.
func (s *Store) recoverReplica(tick func() error) error {
	r := s.replica
	defer func() {
		s.phase = closed
		if s.schedule != nil {
			schedules().Leave(s.schedule)
		}
	}()
	if s.edited || s.w.Changes() != s.changes {
		return errors.New("store: the world was changed between Open and Recover: change it after Recover")
	}
	for _, one := range r.steps {
		if one.tick == 0 {
			for _, in := range one.inputs {
				s.apply(in.data)
			}
		} else if err := s.replayTick(&replayed{number: one.tick, inputs: one.inputs}, tick); err != nil {
			return fmt.Errorf("store: replaying tick %d of world %q: %w", one.tick, s.w.Options().Name, err)
		}
	}
	r.ended = true
	r.err = r.over(s)
	return r.err
}
