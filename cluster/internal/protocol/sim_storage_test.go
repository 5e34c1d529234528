package protocol

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"maps"
	"slices"
)

var (
	errUnknown  = errors.New("no answer came")
	errUnstored = errors.New("the checkpoint may or may not be stored")
)

type simLog struct {
	s        *sim
	outbox   bool
	region   int
	first    uint64   // number of the oldest message that is not removed
	messages [][]byte // all messages in the order of their numbers; nil for a removed message
	all      [][]byte // all inputs, including removed ones; nil in an outbox
	tick     uint64   // last tick in the log
	lost     bool     // the log has lost ticks that no owner has appended again
	history  map[uint64]Hash
	epochs   map[uint64]uint64 // owner of each epoch
	epoch    uint64
	kept     map[uint64]*message // messages of all ticks, including removed ones
}

func (l *simLog) last() uint64 { return uint64(len(l.messages)) }

func (l *simLog) push(m []byte) { l.messages = append(l.messages, m) }

// accept appends a message of an owner, and reports a violation if the message does not continue the history
// of the log.
func (l *simLog) accept(b []byte) {
	l.push(b)
	m, err := decode(b)
	if err != nil {
		l.s.violated("an owner has sent a message that cannot be decoded: %v", err)
		return
	}
	if m.epoch < l.epoch {
		l.s.violated("region %d: a message of epoch %d comes after the epoch %d", l.region, m.epoch, l.epoch)
	}
	if by, ok := l.epochs[m.epoch]; ok && by != m.owner {
		l.s.violated("region %d: two owners have the epoch %d", l.region, m.epoch)
	}
	l.epochs[m.epoch], l.epoch = m.owner, m.epoch
	if m.kind == kindEpoch {
		return
	}
	if m.code != codeOf(l.s.versionOf(m.tick)) {
		l.s.violated("region %d: the wrong version of the program ran tick %d", l.region, m.tick)
	}
	hash := m.hash()
	if old, ok := l.history[m.tick]; ok && old != hash {
		l.s.violated("region %d: two messages of tick %d have different hashes", l.region, m.tick)
	}
	if m.tick != l.tick+1 {
		l.s.violated("region %d: tick %d comes after tick %d", l.region, m.tick, l.tick)
	}
	l.history[m.tick], l.kept[m.tick], l.tick = hash, m, m.tick
	if l.lost {
		l.s.count["refilled"]++
		l.lost = l.kept[m.tick+1] != nil
	}
}

// loseTail removes the last messages of an outbox, as a power failure does. It also kills all owners of the
// region except the newest one: the outbox may lose the epoch record that fences them.
func (s *sim) loseTail(region int) {
	l := s.outboxes[region]
	n := min(s.r.IntN(5), len(l.messages))
	for n > 0 && l.first > 1 && len(l.messages)-n < int(l.first) {
		n-- // the oldest message of the log stays
	}
	newest := uint64(0)
	for _, o := range s.owners {
		if o.region == region && l.epochs[l.epoch] == o.number {
			newest = o.number
		}
	}
	for _, o := range s.owners {
		if o.region == region && o.number != newest {
			s.kill(o)
		}
	}
	s.late = slices.DeleteFunc(s.late, func(a lateAppend) bool { return a.log == l && a.owner != newest })
	if n == 0 {
		return
	}
	l.messages = l.messages[:len(l.messages)-n]
	l.tick, l.epoch = 0, 0
	for _, b := range l.messages {
		if b == nil {
			continue
		}
		if m, err := decode(b); err == nil && m.region == uint32(region) {
			l.epoch, l.tick = m.epoch, m.tick
		}
	}
	for epoch := range l.epochs {
		if epoch > l.epoch {
			delete(l.epochs, epoch)
		}
	}
	l.lost = l.lost || l.kept[l.tick+1] != nil
	s.count["tails"]++
}

// intrude appends a message that no owner has sent.
func (s *sim) intrude(region int) {
	l := s.outboxes[region]
	m := message{kind: kindTick, region: uint32(region + 1), epoch: 1 << 40, tick: l.tick + 1}
	b := m.appendTo(nil)
	if s.chance(500) {
		b[s.r.IntN(len(b))] ^= 1
	}
	l.push(b)
	s.count["intruders"]++
}

// lateAppend is a message on its way to a log.
type lateAppend struct {
	log        *simLog
	owner      uint64 // number of the owner that has sent the message, 0 for a duplicate
	lastNumber uint64
	lastID     ID
	m          []byte
	answer     *simAppended
}

// simAppended is the answer to Append.
type simAppended struct {
	o    *simOwner
	done bool
	err  error
}

