package protocol

import (
	"context"
	"errors"
	"fmt"
)

// takeOver makes this process the owner of the region, and runs the machine up to the last tick in the
// outbox.
func (r *owner) takeOver(ctx context.Context) error {
	var err error
	if r.pointer, r.revision, err = r.o.pointerOf(ctx, r.o.Region); err != nil {
		return err
	}
	if err := r.runs(&r.pointer); err != nil {
		return err // another version runs the next tick, and fence would stop the process of that version
	}
	ticks, err := r.fence(ctx)
	if err != nil {
		return err
	}
	if err := r.claim(ctx); err != nil {
		return err
	}
	if err := r.look(ctx); err != nil { // the outbox may have lost the epoch record during claim
		return err
	}
	if err := r.torn(r.before); err != nil {
		return err
	}
	p := r.pointer
	if err := r.runs(&p); err != nil {
		return err
	}
	if p.Holder == r.o.Process {
		if ticks, err = r.refill(ctx, ticks); err != nil {
			return err
		}
	}
	if r.own.tick < p.Tick {
		return r.lost(fmt.Sprintf("the checkpoint is of tick %d", p.Tick))
	}
	for _, t := range ticks {
		if err := r.journal(t.m); err != nil {
			return err
		}
	}
	p.Holder, p.HolderEpoch, p.Since = r.o.Process, r.epoch, r.own.tick
	if err := r.point(ctx, p); err != nil {
		return err
	}
	return r.replay(ctx, ticks)
}

// claim writes the epoch and the number of this owner into the pointer. After claim, earlier owners cannot
// move the pointer. If an earlier owner moves the pointer during the takeover, claim reads the pointer again.
// It does not begin the takeover again: a new takeover would not notice that the outbox has lost messages
// since the first takeover.
func (r *owner) claim(ctx context.Context) error {
	for {
		var err error
		if r.pointer, r.revision, err = r.o.pointerOf(ctx, r.o.Region); err != nil {
			return err
		}
		p := r.pointer
		if err := p.fences(r); err != nil {
			return err
		}
		p.Epoch, p.Owner = r.epoch, r.o.Number
		if err := r.point(ctx, p); !errors.Is(err, errMoved) {
			return err
		}
	}
}

// torn returns an error if the outbox has lost all messages of the epoch pointer.HolderEpoch, and only the
// journal of another process has them. The argument epoch is that of the last message before the epoch record
// of this owner.
func (r *owner) torn(epoch uint64) error {
	if epoch < r.pointer.HolderEpoch && r.pointer.Holder != r.o.Process {
		return r.lost(fmt.Sprintf("has no message of the epoch %d", r.pointer.HolderEpoch))
	}
	return nil
}

// lost returns the error for lost messages of the outbox. Only the journal of the pointer's holder can have
// the messages.
func (r *owner) lost(why string) error {
	if r.pointer.Holder == r.o.Process {
		return fmt.Errorf("the outbox ends with tick %d, and %s: the journal of this process lacks the "+
			"ticks in between: %w", r.own.tick, why, ErrLost)
	}
	return fmt.Errorf("the outbox ends with tick %d, and %s: start the process %q, which owned the region "+
		"and has the ticks in its journal: %w", r.own.tick, why, r.pointer.Holder, ErrLost)
}

// owned is a tick in the outbox of this region, with its message.
type owned struct {
	numbered
	m *message
}

// fence reads the outbox up to its end and appends an epoch record. After this record the outbox refuses
// messages of earlier owners. fence returns all ticks in the outbox.
func (r *owner) fence(ctx context.Context) (ticks []owned, err error) {
	rewind := func() {
		r.own, ticks = r.o.reader(r.o.Region), nil
		r.own.loose = true
	}
	rewind()
	var record *message
	fenced := false
	each := func(m *message, n uint64) error {
		switch {
		case m.kind == kindTick:
			ticks = append(ticks, owned{numbered{m.tick, n}, m})
		case record != nil && m.owner == record.owner && m.epoch == record.epoch:
			fenced = true
		}
		return nil
	}
	for {
		if err := r.readOwn(ctx, each); errors.Is(err, ErrGone) {
			rewind() // an earlier owner has removed messages before fence has read them
			continue
		} else if err != nil {
			return nil, err
		}
		if fenced {
			if r.own.owner != r.o.Number {
				return nil, fmt.Errorf("the outbox has the epoch %d: %w", r.own.epoch, ErrFenced)
			}
			r.epoch = record.epoch
			r.last, r.id = r.own.end()
			return ticks, nil
		}
		if err := r.torn(r.own.epoch); err != nil {
			return nil, err
		}
		r.before = r.own.epoch
		record = &message{kind: kindEpoch, region: uint32(r.o.Region), owner: r.o.Number,
			epoch: max(r.own.epoch, r.pointer.Epoch) + 1, tick: r.own.tick, before: r.own.hash}
		// After an error the outbox may or may not have the record. The next iteration finds out.
		last, id := r.own.end()
		if err := r.own.log.Append(ctx, last, id, record.appendTo(nil)).Wait(ctx); ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err())
		}
	}
}

