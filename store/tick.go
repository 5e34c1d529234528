package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/vastgo/vast"
)

// The kinds of records in the journal.
const (
	recordInput byte = 'i'
	recordTick  byte = 't' // the number of a tick, and the position after the last input that it applied
	recordNow   byte = 'n' // the waiting inputs were applied between two ticks: see Store.Submit
	recordBreak byte = 'b' // the world was changed outside of ticks, so a replay ends at this record
	recordKept  byte = 'c' // the number of a durable checkpoint, which holds the changes outside of ticks
	// recordDrop holds two positions. It drops inputs from the first position on, and other records from the
	// second position on.
	recordDrop byte = 'd'
)

// Schedule is a *sched.Schedule.
type Schedule interface {
	World() *vast.World
	Tick() error
}

// Attach makes a schedule report its ticks to the store. The store then applies inputs before each tick, and
// takes checkpoints after ticks. The schedule continues after the last tick in the store, with the seed that
// the store has recorded. Call Attach before Recover and before the first tick. Visitors of the world wait
// for the end of Recover. Attach panics if Options.Containers lacks an event queue or Jobs of the schedule.
//
// The Start functions of systems run in each process, before its first tick. If Context.Tick is above 0 in
// Start, the store has read the world, and Start must not fill it again.
func (s *Store) Attach(schedule Schedule) {
	s.must("Attach", opened)
	if schedule.World() != s.w {
		panic("store: Store.Attach: the schedule runs over another world than the store's world")
	}
	if s.schedule != nil {
		panic("store: Store.Attach: the store has a schedule already: tick the second schedule in a system " +
			"of the first")
	}
	if k := schedules(); k == nil || !k.Keep(schedule, keeper{s}, s.known) {
		panic("store: Store.Attach: the schedule is no *sched.Schedule: call Store.Tick for each tick")
	}
	s.mustKeepParts(schedule)
	s.schedule = schedule
}

// mustKeepParts panics if the store does not keep an event queue or the jobs of the schedule. A restart would
// lose the events of the last tick and the jobs in flight.
func (s *Store) mustKeepParts(schedule any) {
	kept := make(map[any]bool)
	for _, container := range s.o.Containers {
		if c, err := containerOf(container); err == nil {
			kept[c.Of()[0]] = true
		}
	}
	for _, part := range schedules().Parts(schedule) {
		if !kept[part.Of] {
			panic(fmt.Sprintf("store: Store.Attach: a restart would lose %s: make the %s before Open, and "+
				"name it in Options.Containers", part.Held, part.Kind))
		}
	}
}

// keeper has the methods of the store that an attached schedule calls.
type keeper struct{ s *Store }

func (k keeper) Begin() error          { return k.s.beginTick() }
func (k keeper) End(failed bool) error { return k.s.endTick(failed) }
func (k keeper) Writes(columns []int) {
	if columns == nil {
		k.s.settle()
	} else if l := k.s.late.Load(); l != nil {
		l.need(columns)
	}
}

func (k keeper) Visits() bool { return k.s.phase == running }

// Changed notes a change outside of ticks. A change that an input makes does not count, because a replay
// repeats inputs.
func (k keeper) Changed() {
	if !k.s.inInput {
		k.s.edited = true
	}
}

// Tick runs one tick of a program without a schedule: it applies the recorded inputs, calls tick, and takes a
// checkpoint if one is due. A program with a schedule calls Attach, and runs the schedule.
//
// Tick returns the error of tick. It also returns an error if the store cannot continue, for example because
// the disk has failed, or if the copy for a checkpoint fails. The store repeats a failed copy a second later,
// whatever Options.Every is. After an error, LastTick tells whether the tick was made.
func (s *Store) Tick(tick func() error) error {
	s.must("Tick", running)
	if s.schedule != nil {
		panic("store: Store.Tick: the store has a schedule: run the schedule")
	}
	return s.runTick(tick)
}

func (s *Store) runTick(tick func() error) error {
	if err := s.beginTick(); err != nil {
		return err
	}
	failed := true
	defer func() {
		if failed && s.inside { // tick panicked
			_ = s.endTick(true)
		}
	}()
	err := tick()
	failed = false
	return errors.Join(err, s.endTick(err != nil))
}

// beginTick begins a tick, and applies the inputs that were recorded before the tick.
func (s *Store) beginTick() error {
	s.must("Tick, or Tick of the attached schedule", running, recovering)
	if s.inside { // the goroutine of the last tick ended inside of the tick
		if err := s.endTick(true); err != nil {
			return err
		}
	}
	if r := s.replay; r != nil {
		s.replay = nil
		s.inside = true
		for _, in := range r.inputs {
			s.apply(in.data)
		}
		return nil
	}
	if s.phase == recovering {
		return errors.New("store: Recover replays one tick for each call of the tick function: call " +
			"Schedule.Tick once in that function")
	}
	if err := s.noteChanges(); err != nil {
		return err
	}
	if s.due {
		if err := s.mayCheckpoint(); err != nil {
			return err
		}
	}
	inputs, err := s.takeInputs()
	if err != nil {
		return err
	}
	s.noteRepeat(repeat{tick: s.tick + 1, inputs: inputs})
	if s.schedule == nil || len(inputs) > 0 { // otherwise keeper.Writes waits for the copies
		s.settle()
	}
	s.inside = true
	for _, in := range inputs {
		s.apply(in.data)
	}
	return nil
}

