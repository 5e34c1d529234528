package protocol

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
)

// Options say which region to run, and on which storage, journal and machine.
type Options struct {
	Region    int // the number of the region, from 0
	Regions   int
	Lookahead uint64 // at least 1, and the same for all regions; it never changes
	// Versions returns the versions of the program that run ticks of the cluster, in the order of their first
	// ticks. Later calls may return more versions.
	Versions func() []Version
	// From is the first tick of the version that this process runs.
	From    uint64
	Storage Storage
	Journal Journal
	Machine Machine // in its state before the first tick
	// Held reports whether the owner still has the lease of the region. If Held returns false, the owner
	// stops before it appends its next message. Default: the owner always has the lease.
	Held func() bool
	// Due waits until a tick is due. It returns [ErrEnd] if a later version of the program or another owner
	// runs the tick. Default: each tick is due immediately.
	Due func(ctx context.Context, tick uint64) error
	// Compare compares the state of the machine with the state that the owner has saved after the same tick.
	// It returns an error that says what differs. Follow calls Compare when the machine has computed another
	// result than the owner. Default: nothing is compared.
	Compare func(state []byte) error
	// Every is the number of ticks between two checkpoints. Default: 60.
	Every uint64
	// Until is the last tick to run. Default: there is no last tick.
	Until uint64
	// Ended is called when the checkpoint of the last tick is durable. If Ended returns false, Run returns.
	// If Ended returns true, Run guards the outbox until the context or the epoch ends, because other regions
	// may still need the messages of this region. If the guarded outbox loses messages, Run returns ErrLost,
	// and the next call of Run appends them again from the journal. Default: Ended returns false.
	Ended func() bool
	// Report is called with errors after which Run continues: a message is refused, or a checkpoint is not
	// stored. Default: these errors are dropped.
	Report func(error)
	// Process is the name of the process. A process that starts again must have the same name and the same
	// journals. A process must run at most one owner of a region at a time.
	Process string
	// Number is a random number that no other owner has, not even an earlier one of the same process.
	Number uint64
}

func (o *Options) report(err error) {
	if o.Report != nil {
		o.Report(err)
	}
}

func (o *Options) check() error {
	if o.Region < 0 || o.Region >= o.Regions || o.Lookahead == 0 {
		return fmt.Errorf("region %d of %d regions, with lookahead %d: regions count from 0, and the "+
			"lookahead is at least 1", o.Region, o.Regions, o.Lookahead)
	}
	return nil
}

type owner struct {
	o    Options
	own  *reader   // the outbox of the region, read up to the last message that is known to be appended
	from []*reader // the outboxes of all regions, each read up to the last tick that this region has received

	epoch    uint64
	before   uint64 // previous epoch
	pointer  pointer
	revision uint64 // revision of the pointer

	tick uint64 // last tick that the machine has run
	hash Hash   // hash of the history up to tick
	cut  uint64 // number of the last input that the machine has read

	last    uint64      // number that the newest message will have when all sent messages are appended
	id      ID          // ID of the message with the number last, or zero if it does not belong to the outbox
	sent    []sent      // messages that are not known to be appended, oldest first
	numbers []numbered  // ticks in the outbox, oldest first
	purged  uint64      // last tick that was removed from the outbox
	saving  *checkpoint // checkpoint that is being stored, or nil
	tidied  bool        // superseded checkpoints were removed
}

// sent is the message of a tick that is not known to be appended.
type sent struct {
	tick     uint64
	hash     Hash
	number   uint64
	m        []byte
	appended Appended
}

// numbered has a tick, and the number of its message in the outbox.
type numbered struct{ tick, number uint64 }

// Run takes a region over and runs its ticks until the last tick of the region or of this version of the
// program, or until the context ends. When Run returns nil, the checkpoint of the last tick is durable. Run
// returns ErrFenced if another owner takes the region over, or if Held returns false; the state of the
// machine is then of no use. Run returns ErrVersion if a process of an earlier version must run the region
// first.
func Run(ctx context.Context, o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.Every == 0 {
		o.Every = 60
	}
	r := &owner{o: o}
	if err := r.takeOver(ctx); errors.Is(err, ErrEnd) {
		return nil
	} else if err != nil {
		return fmt.Errorf("taking region %d over: %w", o.Region, r.cause(ctx, err))
	}
	for r.o.Until == 0 || r.tick < r.o.Until {
		tick := r.tick + 1
		if err := r.runNextTick(ctx); errors.Is(err, ErrEnd) {
			break
		} else if err != nil {
			return fmt.Errorf("tick %d of region %d: %w", tick, o.Region, r.cause(ctx, err))
		}
	}
	if err := r.finish(ctx); err != nil {
		return fmt.Errorf("ending region %d after tick %d: %w", o.Region, r.tick, r.cause(ctx, err))
	}
	if o.Ended == nil || !o.Ended() {
		return nil
	}
	return fmt.Errorf("guarding region %d after tick %d: %w", o.Region, r.tick, r.cause(ctx, r.guard(ctx)))
}

