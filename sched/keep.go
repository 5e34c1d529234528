package sched

import (
	"errors"
	"fmt"
	"slices"

	"github.com/vastgo/vast/internal/state"
)

// schedules has the functions that package store calls to keep a schedule.
type schedules struct{}

func init() { state.Schedules = schedules{} }

// Keep makes a schedule report its ticks to a keeper. The schedule continues after the tick in known, with
// the seed in known. known is nil if the keeper has stored no tick. Keep returns false if its first argument
// is not a *Schedule, and panics if the schedule has made ticks or has a keeper.
func (schedules) Keep(of any, k state.Keeper, known *state.Schedule) bool {
	s, ok := of.(*Schedule)
	if !ok {
		return false
	}
	s.enter("Attach")
	defer s.busy.Store(false)
	if s.keeper != nil || s.number > 0 {
		panic(fmt.Sprintf("sched: the schedule has a store or has made %d ticks: attach it once, before its "+
			"first tick", s.number))
	}
	s.keeper = k
	if known == nil {
		return true
	}
	s.number = known.Tick
	s.mu.Lock()
	s.options.Seed, s.counters.tick = known.Seed, known.Tick
	for _, name := range known.Disabled {
		s.disabled[name], s.known[name] = true, true
	}
	s.switchOff()
	s.mu.Unlock()
	for _, j := range s.jobs {
		j.delay(known.Tick) // the store has read the jobs before it knew the schedule
	}
	s.saved = known.States
	s.restoreStates()
	return true
}

// restoreStates gives the states their saved values. If a value does not fit, the next tick returns an error.
func (s *Schedule) restoreStates() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.states {
		name := m.stats().Name
		if i := slices.IndexFunc(s.saved, func(v state.Value) bool { return v.Name == name }); i >= 0 {
			s.unrestored = errors.Join(s.unrestored, m.restore(s.saved[i]))
			s.saved = slices.Delete(slices.Clone(s.saved), i, i+1)
		}
	}
}

// State returns what determines the next ticks, and the names of the systems.
func (schedules) State(of any) state.Schedule {
	s := of.(*Schedule)
	result := state.Schedule{Tick: s.number, Seed: s.options.Seed, Disabled: s.disabledNames()}
	for _, n := range s.nodes {
		result.Systems = append(result.Systems, n.Name)
	}
	for _, m := range s.states {
		result.States = append(result.States, m.saved())
	}
	return result
}

// Parts returns the queues of package event and the Jobs.
func (schedules) Parts(of any) (parts []state.Part) {
	s := of.(*Schedule)
	for _, q := range s.queues.list {
		parts = append(parts, state.Part{Of: q, Kind: "queue",
			Held: fmt.Sprintf("events of the queue %q", q.Name())})
	}
	for _, j := range s.jobs {
		parts = append(parts, state.Part{Of: j, Kind: "Jobs",
			Held: fmt.Sprintf("the jobs in flight of the Jobs %q", j.stats().Name)})
	}
	return parts
}

func (schedules) Leave(of any) { of.(*Schedule).keeper = nil }
