package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/vastgo/vast/internal/executable"
	"github.com/vastgo/vast/store/internal/journal"
)

// replayed is a tick in the journal. In tail.now it is a record of the kind recordNow.
type replayed struct {
	number   uint64
	position uint64 // position of its record in the journal
	taken    uint64 // the tick applied the inputs before this position
	inputs   []input
	build    string
}

// Recover brings the world to the last durable tick, and begins to keep the world. For each tick that the
// journal holds after the checkpoint, Recover applies the tick's inputs and calls tick. The function tick
// makes one tick. If a schedule is attached, tick is (*sched.Schedule).Tick, or calls that method once. After
// Recover the store calls apply for each recorded input before the next tick. The results of apply and tick
// must depend only on the world and the input. A Schedule meets this condition if its systems read no other
// data.
//
// Fill a new world before Recover. Change a world that Open has read only after Recover: if there are ticks
// to replay, a change between Open and Recover is an error. The store detects these changes like changes
// between ticks: see [Store.Changed]. Recover begins a checkpoint. Later ticks and inputs are durable only
// after that checkpoint is durable.
//
// If a program cannot repeat its ticks, it passes nil for apply and tick. The store then has no inputs and no
// journal, and a crash loses the ticks after the last checkpoint.
//
// Recover does not replay a tick that failed. If no checkpoint followed that tick, Recover restores the world
// before the tick, and the inputs of the tick wait for the next tick.
//
// Recover returns a [*BuildError] for ticks of another build, and for inputs that another build applied after
// the last tick. It returns an error if tick fails. Close the store after an error.
func (s *Store) Recover(apply func(input []byte), tick func() error) error {
	s.must("Recover", opened)
	if (apply == nil) != (tick == nil) {
		panic("store: Store.Recover: give both functions, or nil for both")
	}
	if tick == nil && (s.replica != nil || s.o.Check.Again != nil) {
		return fmt.Errorf("store: recovering world %q: Options.Check checks the functions that replay "+
			"ticks: give them to Recover, or leave out the check", s.w.Options().Name)
	}
	s.apply = func(input []byte) {
		s.inInput = true
		defer func() { s.inInput = false }()
		apply(input)
	}
	s.phase = recovering
	if s.replica != nil {
		return s.recoverReplica(tick)
	}
	var err error
	if s.at != nil {
		err = s.recoverPast(tick)
	} else {
		// A check (see Options.Check) cannot begin at the last checkpoint, because another build may have
		// taken it.
		s.noteRepeat(repeat{broken: true})
		err = s.recover(tick, !s.isNew && (s.edited || s.w.Changes() != s.changes))
	}
	if err == nil && s.at == nil {
		s.phase = running
		s.unchanged()
		engine.OnSettle(s.w, s.settle)
		if err = s.begin(); err == nil {
			s.settle() // the first copy holds everything: complete it now, so that no tick waits for it
		}
	}
	if err != nil {
		s.failure = err
		return fmt.Errorf("store: recovering world %q: %w", s.w.Options().Name, err)
	}
	return nil
}

