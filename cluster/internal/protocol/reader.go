package protocol

import (
	"context"
	"fmt"
)

// reader reads the outbox of a region in the order of its ticks, and checks that each message continues the
// history before it. It skips messages that are not of this outbox.
type reader struct {
	o      *Options
	log    Log
	region int

	next  uint64 // the number of the message to read
	tick  uint64 // of the last tick that was read
	hash  Hash   // of its history
	epoch uint64 // of the last message that was read
	owner uint64 // its owner
	// loose is whether the next message is taken as it is, because nothing is known of the ticks before.
	loose bool
	id    ID   // of the message before next, or zero if that is not known
	alien bool // whether this message is not of the outbox
	// again is whether messages are read again from the first one on, because the log has lost some.
	again bool
}

func (o *Options) reader(region int) *reader {
	return &reader{o: o, log: o.Storage.Outbox(region), region: region, next: 1}
}

// step reads the next message that the log has, other than ticks that were read before. It returns no message
// if there is none yet.
func (r *reader) step(ctx context.Context) (m *message, number uint64, err error) {
	for {
		number, b, ok, err := r.log.Read(ctx, r.next)
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			r.again = false
			return nil, 0, nil
		}
		r.next, r.id = number+1, IDOf(b)
		m, err := decode(b)
		if err == nil {
			err = r.check(m)
		}
		r.alien = err != nil
		if err != nil {
			r.o.report(fmt.Errorf("message %d of region %d is refused: %w", number, r.region, err))
			continue
		}
		r.epoch, r.owner = m.epoch, m.owner
		hash := m.before
		if m.kind == kindTick {
			hash = m.hash()
		}
		switch {
		case r.loose:
			r.tick, r.hash, r.loose = m.tick, hash, false
			return m, number, nil
		case m.tick == r.tick && hash != r.hash:
			return nil, 0, fmt.Errorf("tick %d of region %d was %v, and in message %d it is %v: %w", m.tick,
				r.region, r.hash, number, hash, ErrHistory)
		case m.tick <= r.tick:
			if m.kind == kindEpoch {
				return m, number, nil
			}
		case m.tick > r.tick+1 || m.kind == kindEpoch: // ticks are missing
			if r.again {
				return nil, 0, fmt.Errorf("tick %d of region %d, and the outbox goes on after it with "+
					"message %d: %w", r.tick+1, r.region, number, ErrGone)
			}
			r.rewind()
		case m.before != r.hash:
			return nil, 0, fmt.Errorf("tick %d of region %d was %v, and message %d continues %v: %w", r.tick,
				r.region, r.hash, number, m.before, ErrHistory)
		default:
			r.tick, r.hash, r.again = m.tick, hash, false
			return m, number, nil
		}
	}
}

// rewind has the messages be read from the first one on.
func (r *reader) rewind() { r.next, r.id, r.again = 1, ID{}, true }

// check reports why a message does not belong to the outbox.
func (r *reader) check(m *message) error {
	switch {
	case m.region != uint32(r.region):
		return fmt.Errorf("it is of region %d", m.region)
	case m.kind == kindEpoch:
		return nil
	case m.code != r.o.codeOf(m.tick):
		return fmt.Errorf("another version of the program, %v, ran tick %d, and %v runs this tick: set the "+
			"same Options.Build and Options.Schema in all processes", m.code, m.tick, r.o.codeOf(m.tick))
	case len(m.sections) != r.o.Regions:
		return fmt.Errorf("it is for %d regions of %d", len(m.sections), r.o.Regions)
	}
	return nil
}

// wait waits for the next message. If the log has lost its end, other messages may have taken the numbers of
// those that were lost. Then the reader begins again.
func (r *reader) wait(ctx context.Context) error {
	if changed, err := r.changed(ctx); err != nil {
		return err
	} else if changed {
		r.rewind()
	}
	return r.log.Wait(ctx, r.next)
}

// changed reports whether the last message that was read is no longer there, although it was not purged.
func (r *reader) changed(ctx context.Context) (bool, error) {
	if r.id == (ID{}) {
		return false, nil
	}
	number, b, ok, err := r.log.Read(ctx, r.next-1)
	return err == nil && (!ok || number == r.next-1 && IDOf(b) != r.id), err
}

// end returns the number of the last message that was read, and its ID if an owner has sent it.
func (r *reader) end() (last uint64, id ID) {
	if r.alien {
		return r.next - 1, ID{}
	}
	return r.next - 1, r.id
}
