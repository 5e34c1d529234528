package protocol

import (
	"context"
	"errors"
	"fmt"
)

// Follow runs the ticks of a region again, behind its owner, from the newest checkpoint until the last tick
// or until the context ends. It changes nothing in the storage. Each tick runs after the owner's message for
// it is in the outbox, with the cut of this message, and when Due returns. Follow also returns nil if Due
// returns [ErrEnd].
//
// Follow returns ErrGone if messages or inputs that it needs were removed, because it is late. It returns
// ErrHistory if the owner has computed another state. Then the machine is of no use, and another Follow
// begins at a newer checkpoint. Follow does not use the fields Journal, Held, Every, Process and Number of
// the options.
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
		if err := r.followed(ctx); errors.Is(err, ErrEnd) {
			return nil
		} else if err != nil {
			return fmt.Errorf("following region %d after tick %d: %w", o.Region, r.tick, err)
		}
	}
	return nil
}

// begin loads the newest checkpoint.
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
		if err := r.load(ctx, p); !errors.Is(err, ErrGone) { // ErrGone: the owner may have made a newer one
			own := *r.from[r.o.Region]
			r.own = &own
			return err
		}
	}
}

// followed runs the next tick as the owner has run it.
func (r *owner) followed(ctx context.Context) error {
	for {
		m, number, err := r.own.step(ctx)
		switch {
		case err != nil:
			return err
		case m == nil:
			if err := r.own.wait(ctx); err != nil {
				return err
			}
		case m.kind == kindEpoch || m.tick < r.tick:
		case m.tick == r.tick:
			if hash := m.hash(); hash != r.hash {
				return fmt.Errorf("message %d has the hash %v, and the checkpoint %v: %w", number, hash,
					r.hash, ErrHistory)
			}
		default:
			return r.again(ctx, m, r.o.Due)
		}
	}
}