// refill appends lost ticks from the journal to the outbox. It returns the given ticks, followed by the
// appended ticks.
func (r *owner) refill(ctx context.Context, ticks []owned) ([]owned, error) {
	for {
		b, ok, err := r.o.Journal.Read(r.own.tick + 1)
		if err != nil {
			return nil, err
		}
		if !ok {
			return ticks, nil
		}
		m, err := decode(b)
		if err == nil {
			if m.epoch < r.pointer.HolderEpoch && m.tick > r.pointer.Since {
				return ticks, nil // the outbox never had this tick: see pointer.Holder
			}
			m.epoch, m.owner = r.epoch, r.o.Number
			err = r.own.check(m)
		}
		if err != nil {
			return nil, fmt.Errorf("tick %d in the journal of region %d: %w", r.own.tick+1, r.o.Region, err)
		}
		if m.tick != r.own.tick+1 || m.before != r.own.hash {
			return ticks, nil // the tick belongs to another history
		}
		if err := r.append(ctx, sent{tick: m.tick, hash: m.hash(), m: m.appendTo(nil)}); err != nil {
			return nil, err
		}
		for len(r.sent) > 0 {
			if err := r.acknowledge(ctx); err != nil {
				return nil, err
			}
		}
		if err := r.look(ctx); err != nil {
			return nil, err
		}
		ticks = append(ticks, owned{r.numbers[len(r.numbers)-1], m})
	}
}

// replay loads the checkpoint, and then runs the later ticks of the outbox again.
func (r *owner) replay(ctx context.Context, ticks []owned) error {
	r.open()
	if err := r.load(ctx, r.pointer); err != nil {
		return err
	}
	r.numbers = nil
	for _, t := range ticks {
		if t.m.tick <= r.tick {
			if t.m.tick == r.tick && t.m.hash() != r.hash {
				return fmt.Errorf("tick %d has the hash %v in the outbox, and %v in the checkpoint: %w",
					r.tick, t.m.hash(), r.hash, ErrHistory)
			}
			r.numbers = append(r.numbers, t.numbered)
			continue
		}
		if err := r.again(ctx, t.m, nil); err != nil {
			return err
		}
		r.numbers = append(r.numbers, t.numbered)
	}
	if r.tick != r.own.tick {
		return fmt.Errorf("the outbox ends with tick %d, and the takeover could only run ticks up to %d: %w",
			r.own.tick, r.tick, ErrGone)
	}
	return nil
}

func (r *owner) open() {
	r.from = make([]*reader, r.o.Regions)
	for i := range r.from {
		r.from[i] = r.o.reader(i)
	}
}

// again runs the tick of m with the inputs of the first run, and compares the hashes. If due is not nil, the
// method calls due before the tick.
func (r *owner) again(ctx context.Context, m *message, due func(context.Context, uint64) error) error {
	inputs, cut, err := r.inputs(ctx, r.cut, m.cut)
	if err == nil && due != nil {
		err = due(ctx, m.tick)
	}
	if err == nil {
		_, err = r.run(ctx, inputs, cut)
	}
	if err != nil {
		return err
	}
	if r.hash != m.hash() {
		return fmt.Errorf("tick %d, run again, has the hash %v, and the outbox has %v: the program is not "+
			"deterministic, or another build has made the outbox: %w", m.tick, r.hash, m.hash(), ErrHistory)
	}
	return nil
}

// journal writes a tick of the outbox into the journal. It skips a tick that the journal already has, because
// writing the tick again would remove the later ticks from the journal.
func (r *owner) journal(m *message) error {
	b, ok, err := r.o.Journal.Read(m.tick)
	if err != nil {
		return err
	}
	if ok {
		if old, err := decode(b); err == nil && old.hash() == m.hash() {
			return nil
		}
	}
	return r.o.Journal.Write(m.tick, m.appendTo(nil))
}
