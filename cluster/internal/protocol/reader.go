package protocol

import (
	"context"
	"fmt"
)

// reader reads the outbox of a region in the order of the ticks, and checks that each message continues the
// history. It skips messages that do not belong to this outbox.
type reader struct {
	o      *Options
	log    Log
	region int

	next  uint64 // number of the next message to read
	tick  uint64 // last tick that was read
	hash  Hash   // hash of the history up to tick
	epoch uint64 // epoch of the last message that was read and belongs to the outbox
	owner uint64 // number of the owner that sent the last message that was read and belongs to the outbox
	loose bool   // the next message may have any history, because no message was read before
	id    ID     // ID of the message with the number next-1, or zero if the reader has not read this message
	alien bool   // the message with the number next-1 does not belong to the outbox
	// rereading is set if the reader reads the log again from the first message, because ticks are missing or
	// the log has lost its end.
	rereading bool
}

func (o *Options) reader(region int) *reader {
	return &reader{o: o, log: o.Storage.Outbox(region), region: region, next: 1}
}

// step reads the next message of the log. It skips refused messages, and ticks that were read before. m is
// nil if the log has no further message yet.
func (r *reader) step(ctx context.Context) (m *message, number uint64, err error) {
	for {
		number, b, ok, err := r.log.Read(ctx, r.next)
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			r.rereading = false
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
			return nil, 0, fmt.Errorf("tick %d of region %d had the hash %v, and message %d gives it the "+
				"hash %v: %w", m.tick, r.region, r.hash, number, hash, ErrHistory)
		case m.tick <= r.tick:
			if m.kind == kindEpoch {
				return m, number, nil
			}
		case m.tick > r.tick+1 || m.kind == kindEpoch: // ticks are missing
			if r.rereading {
				return nil, 0, fmt.Errorf("tick %d of region %d is missing before message %d: %w", r.tick+1,
					r.region, number, ErrGone)
			}
			r.rewind()
		case m.before != r.hash:
			return nil, 0, fmt.Errorf("tick %d of region %d had the hash %v, and message %d follows the "+
				"hash %v: %w", r.tick, r.region, r.hash, number, m.before, ErrHistory)
		default:
			r.tick, r.hash, r.rereading = m.tick, hash, false
			return m, number, nil
		}
	}
}

// rewind makes the reader read the log again from the first message.
func (r *reader) rewind() { r.next, r.id, r.rereading = 1, ID{}, true }

// check returns an error if a message does not belong to the outbox.
func (r *reader) check(m *message) error {
	switch {
	case m.region != uint32(r.region):
		return fmt.Errorf("it belongs to region %d", m.region)
	case m.kind == kindEpoch:
		return nil
	case m.code != r.o.codeOf(m.tick):
		return fmt.Errorf("another version of the program, %v, ran tick %d, which is a tick of version %v: "+
			"set the same Options.Build and Options.Schema in all processes", m.code, m.tick,
			r.o.codeOf(m.tick))
	case len(m.sections) != r.o.Regions:
		return fmt.Errorf("it has sections for %d regions, want %d", len(m.sections), r.o.Regions)
	}
	return nil
}

// wait waits for the next message. If the log has lost its end, other messages may have the numbers of the
// lost messages. In this case the reader reads the log again from the first message.
func (r *reader) wait(ctx context.Context) error {
	if changed, err := r.changed(ctx); err != nil {
		return err
	} else if changed {
		r.rewind()
	}
	return r.log.Wait(ctx, r.next)
}

// changed reports whether the log has lost the last message that was read. A purged message is not lost.
func (r *reader) changed(ctx context.Context) (bool, error) {
	if r.id == (ID{}) {
		return false, nil
	}
	number, b, ok, err := r.log.Read(ctx, r.next-1)
	return err == nil && (!ok || number == r.next-1 && IDOf(b) != r.id), err
}

// end returns the number and the ID of the last message that was read. id is zero if this message does not
// belong to the outbox.
func (r *reader) end() (last uint64, id ID) {
	if r.alien {
		return r.next - 1, ID{}
	}
	return r.next - 1, r.id
}