// noteChanges records a change of the world outside of ticks, if there was one. A replay cannot repeat the
// ticks that follow this change. So the journal acknowledges no record before the next checkpoint is durable.
func (s *Store) noteChanges() error {
	if !s.edited && s.w.Changes() == s.changes {
		return nil
	}
	if s.w.Changes() != s.changes {
		s.direct = eagerFor
	}
	s.noteRepeat(repeat{broken: true})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal != nil { // without a journal, nothing is replayed
		s.needed, s.broken = s.next, true
		s.journal.Hold()
		if _, err := s.journal.Append(recordBreak, nil, false); err != nil {
			return err
		}
		s.due = true
	}
	s.due = s.due || s.edited
	s.unchanged()
	return nil
}

// unchanged makes noteChanges ignore all earlier changes.
func (s *Store) unchanged() { s.edited, s.changes = false, s.w.Changes() }

// Changed tells the store that components were changed outside of ticks and inputs, for example by a visitor
// of the world. The store takes a checkpoint before the next tick. If an earlier checkpoint is still being
// written, the new checkpoint begins when the earlier one is durable. The change and the ticks after the
// change become durable with the new checkpoint: call [Store.Checkpoint] to wait for it. The store detects
// births, deletions, and added and removed components: they need no call. Disabling or enabling an entity
// needs a call. Changes of a new world between Open and Recover need no call.
//
// Call Changed inside a tick, or while an input is applied, if a replay may give another world: for example
// because there was no memory for a part of the work. The tick or input then counts as a change outside of
// ticks. If a replayed tick or input calls Changed, Recover returns an error.
func (s *Store) Changed() {
	s.must("Changed", opened, recovering, running)
	s.edited = true
}

// takeInputs removes the waiting inputs, and returns them.
func (s *Store) takeInputs() ([]input, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inputs := s.waiting
	if s.journal != nil {
		if err := s.journal.Err(); err != nil {
			return nil, fmt.Errorf("store: tick %d cannot be recorded: %w", s.tick+1, err)
		}
		_, s.taken = s.journal.Segment()
	}
	s.waiting = nil
	return inputs, nil
}

// endTick counts and records a tick, and takes a checkpoint if one is due.
func (s *Store) endTick(failed bool) error {
	if !s.inside { // the error came before the tick began
		return nil
	}
	failed = failed || s.edited // the tick may have called Changed
	s.inside = false
	s.tick++
	s.unchanged()
	if s.phase == recovering {
		s.edited = failed // replayTick checks edited, because the program may drop the error
		return nil
	}
	if err := s.journalTick(failed); err != nil {
		return err
	}
	return s.mayCheckpoint()
}

// journalTick records a tick, unless the tick has failed or has called Changed. A replay of such a tick could
// fail or give another world. So the tick counts as a change outside of ticks, which only the next checkpoint
// holds.
func (s *Store) journalTick(failed bool) error {
	s.edited = failed
	if failed || s.journal == nil {
		s.due = s.due || failed
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ticks) == cap(s.ticks) {
		s.noteDurable()
	}
	var numbers [2 * binary.MaxVarintLen64]byte
	record := binary.AppendUvarint(binary.AppendUvarint(numbers[:0], s.tick), s.taken)
	position, err := s.journal.Append(recordTick, record, false)
	if err != nil {
		s.edited = true
		return fmt.Errorf("store: tick %d cannot be recorded: %w", s.tick, err)
	}
	s.ticks = append(s.ticks, tickRecord{s.tick, position})
	return nil
}

type tickRecord struct{ tick, position uint64 }

// DurableTick returns the number of the last tick that is durable: after a crash, Recover continues from this
// tick or a later one. A tick becomes durable with the next checkpoint. If the store has a journal, a tick
// also becomes durable with the next input, or after about a second.
func (s *Store) DurableTick() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteDurable()
	return s.durable
}

// noteDurable sets Store.durable, and removes durable ticks from Store.ticks. The caller holds mu.
func (s *Store) noteDurable() {
	if s.journal == nil {
		return
	}
	n, durable := 0, s.journal.Durable()
	for n < len(s.ticks) && s.ticks[n].position < durable {
		s.durable = max(s.durable, s.ticks[n].tick)
		n++
	}
	s.ticks = append(s.ticks[:0], s.ticks[n:]...)
}
