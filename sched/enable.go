package sched

import (
	"fmt"
	"maps"
	"slices"
)

// Disable makes the next ticks skip a system, or all systems of a set, until [Schedule.Enable] is called with
// the same name. The name of a system stands for all systems that were added with that name. A system runs if
// neither its name nor one of its sets is disabled. The Start and End functions of a disabled system still
// run. [Stats] shows which systems are disabled. [Schedule.Reset] does not enable disabled systems. A store
// keeps the disabled names.
//
// Call Disable and Enable between ticks on the goroutine of the world. A visitor of the world may call them,
// and so may the function that applies the inputs of a store. A system calls them in [Context.AfterTick].
// They panic if no call of [Schedule.Add] or [Schedule.ConfigureSet] has named such a system or set, except
// for a disabled name that a store has kept. Disable does not concern the systems of [State.OnEnter],
// [State.OnExit] and [Context.RunOnce].
func (s *Schedule) Disable(name string) { s.enable("Disable", name, false) }

// Enable undoes [Schedule.Disable] for a name. It does nothing if the name is not disabled.
func (s *Schedule) Enable(name string) { s.enable("Enable", name, true) }

func (s *Schedule) enable(what, name string, on bool) {
	s.mustBeMade(what)
	s.mustBeBetween("Schedule." + what)
	s.mustKnow(what, name)
	if s.disabled[name] != on {
		return
	}
	s.mu.Lock()
	if on {
		delete(s.disabled, name)
	} else {
		s.disabled[name] = true
	}
	s.switchOff()
	s.mu.Unlock()
	s.changed()
}

// mustKnow panics if no call of Add or ConfigureSet has named such a system or set, and the store has kept no
// such disabled name.
func (s *Schedule) mustKnow(what, name string) {
	if !s.known[name] {
		panic(fmt.Sprintf("sched: Schedule.%s(%q): there is no such system or set: correct the name", what,
			name))
	}
}

// switchOff notes in each system whether the system is disabled, and whether ticks may skip the system. The
// caller holds the mutex.
func (s *Schedule) switchOff() {
	for _, n := range s.nodes {
		n.off = s.disabled[n.Name] || s.disabled[n.given] ||
			slices.ContainsFunc(n.Sets, func(set Set) bool { return s.disabled[set] })
		n.gated = n.off || n.rate.ticks > 0 || len(n.groups) > 0
	}
}

// disabledNames returns the disabled names in alphabetical order.
func (s *Schedule) disabledNames() []string { return slices.Sorted(maps.Keys(s.disabled)) }
