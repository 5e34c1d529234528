package store

import (
	"errors"
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/store/internal/journal"
)

// lookBack is the part of a Store's state that only OpenAt sets.
type lookBack struct {
	tick  uint64 // the argument tick of OpenAt
	after *tail  // the records of the journal after the checkpoint
	err   error  // why the journal cannot be read
}

// OpenAt reads the newest checkpoint at or before a tick into w. w must meet the same conditions as for
// [Open]. [Store.LastTick] returns the checkpoint's tick. OpenAt does not change the folder, and the returned
// store writes nothing: Tick, Checkpoint, Record, Submit and Wait panic or return an error. After Recover,
// Changed panics as well.
//
// Recover replays the ticks after the checkpoint, with the same functions as after Open. It stops at the
// given tick, before a change outside of ticks, or at the end of the journal. After Recover, LastTick returns
// the last replayed tick. The store no longer controls an attached schedule: the schedule admits visitors,
// and the program may continue the simulation.
//
//	st, err := store.OpenAt("data", w, 12_000, store.Options{})
//	…
//	st.Attach(s)
//	err = st.Recover(apply, s.Tick) // the world after tick 12,000
//
// Options.Keep, KeepFor and KeepBytes of the program that keeps the store decide which old checkpoints exist.
// OpenAt takes no lock: that program may be running. If the program removes a checkpoint while OpenAt begins
// to read it, OpenAt selects a checkpoint again. On Windows the program cannot remove a file while OpenAt
// reads the file: see [LoadMoment].
//
// If there are no ticks to replay, OpenAt maps elements of columns instead of reading them: see [LoadMoment].
//
// OpenAt returns an error if all checkpoints are newer than tick. It also returns the errors of Open.
// Complexity: that of Open, or of LoadMoment; OpenAt also reads the description of each checkpoint.
func OpenAt(dir string, w *vast.World, tick uint64, o Options) (*Store, error) {
	s := &Store{w: w, o: o, at: &lookBack{tick: tick}}
	s.checkpoints.prepare()
	var c *chain
	tries := 0
	err := onMoments(dir, func(folder disk.Folder, moments []File) (err error) {
		i := len(moments) - 1
		for ; i >= 0 && moments[i].Tick > tick; i-- {
		}
		if i < 0 {
			return fmt.Errorf("the oldest checkpoint that is kept is of tick %d: ask for this tick or a "+
				"later one; to keep older checkpoints in future, set Options.Keep or KeepFor",
				moments[0].Tick)
		}
		if c, err = openChain(folder, moments[i].Number); err != nil {
			return err
		}
		s.folder = folder
		if err = s.lookAhead(c.manifest().Kept); err != nil && tries < 3 {
			tries++ // a program may be writing the journal
			return errors.Join(err, c.close())
		}
		// Recover returns this error if it needs the journal. The journal may be gone: a checkpoint's file
		// stays longer than its journal if later checkpoints need the file.
		s.at.err = err
		return nil
	})
	if err == nil {
		s.report, err = c.read(w, o, s.at.after == nil || len(s.at.after.ticks) == 0)
		err = errors.Join(err, c.close())
	}
	if err != nil {
		return nil, fmt.Errorf("store: opening %q at tick %d for world %q: %w", dir, tick, w.Options().Name,
			err)
	}
	return s, nil
}

// lookAhead sets the store's state from the description of a checkpoint, and reads the journal after the
// checkpoint.
func (s *Store) lookAhead(m *keptManifest) (err error) {
	if s.id, err = storeOf(m); err != nil {
		return err
	}
	s.next = m.Number + 1
	s.tick, s.base, s.durable = m.Tick, m.Tick, m.Tick
	s.segment, s.position = m.Segment, m.Position
	s.known = m.Schedule
	s.at.after = new(tail)
	if m.Segment == 0 || m.Tick >= s.at.tick {
		return nil
	}
	if s.tail, err = journal.Read(s.folder, s.id, m.Segment, m.Position); err != nil {
		return err
	}
	t := new(tail)
	for r, err := range s.tail.Records() {
		if err == nil {
			err = s.readRecord(t, r)
		}
		if err != nil {
			return fmt.Errorf("record %d of the journal, in segment %d: %w", r.Position, r.Segment, err)
		}
	}
	t.replayable()
	for n := len(t.ticks); n > 0 && t.ticks[n-1].number > s.at.tick; n-- {
		t.ticks = t.ticks[:n-1]
	}
	t.inputs = nil // inputs that no recorded tick has applied are not replayed
	s.at.after = t
	return nil
}

// recoverPast replays the ticks after the checkpoint, up to the argument tick of OpenAt.
func (s *Store) recoverPast(tick func() error) error {
	if tick == nil || s.o.DropTail || s.tick >= s.at.tick {
		return s.release()
	}
	if s.at.err != nil {
		return s.at.err
	}
	build, err := s.build()
	if err != nil {
		return err
	}
	if err := s.mayReplay(s.at.after, build, true); err != nil {
		return err
	}
	for i := range s.at.after.ticks {
		one := &s.at.after.ticks[i]
		if err := s.replayTick(one, tick); err != nil {
			return fmt.Errorf("replaying tick %d: %w", one.number, err)
		}
	}
	return s.release()
}

// release lets the schedule run without the store.
func (s *Store) release() error {
	if s.schedule != nil {
		schedules().Leave(s.schedule)
		s.schedule = nil
	}
	s.phase = past
	return nil
}
