package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// input is an input that was recorded.
type input struct {
	data     []byte
	position uint64
	segment  uint32 // of the journal
}

// Record records an input: something that comes from outside, such as the command of a player. The next tick
// applies it, with the function that Recover was given: the same call that a replay makes after a crash.
// Inputs are applied in the order in which they were recorded. Record copies data and does not wait for the
// disk.
//
// The input is durable when [Store.Durable] is above its position, or when [Store.Wait] returns nil. Answer
// whoever sent it then, and not before.
//
// Record returns an error if the disk has failed or is so slow that 64 MiB wait for it. Then the input is not
// applied.
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

var errNoJournal = errors.New("store: there is no journal: call Recover with the functions that replay " +
	"ticks, and record inputs until Close")

// Durable returns the position below which inputs are durable.
func (s *Store) Durable() uint64 {
	if j := s.journalNow(); j != nil {
		return j.Durable()
	}
	return 0
}

// Wait waits until the input at a position is durable, or until ctx ends. It returns the error of ctx, or why
// the input cannot become durable.
func (s *Store) Wait(ctx context.Context, position uint64) error {
	j := s.journalNow()
	if j == nil {
		return errNoJournal
	}
	return j.Wait(ctx, position)
}
