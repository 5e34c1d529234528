package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vastgo/vast/store/internal/journal"
)

// replayed is a tick that the journal holds.
type replayed struct {
	number uint64
	inputs []input
	build  string
}

// Recover brings the world to the last durable tick, and begins to keep it: for each tick that the journal
// holds after the checkpoint, it applies the tick's inputs and calls tick, the function that makes one tick:
// (*sched.Schedule).Tick if a schedule is attached. From then on apply applies recorded inputs before each
// tick. Both must compute the same from the same world and inputs, as a Schedule does with systems that read
// nothing else.
//
// A new world is filled before Recover. Recover takes the first checkpoint, and waits until it is durable.
//
// A program that cannot repeat its ticks gives nil for both functions: then there are no inputs and no journal,
// and a crash loses the ticks after the last checkpoint.
//
// Recover returns an error if the journal holds ticks of another build (see Options.Build), or if tick fails.
// Then close the store.
func (s *Store) Recover(apply func(input []byte), tick func() error) error {
	s.must("Recover", opened)
	if (apply == nil) != (tick == nil) {
		panic("store: Store.Recover: give both functions, or nil for both")
	}
	s.apply = apply
	s.phase = recovering
	var err error
	if s.isNew {
		// A crash must not leave a journal without a checkpoint, which Open takes for damage.
		err = s.checkpoint()
	}
	if err == nil {
		err = s.recover(tick)
	}
	if err == nil {
		s.phase = running
		s.unchanged()
		err = s.begin()
	}
	if err != nil {
		s.failure = err
		return fmt.Errorf("store: recovering world %q: %w", s.w.Options().Name, err)
	}
	return nil
}

func (s *Store) recover(tick func() error) error {
	build, err := s.build()
	if err != nil {
		return err
	}
	var waiting []input
	if s.tail != nil && !s.o.DropTail {
		ticks, rest, err := s.readTail()
		if err != nil {
			return err
		}
		if err := s.mayReplay(ticks, rest, build, tick != nil); err != nil {
			return err
		}
		for i := range ticks {
			if err := s.replayTick(&ticks[i], tick); err != nil {
				return fmt.Errorf("replaying tick %d: %w", ticks[i].number, err)
			}
		}
		waiting = rest
	}
	if tick == nil {
		return nil
	}
	o := journal.Options{Delay: time.Second, Hold: true}
	var j *journal.Journal
	if s.tail != nil {
		j, err = s.tail.Resume(build, o)
	} else {
		j, err = journal.Create(s.folder, s.id, build, o)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tail != nil && s.o.DropTail {
		if _, err := j.Append(recordDrop, nil, true); err != nil {
			return errors.Join(err, j.Close())
		}
	}
	s.journal, s.waiting, s.needed = j, waiting, s.next
	return nil
}

// mayReplay returns an error if the program cannot replay ticks.
func (s *Store) mayReplay(ticks []replayed, rest []input, build string, can bool) error {
	if len(ticks)+len(rest) == 0 {
		return nil
	}
	if !can {
		return fmt.Errorf("the journal holds %d ticks and %d inputs after the checkpoint at tick %d: give Recover "+
			"the functions that replay them, or set Options.DropTail to lose them", len(ticks), len(rest), s.base)
	}
	for _, t := range ticks {
		if t.build != build {
			return fmt.Errorf("build %q recorded tick %d, and this is build %q, which may compute another world "+
				"from it: run the other build once, because its Close takes a checkpoint; or set Options.Build to "+
				"the same name in both if they compute the same; or set Options.DropTail to lose the %d ticks "+
				"after tick %d", t.build, t.number, build, len(ticks), s.base)
		}
	}
	return nil
}

// replayTick makes a tick once more.
func (s *Store) replayTick(t *replayed, tick func() error) error {
	if t.number != s.tick+1 {
		return fmt.Errorf("the journal continues with it after tick %d", s.tick)
	}
	s.replay = t
	var err error
	if s.schedule != nil {
		err = tick()
	} else {
		err = s.runTick(tick)
	}
	if err != nil {
		return err
	}
	if s.tick != t.number {
		return errors.New("the function made no tick of the attached schedule: give Recover the schedule's Tick, " +
			"or a function that calls it once")
	}
	return nil
}

// readTail reads the ticks that follow the checkpoint, and the inputs that no tick has applied.
func (s *Store) readTail() (ticks []replayed, rest []input, err error) {
	broken := false
	for r, err := range s.tail.Records() {
		if err != nil {
			return nil, nil, err
		}
		if broken && r.Kind != recordDrop {
			continue
		}
		switch r.Kind {
		case recordInput:
			rest = append(rest, input{bytes.Clone(r.Data), r.Position, r.Segment})
		case recordTick:
			number, n := binary.Uvarint(r.Data)
			if n != len(r.Data) {
				return nil, nil, fmt.Errorf("record %d of the journal does not hold the number of a tick",
					r.Position)
			}
			ticks = append(ticks, replayed{number, rest, r.Build})
			rest = nil
		case recordBreak:
			broken = true // what follows was not acknowledged
		case recordDrop:
			ticks, rest, broken = nil, nil, false
		default:
			return nil, nil, fmt.Errorf("record %d of the journal has the unknown kind %q", r.Position, r.Kind)
		}
	}
	return ticks, rest, nil
}

// build returns the name of the program's build.
func (s *Store) build() (string, error) {
	if s.o.Build != "" {
		return s.o.Build, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("the executable file is not known, so set Options.Build: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the executable file cannot be read, so set Options.Build: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("the executable file cannot be read, so set Options.Build: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}
