package ring

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// reserve returns room for n bytes at the end. If the current lap (see [Endless]) has too little committed
// memory, reserve commits more or continues in the other lap.
func (e *Endless) reserve(op string, n int) ([]byte, error) {
	l, end := e.opened(), e.end.Load()
	if e.filling {
		panic("ring: " + e.name + " is appended to in the middle of ReadFrom: append from one goroutine, " +
			"and let the source only fill the slice it gets")
	}
	e.reserved = 0
	if kept := int(end - e.start.Load()); n > e.capacity-kept {
		return nil, &vm.Error{Op: op, Purpose: e.name, Bytes: n, Err: vm.ErrCapacity,
			Detail: fmt.Sprintf("%d of %d bytes are kept: release some, or raise EndlessOptions.Capacity",
				kept, e.capacity)}
	}
	if int64(n) > e.committed-end {
		if err := e.makeRoom(n); err != nil {
			return nil, err
		}
		l = e.lap.Load()
	}
	return l.at(end, n), nil
}

// makeRoom commits memory for n bytes at the end.
func (e *Endless) makeRoom(n int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	m, end := &e.laps[e.current], e.end.Load()
	if after := int(end-m.first) + n; after <= e.lapSize {
		if err := e.commitTo(e.current, after); err != nil {
			return err
		}
		e.committed = m.first + int64(m.hi)
		return nil
	}
	return e.nextLap(end, n)
}

// nextLap continues the stream in the other lap. The current lap is full. The kept bytes, at most a quarter
// of a lap, lie at its end. So all bytes in the other lap have been released.
func (e *Endless) nextLap(end int64, n int) error {
	to, start := 1-e.current, e.start.Load()
	if err := e.decommit(to, e.lapSize); err != nil {
		return err
	}
	kept := int(end - start)
	e.laps[to] = lapMemory{first: start}
	if err := e.commitTo(to, kept+n); err != nil {
		return err
	}
	old := e.lap.Load()
	next := &lap{base: unsafe.Add(e.region.Base(), e.offset(to, 0)), first: start}
	copy(next.at(start, kept), old.at(start, kept))
	e.current, e.committed = to, start+int64(e.laps[to].hi)
	e.lap.Store(next)
	return nil
}

// commitTo commits lap i up to the given offset in the lap, rounded up to whole steps. If a limit forbids a
// whole step, commitTo rounds up to whole pages.
func (e *Endless) commitTo(i, end int) error {
	m, page := &e.laps[i], vm.PageSize()
	ahead := min((end+e.step-1)/e.step*e.step, e.lapSize)
	if end <= m.hi {
		return nil
	}
	off := e.offset(i, m.hi)
	err := e.region.Commit(off, ahead-m.hi)
	if errors.Is(err, vm.ErrLimit) {
		ahead = (end + page - 1) / page * page
		err = e.region.Commit(off, ahead-m.hi)
	}
	if err == nil {
		m.hi = ahead
	}
	return err
}

// Release releases the bytes before position, and gives their memory back in whole steps. It does nothing if
// the position was released before. It panics when the position is beyond the end. Complexity: at most two
// system calls per step.
//
// It returns a [*vm.Error] wrapping [vm.ErrMappings] if the system does not take the memory back. The bytes
// are released nevertheless, and a later Release tries again to give the memory back.
func (e *Endless) Release(position int64) error {
	e.opened()
	if end := e.end.Load(); position > end {
		panic(fmt.Sprintf("ring: Release(%d) on %s, which ends at %d", position, e.name, end))
	}
	start := e.start.Load()
	if position < start {
		return nil
	}
	e.start.Store(position)
	if position-e.trimmed < int64(e.step) && !invariants.Enabled {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checkInvariants()
	e.poison(start, position)
	for i := range e.laps {
		released := int(min(position-e.laps[i].first, int64(e.lapSize)))
		if err := e.decommit(i, released/e.step*e.step); err != nil {
			return err
		}
	}
	e.trimmed = e.laps[e.current].first + int64(e.laps[e.current].lo)
	return nil
}

// poison overwrites the released bytes [from, to) if the build checks invariants.
func (e *Endless) poison(from, to int64) {
	if !invariants.Enabled {
		return
	}
	for i, m := range e.laps {
		lo, hi := max(int(from-m.first), m.lo), min(int(to-m.first), m.hi)
		if lo < hi {
			invariants.Poison(unsafe.Slice((*byte)(unsafe.Add(e.region.Base(), e.offset(i, lo))), hi-lo))
		}
	}
}

// offset converts an offset in lap i to an offset in the region.
func (e *Endless) offset(i, off int) int { return i*e.lapSize + off }

// decommit gives back the committed memory of lap i before the given offset in the lap.
func (e *Endless) decommit(i, before int) error {
	m := &e.laps[i]
	before = min(before, m.hi)
	if before <= m.lo {
		return nil
	}
	if err := e.region.Decommit(e.offset(i, m.lo), before-m.lo); err != nil {
		return err
	}
	m.lo = before
	return nil
}