// recover replays ticks and begins the journal. changed says whether the program has changed the world after
// Open read it.
func (s *Store) recover(tick func() error, changed bool) error {
	build, err := s.build()
	if err != nil {
		return err
	}
	after := new(tail)
	if s.tail != nil && !s.o.DropTail {
		if after, err = s.readTail(); err != nil {
			return err
		}
		if err := s.mayReplay(after, build, tick != nil); err != nil {
			return err
		}
		if changed && len(after.ticks) > 0 {
			return fmt.Errorf("the program has changed the world between Open and Recover, so the %d ticks "+
				"after tick %d cannot be replayed: change the world after Recover; or set Options.DropTail "+
				"to lose the ticks", len(after.ticks), s.base)
		}
		for i := range after.ticks {
			if err := s.replayTick(&after.ticks[i], tick); err != nil {
				return fmt.Errorf("replaying tick %d: %w: mend the cause; or set Options.DropTail to lose "+
					"the %d ticks after tick %d", after.ticks[i].number, err, len(after.ticks), s.base)
			}
		}
	}
	s.edited = false
	if n := len(after.now); n > 0 {
		for len(after.inputs) > 0 && after.inputs[0].position < after.now[n-1].position {
			s.apply(after.inputs[0].data)
			after.inputs = after.inputs[1:]
		}
	}
	if s.edited {
		return fmt.Errorf("applying the inputs after tick %d: %w: mend the cause; or set Options.DropTail "+
			"to lose these inputs", s.tick, errUnrepeatable)
	}
	if tick == nil {
		return nil
	}
	o := journal.Options{Delay: time.Second, Hold: true}
	if s.isNew {
		if err := s.beginFolder(); err != nil {
			return err
		}
	}
	var j *journal.Journal
	var dropped []byte
	if s.tail != nil {
		if dropped, err = s.dropped(after); err != nil {
			return err
		}
		j, err = s.tail.Resume(build, o)
	} else {
		j, err = journal.Create(s.folder, s.id, build, o)
	}
	if err != nil {
		return err
	}
	if s.tail != nil && (s.o.DropTail || after.broken) {
		if _, err := j.Append(recordDrop, dropped, true); err != nil {
			return errors.Join(err, j.Close())
		}
	}
	if changed {
		if _, err := j.Append(recordBreak, nil, false); err != nil {
			return errors.Join(err, j.Close())
		}
	}
	if !s.isNew {
		// Record that the checkpoint's file is needed, before the ticks in the checkpoint count as durable.
		// The method Store.reached records this, too, but the last process may have crashed before that call.
		_, err := j.Append(recordKept, binary.AppendUvarint(nil, s.next-1), true)
		if err = errors.Join(err, j.Flush()); err != nil {
			return errors.Join(err, j.Close())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal, s.waiting, s.needed, s.broken = j, after.inputs, s.next, changed
	return nil
}

// dropped returns the data of a record of the kind recordDrop. If the tail has a change outside of ticks, the
// record drops this change and everything after it. Otherwise the record is for Options.DropTail. It then
// drops everything after the checkpoint, and the inputs that waited when the checkpoint was taken. Ticks and
// changes between these inputs stay, because the checkpoint holds them.
func (s *Store) dropped(after *tail) ([]byte, error) {
	inputs, others := after.change, after.change
	if !after.broken {
		inputs, others = s.position, s.tail.End
		for r, err := range s.tail.Records() {
			if err != nil {
				return nil, err
			}
			if r.Segment >= s.segment {
				others = r.Position
				break
			}
		}
	}
	return binary.AppendUvarint(binary.AppendUvarint(nil, inputs), others), nil
}

// mayReplay returns an error if the program cannot replay the ticks and inputs of t. canReplay says whether
// Recover got functions.
func (s *Store) mayReplay(t *tail, build string, canReplay bool) error {
	if len(t.ticks)+len(t.inputs) == 0 {
		return nil
	}
	if !canReplay {
		return fmt.Errorf("the journal holds %d ticks and %d inputs after the checkpoint at tick %d: give "+
			"Recover the functions that replay them, or set Options.DropTail to lose them", len(t.ticks),
			len(t.inputs), s.base)
	}
	for _, one := range t.ticks {
		if one.build != build {
			return &BuildError{one.build, build, one.number, s.base, len(t.ticks)}
		}
	}
	if n := len(t.now); n > 0 && len(t.inputs) > 0 && t.inputs[0].position < t.now[n-1].position &&
		t.now[n-1].build != build {
		return &BuildError{t.now[n-1].build, build, 0, s.base, len(t.ticks)}
	}
	return nil
}

// BuildError is the error of Recover for ticks that another build of the program has recorded, or for inputs
// that another build has applied after the last tick. The present build may compute another world from them.
type BuildError struct {
	Recorded string // the other build, which recorded the tick or applied the inputs
	Build    string // the build of the program that called Recover
	Tick     uint64 // the first tick of the other build; 0 for inputs after the last tick
	Base     uint64 // the tick of the last checkpoint
	Ticks    int    // number of ticks after the checkpoint
}

// Error names the builds and the remedies.
func (e *BuildError) Error() string {
	what := fmt.Sprintf("recorded tick %d", e.Tick)
	if e.Tick == 0 {
		what = "applied inputs after the last tick"
	}
	return fmt.Sprintf("build %q %s, and this is build %q, which may compute another world: run the other "+
		"build once, because its Close takes a checkpoint; or set Options.Build to the same name in both "+
		"builds if they compute the same; or set Options.DropTail to lose the %d ticks and the inputs after "+
		"tick %d",
		e.Recorded, what, e.Build, e.Ticks, e.Base)
}

func (s *Store) replayTick(t *replayed, tick func() error) error {
	if t.number != s.tick+1 {
		return fmt.Errorf("it follows tick %d in the journal: the ticks between them are missing", s.tick)
	}
	s.replay = t
	s.edited = false
	var err error
	if s.schedule != nil {
		err = tick()
	} else {
		err = s.runTick(tick)
	}
	if err != nil {
		return err
	}
	if s.tick != t.number {
		return errors.New("the function made no tick of the attached schedule: give Recover the schedule's " +
			"Tick, or a function that calls it once")
	}
	if s.edited {
		return errUnrepeatable
	}
	return nil
}

var errUnrepeatable = errors.New("the replay failed or called Store.Changed, and the first run did not")

// tail holds the records of the journal after a checkpoint.
type tail struct {
	ticks  []replayed
	inputs []input // in the order of positions; replayable moves inputs to the ticks that applied them
	// now has the positions and builds of the records of the kind recordNow. The program applied all inputs
	// that lie before such a record.
	now    []replayed
	broken bool   // whether the world was changed outside of ticks
	change uint64 // position of the record of the change outside of ticks
	kept   uint64 // the durable checkpoint that holds the change, or 0 if the journal names none
}

// cut drops the inputs at or behind firstInput, and all other records at or behind position.
func (t *tail) cut(firstInput, position uint64) {
	for len(t.inputs) > 0 && t.inputs[len(t.inputs)-1].position >= firstInput {
		t.inputs = t.inputs[:len(t.inputs)-1]
	}
	for len(t.ticks) > 0 && t.ticks[len(t.ticks)-1].position >= position {
		t.ticks = t.ticks[:len(t.ticks)-1]
	}
	for len(t.now) > 0 && t.now[len(t.now)-1].position >= position {
		t.now = t.now[:len(t.now)-1]
	}
	if t.broken && t.change >= position {
		t.broken, t.kept = false, 0
	}
}

// replayable drops the records after a change outside of ticks, and moves inputs to their ticks.
func (t *tail) replayable() {
	if t.broken {
		t.cut(t.change, t.change)
		t.broken = true
	}
	for i := range t.ticks {
		one := &t.ticks[i]
		n := 0
		for n < len(t.inputs) && t.inputs[n].position < one.taken {
			n++
		}
		one.inputs, t.inputs = t.inputs[:n:n], t.inputs[n:]
	}
}

func (s *Store) readTail() (*tail, error) {
	t := new(tail)
	for r, err := range s.tail.Records() {
		if err != nil {
			return nil, err
		}
		if err := s.readRecord(t, r); err != nil {
			return nil, fmt.Errorf("record %d of the journal, in segment %d: %w", r.Position, r.Segment, err)
		}
	}
	if t.kept > 0 {
		return nil, fmt.Errorf("%s is missing: it was durable, and held a tick that failed or a change "+
			"outside of ticks, which cannot be replayed: restore the file, or set Options.DropTail to lose "+
			"everything after tick %d", checkpointName(t.kept), s.base)
	}
	t.replayable()
	return t, nil
}

// numbersOf says how many numbers a record of each kind holds.
var numbersOf = map[byte]int{recordTick: 2, recordKept: 1, recordDrop: 2}

func (s *Store) readRecord(t *tail, r journal.Record) error {
	numbers, data := make([]uint64, numbersOf[r.Kind]), r.Data
	for i := range numbers {
		n := 0
		if numbers[i], n = binary.Uvarint(data); n <= 0 {
			return errors.New("the record holds too few numbers")
		}
		data = data[n:]
	}
	if len(data) > 0 && r.Kind != recordInput {
		return fmt.Errorf("%d bytes follow the record", len(data))
	}
	switch r.Kind {
	case recordInput:
		t.inputs = append(t.inputs, input{bytes.Clone(r.Data), r.Position, r.Segment})
	case recordTick:
		// The tail begins with inputs that waited when the checkpoint was taken. The checkpoint holds the
		// ticks and changes between these inputs.
		if r.Segment >= s.segment {
			t.ticks = append(t.ticks, replayed{number: numbers[0], position: r.Position, taken: numbers[1],
				build: r.Build})
		}
	case recordNow:
		t.now = append(t.now, replayed{position: r.Position, build: r.Build})
	case recordBreak:
		if !t.broken && r.Segment >= s.segment {
			t.broken, t.change = true, r.Position
		}
	case recordKept:
		if t.broken && numbers[0] >= s.next {
			t.kept = numbers[0]
		}
	case recordDrop:
		t.cut(numbers[0], numbers[1])
	default:
		return fmt.Errorf("the record has the unknown kind %q", r.Kind)
	}
	return nil
}

func (s *Store) build() (string, error) {
	if s.o.Build != "" {
		return s.o.Build, nil
	}
	return executable.Hash()
}