// guard checks the outbox until the context ends, the epoch ends, or the outbox has lost messages.
func (r *owner) guard(ctx context.Context) error {
	for {
		if err := r.look(ctx); err != nil {
			return err
		}
		if err := r.own.log.Wait(ctx, r.own.next); err != nil {
			return err
		}
	}
}

// cause returns the cause of an error. An owner that has slept gets ErrGone if a later owner has removed
// messages. In this case cause returns ErrFenced.
func (r *owner) cause(ctx context.Context, err error) error {
	if !errors.Is(err, ErrGone) {
		return err
	}
	p, _, e := r.o.pointerOf(ctx, r.o.Region)
	if e != nil {
		return err
	}
	return cmp.Or(p.fences(r), err)
}

func (r *owner) runNextTick(ctx context.Context) error {
	if r.o.Due != nil {
		if err := r.o.Due(ctx, r.tick+1); err != nil {
			return err
		}
	}
	inputs, cut, err := r.inputs(ctx, r.cut, ^uint64(0))
	if err != nil {
		return err
	}
	m, err := r.run(ctx, inputs, cut)
	if err != nil {
		return err
	}
	b := m.appendTo(nil)
	if err := r.o.Journal.Write(m.tick, b); err != nil {
		return err
	}
	if err := r.append(ctx, sent{tick: m.tick, hash: r.hash, m: b}); err != nil {
		return err
	}
	// The next tick receives the message that this region sent lookahead ticks earlier. The outbox must have
	// that message, so fewer than lookahead messages may be unacknowledged.
	for uint64(len(r.sent)) >= r.o.Lookahead {
		if err := r.acknowledge(ctx); err != nil {
			return err
		}
	}
	// The offset spreads the checkpoints of the regions over different ticks.
	offset := r.o.Every * uint64(r.o.Region) / uint64(r.o.Regions)
	if r.saving == nil && (r.tick+offset)%r.o.Every == 0 {
		if err := r.save(ctx); err != nil {
			return err
		}
	}
	return r.advance(ctx)
}

// run runs the next tick of the machine. inputs are the inputs up to cut that no earlier tick has read.
func (r *owner) run(ctx context.Context, inputs [][]byte, cut uint64) (*message, error) {
	tick := r.tick + 1
	var received [][]byte
	if tick > r.o.Lookahead {
		received = make([][]byte, r.o.Regions)
		for i, f := range r.from {
			m, err := r.waitForTick(ctx, f, tick-r.o.Lookahead)
			if err != nil {
				return nil, err
			}
			received[i] = m.sections[r.o.Region]
		}
	}
	sections, state, err := r.o.Machine.Tick(tick, received, inputs)
	if err != nil {
		return nil, err
	}
	if len(sections) != r.o.Regions {
		return nil, fmt.Errorf("the machine has returned %d sections, want %d, one for each region",
			len(sections), r.o.Regions)
	}
	m := &message{kind: kindTick, region: uint32(r.o.Region), epoch: r.epoch, owner: r.o.Number, tick: tick,
		before: r.hash, code: r.o.codeOf(tick), cut: cut, state: state, sections: sections}
	r.tick, r.hash, r.cut = tick, m.hash(), cut
	return m, nil
}

// waitForTick waits for the message of a tick in the outbox that f reads. During a long wait, it checks the
// outbox of this region: the other region may wait for a message that this outbox has lost.
func (r *owner) waitForTick(ctx context.Context, f *reader, tick uint64) (*message, error) {
	for long := false; ; {
		m, _, err := f.step(ctx)
		if err != nil {
			return nil, err
		}
		switch {
		case m == nil && long:
			for len(r.sent) > 0 {
				if err := r.acknowledge(ctx); err != nil {
					return nil, err
				}
			}
			if err := r.look(ctx); err != nil {
				return nil, err
			}
			long = false
		case m == nil:
			if err := f.wait(ctx); err != nil {
				return nil, err
			}
			long = true
		case m.kind == kindTick && m.tick == tick:
			return m, nil
		}
	}
}