func (a *simAppended) Wait(context.Context) error {
	if a.o.s.mistake == acknowledgeSoon {
		a.o.pass()
		return nil
	}
	a.o.wait(func() bool { return a.done })
	return a.err
}

// deliver delivers a random message. A log gets the messages of one owner in the order of the calls of
// Append.
func (s *sim) deliver() {
	at := s.r.IntN(len(s.late))
	for i, a := range s.late {
		if a.owner == s.late[at].owner && a.log == s.late[at].log {
			at = i
			break
		}
	}
	a := s.late[at]
	s.late = slices.Delete(s.late, at, at+1)
	answer := a.answer
	if answer == nil { // the message is a duplicate
		answer = new(simAppended)
	}
	if s.chance(s.faults.twice) {
		s.late = append(s.late, lateAppend{a.log, 0, a.lastNumber, a.lastID, a.m, nil})
		s.count["twice"]++
	}
	answer.done = true
	switch {
	case s.chance(s.faults.lostAppend):
		answer.err = errUnknown
		s.count["unknown"]++
	case !a.log.ends(a) && s.mistake != appendAlways:
		answer.err = ErrRefused
		s.count["refused"]++
	default:
		a.log.accept(a.m)
		if s.chance(s.faults.lostAnswer) {
			answer.err = errUnknown
			s.count["unknown"]++
		}
	}
}

// ends reports whether a.lastNumber and a.lastID name the last message of the log.
func (l *simLog) ends(a lateAppend) bool {
	if l.last() != a.lastNumber {
		return false
	}
	if l.s.mistake == numberAlone || a.lastID == (ID{}) {
		return true
	}
	newest := l.messages[a.lastNumber-1]
	m, err := decode(newest)
	// A message of an intruder has no ID.
	return err == nil && m.region == uint32(l.region) && a.lastID == IDOf(newest)
}

// boundLog is a log, bound to the owner that calls its methods.
type boundLog struct {
	*simLog
	o *simOwner
}

func (l boundLog) Append(_ context.Context, lastNumber uint64, lastID ID, m []byte) Appended {
	answer := &simAppended{o: l.o}
	if l.s.mistake == cutOutside {
		m = withoutCut(m)
	}
	l.s.late = append(l.s.late,
		lateAppend{l.simLog, l.o.number, lastNumber, lastID, bytes.Clone(m), answer})
	return answer
}

// withoutCut returns a copy of a message in which the cut is 0.
func withoutCut(b []byte) []byte {
	b = bytes.Clone(b)
	if m, _ := decode(b); m.kind == kindTick {
		clear(b[bytesHeader+len(Hash{}):][:8])
		content := b[:len(b)-bytesSum]
		binary.LittleEndian.PutUint32(b[len(content):], crc32.Checksum(content, castagnoli))
	}
	return b
}

func (l boundLog) Last(context.Context) (uint64, error) {
	l.o.pass()
	last := l.last()
	l.o.pass()
	return last, nil
}

func (l boundLog) Read(_ context.Context, from uint64) (uint64, []byte, bool, error) {
	l.o.pass()
	for n := max(from, l.first); n <= l.last(); n++ {
		if m := l.messages[n-1]; m != nil {
			l.o.pass()
			return n, m, true, nil
		}
	}
	return 0, nil, false, nil
}

func (l boundLog) Wait(_ context.Context, from uint64) error {
	l.o.wait(func() bool { return l.last() >= from || l.s.chance(20) })
	return nil
}

func (l boundLog) Purge(_ context.Context, below uint64) error {
	l.o.pass()
	if l.s.mistake == purgeMore && l.outbox {
		below += 8
	}
	for n := l.first; n < min(below, l.last()); n++ {
		l.messages[n-1] = nil
		l.first = n + 1
		l.s.count["purged"]++
	}
	return nil
}

type simPointer struct {
	b        []byte
	revision uint64
}

// simStorage is the storage, bound to the owner that calls its methods.
type simStorage struct{ o *simOwner }

func (s simStorage) Outbox(region int) Log { return boundLog{s.o.s.outboxes[region], s.o} }
func (s simStorage) Inputs(region int) Log { return boundLog{s.o.s.inputs[region], s.o} }

func (s simStorage) Pointer(_ context.Context, region int) ([]byte, uint64, error) {
	s.o.pass()
	p := s.o.s.pointers[region]
	s.o.pass()
	return p.b, p.revision, nil
}

