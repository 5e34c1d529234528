package protocol

import (
	"context"
	"errors"
	"fmt"
)

// Follow runs the ticks of a region again, after the owner, from the newest checkpoint until the last tick or
// until the context ends. It changes nothing in the storage. Follow runs a tick when the outbox has the
// owner's message of the tick and Due has returned nil. The tick gets the inputs up to the cut of this
// message. If Due returns [ErrEnd], Follow returns nil. If the context ends, Follow returns an error.
//
// Follow returns ErrGone if messages or inputs were removed before it could read them. It returns ErrHistory
// if the owner has computed another state. After an error the machine is of no use: call Follow again with a
// new machine. Follow does not use the options Journal, Held, Every, Ended, Process and Number.
func Follow(ctx context.Context, o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	r := &owner{o: o}
	if err := r.begin(ctx); errors.Is(err, ErrEnd) {
		return nil
	} else if err != nil {
		return fmt.Errorf("following region %d: %w", o.Region, err)
	}
	for o.Until == 0 || r.tick < o.Until {
		err := r.followTick(ctx)
		switch {
		case errors.Is(err, ErrEnd):
			return nil
		case errors.Is(err, ErrHistory) && r.o.Compare != nil:
			err = r.difference(ctx, err)
			fallthrough
		case err != nil:
			return fmt.Errorf("following region %d after tick %d: %w", o.Region, r.tick, err)
		}
	}
	return nil
}

func (r *owner) begin(ctx context.Context) error {
	for {
		p, revision, err := r.o.pointerOf(ctx, r.o.Region)
		if err != nil {
			return err
		}
		if r.pointer = p; revision == r.revision && revision > 0 {
			return fmt.Errorf("the checkpoint %s: %w", p.Checkpoint, ErrGone)
		}
		r.revision = revision
		if err := r.runs(&p); err != nil {
			return err
		}
		r.open()
		// After ErrGone, begin reads the pointer again: the owner may have made a newer checkpoint.
		if err := r.load(ctx, p); !errors.Is(err, ErrGone) {
			own := *r.from[r.o.Region]
			r.own = &own
			return err
		}
	}
}

// followTick runs the next tick as the owner has run it.
func (r *owner) followTick(ctx context.Context) error {
	m, err := r.nextOfOwner(ctx)
	if err != nil {
		return err
	}
	return r.again(ctx, m, r.o.Due)
}

// nextOfOwner waits for the owner's message of the next tick. It returns ErrHistory if the owner's message of
// the current tick has another hash than the state of r.
func (r *owner) nextOfOwner(ctx context.Context) (*message, error) {
	for {
		m, number, err := r.own.step(ctx)
		switch {
		case err != nil:
			return nil, err
		case m == nil:
			if err := r.own.wait(ctx); err != nil {
				return nil, err
			}
		case m.kind == kindEpoch || m.tick < r.tick:
		case m.tick == r.tick:
			if hash := m.hash(); hash != r.hash {
				return nil, fmt.Errorf("message %d has the hash %v, and the checkpoint has %v: %w", number,
					hash, r.hash, ErrHistory)
			}
		default:
			return m, nil
		}
	}
}

// difference finds out how the state of the machine differs from that of the owner. It runs the ticks up to
// the owner's next checkpoint, does not check their results, and compares the states there. The returned
// error contains cause and the difference.
func (r *owner) difference(ctx context.Context, cause error) error {
	p := r.pointer
	var err error
	for ahead := uint64(0); p.Tick < r.tick && err == nil; ahead++ {
		if p, _, err = r.o.pointerOf(ctx, r.o.Region); err == nil && p.Tick < r.tick {
			err = r.own.log.Wait(ctx, r.own.next+ahead) // the pointer may move after any message
		}
	}
	for r.tick < p.Tick && err == nil {
		err = r.runUnchecked(ctx)
	}
	var state []byte
	if err == nil {
		_, state, err = r.readCheckpoint(ctx, p)
	}
	if err != nil {
		return fmt.Errorf("%w; the states cannot be compared: %w", cause, err)
	}
	if err := r.o.Compare(state); err != nil {
		return fmt.Errorf("%w; after tick %d: %w", cause, p.Tick, err)
	}
	return fmt.Errorf("%w; after tick %d the states are the same", cause, p.Tick)
}

// runUnchecked runs the next tick, and continues with the hash of the owner's message, even if the machine
// has computed another result.
func (r *owner) runUnchecked(ctx context.Context) error {
	m, err := r.nextOfOwner(ctx)
	if err != nil {
		return err
	}
	inputs, cut, err := r.inputs(ctx, r.cut, m.cut)
	if err == nil {
		_, err = r.run(ctx, inputs, cut)
	}
	r.hash = m.hash()
	return err
}