// inputs returns the inputs with numbers > after and <= upTo. cut is the number of the last of these inputs.
// If there are no such inputs, cut is equal to after. If upTo is the largest uint64, inputs returns all
// inputs up to the newest one.
func (r *owner) inputs(ctx context.Context, after, upTo uint64) (inputs [][]byte, cut uint64, err error) {
	log := r.o.Storage.Inputs(r.o.Region)
	for after < upTo {
		number, b, ok, err := log.Read(ctx, after+1)
		if err != nil {
			return nil, 0, err
		}
		switch {
		case !ok && upTo == ^uint64(0):
			return inputs, after, nil
		case !ok: // a tick has read the input upTo, so the log has this input or has lost it
			last, err := log.Last(ctx)
			if err != nil {
				return nil, 0, err
			}
			if last < upTo {
				return nil, 0, fmt.Errorf("a tick has read input %d, and the log ends with input %d: %w",
					upTo, last, ErrLost)
			}
			if err := log.Wait(ctx, after+1); err != nil {
				return nil, 0, err
			}
			continue
		case number != after+1:
			return nil, 0, fmt.Errorf("input %d: %w", after+1, ErrGone)
		}
		inputs, after = append(inputs, b), number
	}
	return inputs, after, nil
}

func (r *owner) append(ctx context.Context, s sent) error {
	if r.o.Held != nil && !r.o.Held() {
		return fmt.Errorf("the lease has ended: %w", ErrFenced)
	}
	s.appended = r.own.log.Append(ctx, r.last, r.id, s.m)
	r.last, r.id = r.last+1, IDOf(s.m)
	s.number = r.last
	r.sent = append(r.sent, s)
	return nil
}

// acknowledge waits until the oldest sent message is appended. After an error, it calls settle.
func (r *owner) acknowledge(ctx context.Context) error {
	if err := r.sent[0].appended.Wait(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return r.settle(ctx)
	}
	r.appended(1)
	return nil
}

// appended notes that the n oldest sent messages are appended.
func (r *owner) appended(n int) {
	for _, s := range r.sent[:n] {
		r.numbers = append(r.numbers, numbered{s.tick, s.number})
		r.own.next, r.own.id, r.own.alien = s.number+1, IDOf(s.m), false
		r.own.tick, r.own.hash = s.tick, s.hash
	}
	r.sent = r.sent[n:]
}