func (s simStorage) SetPointer(_ context.Context, region int, b []byte, revision uint64) (uint64, error) {
	s.o.pass()
	p := &s.o.s.pointers[region]
	if p.revision != revision && s.o.s.mistake != pointerAlways {
		s.o.s.count["refused"]++
		return 0, ErrRefused
	}
	if s.o.s.chance(s.o.s.faults.lostAppend) {
		return 0, errUnknown
	}
	*p = simPointer{b, p.revision + 1}
	if set, _ := p.value(); set.Checkpoint != "" && s.o.s.checkpoints[region][set.Checkpoint] == nil {
		s.o.s.violated("region %d: the pointer names the checkpoint %s, which is not stored", region,
			set.Checkpoint)
	}
	newest := p.revision
	s.o.pass()
	if s.o.s.chance(s.o.s.faults.lostAnswer) {
		return 0, errUnknown
	}
	return newest, nil
}

// value decodes the pointer. ok is false if the region has no pointer yet.
func (p *simPointer) value() (v pointer, ok bool) {
	ok = json.Unmarshal(p.b, &v) == nil
	return v, ok
}

// mayNap sometimes makes an owner sleep, so that another owner can store checkpoints during the sleep.
func (o *simOwner) mayNap() {
	if o.s.faults.sleep > 0 && o.s.chance(100) {
		o.sleeps = o.s.step + o.s.r.IntN(600)
	}
}

type simStored struct {
	o      *simOwner
	region int
	name   string
	b      []byte
	part   bool // part of the checkpoint is stored
	done   bool
	err    error
}

func (c *simStored) Done() (bool, error) { return c.done, c.err }

func (c *simStored) Sum() []byte {
	sum := sha256.Sum256(c.b)
	return sum[:]
}

func (c *simStored) Wait(context.Context) error {
	c.o.wait(func() bool { return c.done })
	return c.err
}

func (s simStorage) PutCheckpoint(_ context.Context, region int, name string, head, state []byte) Stored {
	c := &simStored{o: s.o, region: region, name: name, b: slices.Concat(head, state)}
	s.o.s.storing = append(s.o.s.storing, c)
	return c
}

// store does the next step of storing a random checkpoint. The first step stores part of the checkpoint, the
// second step stores all of it. A lost step stores nothing more. If a step or the answer is lost, the owner
// gets an error.
func (s *sim) store() {
	at := s.r.IntN(len(s.storing))
	c := s.storing[at]
	stored := s.checkpoints[c.region]
	lost := s.chance(s.faults.lostStore) || c.o.done && s.chance(500)
	if !lost && !c.part {
		c.part = true
		if stored[c.name] == nil {
			stored[c.name] = nil // now Checkpoints returns the name, and Checkpoint returns ErrGone
		}
		return
	}
	s.storing = slices.Delete(s.storing, at, at+1)
	c.done = true
	if !lost {
		stored[c.name] = c.b
	}
	if lost || s.chance(s.faults.lostAnswer) {
		c.err = errUnstored
	}
}

func (s simStorage) Checkpoint(_ context.Context, region int, name string) ([]byte, error) {
	s.o.pass()
	b := s.o.s.checkpoints[region][name]
	if b == nil {
		return nil, ErrGone
	}
	s.o.s.count["loads"]++
	s.o.pass()
	return b, nil
}

func (s simStorage) Checkpoints(_ context.Context, region int) ([]string, error) {
	s.o.mayNap()
	s.o.pass()
	names := slices.Sorted(maps.Keys(s.o.s.checkpoints[region]))
	s.o.pass()
	return names, nil
}

func (s simStorage) RemoveCheckpoint(_ context.Context, region int, name string) error {
	s.o.mayNap()
	s.o.pass()
	p, _ := s.o.s.pointers[region].value()
	stored := s.o.s.checkpoints[region]
	if name == p.Checkpoint {
		s.o.s.violated("region %d: an owner removes the newest checkpoint, %s", region, name)
	}
	if _, ok := stored[name]; ok {
		s.o.s.count["removed"]++
	}
	delete(stored, name)
	if s.o.s.mistake == removeMore {
		maps.DeleteFunc(stored, func(name string, _ []byte) bool { return name != p.Checkpoint })
	}
	return nil
}

// simJournal is a journal in memory. It survives the death of its process.
type simJournal struct {
	ticks map[uint64][]byte
	last  uint64
}

func (j *simJournal) Write(tick uint64, m []byte) error {
	for ; j.last > tick; j.last-- {
		delete(j.ticks, j.last)
	}
	j.ticks[tick], j.last = m, tick
	return nil
}

func (j *simJournal) Read(tick uint64) ([]byte, bool, error) {
	m, ok := j.ticks[tick]
	return m, ok, nil
}

func (j *simJournal) Purge(below uint64) error {
	for tick := range j.ticks {
		if tick < below {
			delete(j.ticks, tick)
		}
	}
	return nil
}
