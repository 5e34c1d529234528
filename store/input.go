package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

type input struct {
	data     []byte
	position uint64
	segment  uint32 // segment of the journal that holds the record
}

// Record records an input: data from outside of the program, such as the command of a player. The next tick
// passes the input to the function apply that the program gave to Recover. After a crash, the replay of this
// tick passes the input to apply again. Inputs are applied in the order in which they were recorded. Record
// copies data and does not wait for the disk.
//
// The input is durable when [Store.Durable] is above its position, or when [Store.Wait] returns nil. Do not
// answer the sender before the input is durable.
//
// Record returns an error if there is no journal, if the disk has failed, or if 64 MiB of records wait for
// the disk. After an error, the input is not applied.
func (s *Store) Record(data []byte) (position uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal == nil {
		return 0, errNoJournal
	}
	segment, _ := s.journal.Segment()
	if position, err = s.journal.Append(recordInput, data, true); err != nil {
		return 0, fmt.Errorf("store: recording an input: %w", err)
	}
	s.waiting = append(s.waiting, input{bytes.Clone(data), position, segment})
	return position, nil
}

// Submit records an input and applies it between two ticks. Submit returns nil when the input is durable and
// applied. Use Submit for inputs that must not wait for a tick, such as an edit in the inspector of a paused
// program. Submit first applies the inputs that wait for the next tick. A replay applies all these inputs
// between the same two ticks.
//
// Submit visits the world, so do not call Submit on the goroutine of the world: see [vast.World.Visit]. If
// the last tick has not ended, because there was no memory for its commands, the next tick applies the input,
// perhaps after Submit has returned.
//
// If ctx ends first, Submit returns the error of ctx, and the input may still be applied or become durable.
// Submit also returns the errors of Record, Wait and [vast.World.Visit], and the error of a checkpoint that
// Submit has to begin first.
func (s *Store) Submit(ctx context.Context, data []byte) error {
	var position uint64
	var err error
	if e := s.w.Visit(ctx, func() bool {
		position, err = s.submit(data)
		return true
	}); e != nil {
		return e
	}
	if err != nil {
		return err
	}
	return s.Wait(ctx, position)
}

// submit records an input. Between ticks, it also applies all waiting inputs. The caller owns the world.
func (s *Store) submit(data []byte) (position uint64, err error) {
	if s.phase != running {
		return 0, errNoJournal
	}
	if !s.inside {
		if err := s.noteChanges(); err != nil {
			return 0, err
		}
		if s.due {
			if err := s.mayCheckpoint(); err != nil {
				return 0, err
			}
		}
		s.settle() // completes the copy of a checkpoint that this or an earlier visit has begun
	}
	if position, err = s.Record(data); err != nil || s.inside {
		return position, err
	}
	inputs, position, err := s.takeNow()
	if err != nil {
		return 0, err
	}
	s.noteRepeat(repeat{inputs: inputs})
	whole := false
	defer func() { // apply may have panicked or called Changed
		s.changes, s.edited = s.w.Changes(), s.edited || !whole
	}()
	for _, in := range inputs {
		s.apply(in.data)
	}
	whole = true
	return position, nil
}

// takeNow records that the waiting inputs are applied between two ticks, and returns these inputs. position
// is the position of this record.
func (s *Store) takeNow() (inputs []input, position uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if position, err = s.journal.Append(recordNow, nil, true); err != nil {
		return nil, 0, fmt.Errorf("store: recording an input: %w", err)
	}
	inputs, s.waiting = s.waiting, nil
	return inputs, position, nil
}

var errNoJournal = errors.New("store: there is no journal: call Recover with the functions that replay " +
	"ticks, and record inputs before Close")

// Durable returns the position below which inputs are durable.
func (s *Store) Durable() uint64 {
	if j := s.journalNow(); j != nil {
		return j.Durable()
	}
	return 0
}

// Wait waits until the input at a position is durable, or until ctx ends. Wait returns the error of ctx, or
// an error that says why the input cannot become durable.
func (s *Store) Wait(ctx context.Context, position uint64) error {
	j := s.journalNow()
	if j == nil {
		return errNoJournal
	}
	return j.Wait(ctx, position)
}
