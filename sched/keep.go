package sched

import (
	"fmt"

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
	defer s.mu.Unlock()
	s.options.Seed, s.counters.tick = known.Seed, known.Tick
	return true
}

// State returns the number of the last tick, the seed and the names of the systems.
func (schedules) State(of any) state.Schedule {
	s := of.(*Schedule)
	result := state.Schedule{Tick: s.number, Seed: s.options.Seed}
	for _, n := range s.nodes {
		result.Systems = append(result.Systems, n.Name)
	}
	return result
}

func (schedules) Leave(of any) { of.(*Schedule).keeper = nil }