// settle is called after an error. It finds out which sent messages are appended, and appends the others
// again.
func (r *owner) settle(ctx context.Context) error {
	if err := r.look(ctx); err != nil {
		return err
	}
	r.last, r.id = r.own.end()
	rest := r.sent
	r.sent = nil
	for _, s := range rest {
		if err := r.append(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// look reads the new messages in the outbox of the region. It returns ErrFenced if the epoch has ended.
func (r *owner) look(ctx context.Context) error {
	if err := r.readOwn(ctx, r.found); err != nil {
		return err
	}
	if r.own.epoch != r.epoch || r.own.owner != r.o.Number {
		return fmt.Errorf("the outbox has the epoch %d of the owner %d: %w", r.own.epoch, r.own.owner,
			ErrFenced)
	}
	return nil
}

// found notes that the outbox has the message of a tick.
func (r *owner) found(m *message, number uint64) error {
	if m.owner != r.o.Number {
		return nil // look returns ErrFenced
	}
	for i, s := range r.sent {
		if s.tick != m.tick {
			continue
		}
		if hash := m.hash(); hash != s.hash {
			return fmt.Errorf("tick %d has the hash %v, and message %d has %v: %w", s.tick, s.hash, number,
				hash, ErrHistory)
		}
		r.sent[i].number = number
		r.appended(i + 1)
		break
	}
	return nil
}

// readOwn reads the outbox of the region up to its newest message, and calls visit with each message.
func (r *owner) readOwn(ctx context.Context, visit func(m *message, number uint64) error) error {
	for {
		last, err := r.own.log.Last(ctx)
		if err != nil {
			return err
		}
		if changed, err := r.own.changed(ctx); err != nil {
			return err
		} else if changed || last < r.own.next-1 {
			return fmt.Errorf("the outbox has lost message %d: %w", r.own.next-1, ErrLost)
		}
		if last == r.own.next-1 {
			return nil
		}
		m, number, err := r.own.step(ctx)
		if err == nil && m == nil && r.own.next <= last {
			err = r.own.log.Wait(ctx, r.own.next)
		} else if err == nil && m != nil {
			err = visit(m, number)
		}
		if err != nil {
			return err
		}
	}
}

// finish waits until all sent messages are appended, and until the newest checkpoint is that of the last
// tick.
func (r *owner) finish(ctx context.Context) error {
	for len(r.sent) > 0 {
		if err := r.acknowledge(ctx); err != nil {
			return err
		}
	}
	for r.pointer.Tick < r.tick {
		if r.saving == nil {
			if err := r.save(ctx); err != nil {
				return err
			}
		}
		if err := r.saving.stored.Wait(ctx); err != nil {
			return err
		}
		if err := r.advance(ctx); err != nil {
			return err
		}
	}
	if !r.tidied {
		return r.tidy(ctx)
	}
	return nil
}

func (r *owner) save(ctx context.Context) error {
	head, state, err := r.saved()
	if err != nil {
		return err
	}
	r.saving = &checkpoint{cut: r.cut, pointer: r.pointer}
	r.saving.Tick, r.saving.Hash = r.tick, bytes.Clone(r.hash[:])
	r.saving.Checkpoint = checkpointName(r.epoch, r.tick)
	r.saving.stored = r.o.Storage.PutCheckpoint(ctx, r.o.Region, r.saving.Checkpoint, head, state)
	return nil
}

// advance makes the checkpoint that is being stored the newest one, if this checkpoint and the messages of
// its ticks are durable. Then it removes older checkpoints, inputs and messages that no region needs.
func (r *owner) advance(ctx context.Context) error {
	c := r.saving
	if c == nil || len(r.sent) > 0 && r.sent[0].tick <= c.Tick {
		return nil
	}
	if done, err := c.stored.Done(); err != nil || !done {
		if err != nil { // the next checkpoint may succeed
			r.saving, r.tidied = nil, false // a part of this checkpoint may be stored
			r.o.report(fmt.Errorf("checkpoint %s of region %d: %w", c.Checkpoint, r.o.Region, err))
		}
		return nil
	}
	r.saving = nil
	c.Sum = c.stored.Sum()
	previous := r.pointer.Checkpoint
	if err := r.point(ctx, c.pointer); err != nil {
		return err
	}
	if err := r.removeOld(ctx, previous); err != nil {
		return err
	}
	if err := r.o.Storage.Inputs(r.o.Region).Purge(ctx, c.cut+1); err != nil {
		return err
	}
	return r.purge(ctx)
}

// removeOld removes the checkpoints that are older than the newest one. previous is the name of the
// checkpoint before the newest one.
func (r *owner) removeOld(ctx context.Context, previous string) error {
	if !r.tidied {
		return r.tidy(ctx)
	}
	return r.o.Storage.RemoveCheckpoint(ctx, r.o.Region, previous)
}

// point replaces the pointer of the region. It returns errMoved if an earlier owner has meanwhile moved the
// pointer to a later checkpoint.
func (r *owner) point(ctx context.Context, p pointer) error {
	for {
		revision, err := r.o.Storage.SetPointer(ctx, r.o.Region, encodePointer(p), r.revision)
		if err == nil {
			r.pointer, r.revision = p, revision
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		now, revision, err := r.o.pointerOf(ctx, r.o.Region)
		if err == nil {
			err = now.fences(r)
		}
		switch {
		case err != nil:
			return err
		case now.Owner == p.Owner && now.Tick == p.Tick && now.HolderEpoch == p.HolderEpoch:
			r.pointer, r.revision = now, revision
			return nil
		case now.Tick > p.Tick:
			return errMoved
		}
		r.revision = revision
	}
}

// errMoved reports that the pointer names a later checkpoint.
var errMoved = errors.New("the pointer has moved")

// purge removes messages that no region needs. A region that starts from its newest checkpoint needs the
// messages of the lookahead ticks up to the tick of this checkpoint, and all later messages.
func (r *owner) purge(ctx context.Context) error {
	least := r.pointer.Tick
	for i := range r.o.Regions {
		if i == r.o.Region {
			continue
		}
		p, _, err := r.o.pointerOf(ctx, i)
		if err != nil {
			return err
		}
		least = min(least, p.Tick)
	}
	if least < r.o.Lookahead {
		return nil
	}
	below := uint64(0)
	for len(r.numbers) > 0 && r.numbers[0].tick <= least-r.o.Lookahead {
		below = r.numbers[0].number + 1
		r.numbers = r.numbers[1:]
	}
	if below == 0 {
		return nil
	}
	// look returns an error if the outbox has lost its end. Then the next owner needs the journal as it is.
	if err := r.look(ctx); err != nil {
		return err
	}
	if err := r.own.log.Purge(ctx, below); err != nil {
		return err
	}
	// The journal keeps the messages that this call has purged from the outbox. The next call of purge
	// removes them. If the outbox has lost its end by then, look fails in that call. So the journal keeps the
	// messages, and the next owner refills the outbox from them.
	previous := r.purged
	r.purged = least - r.o.Lookahead
	return r.o.Journal.Purge(previous)
}
