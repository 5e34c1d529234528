package sched

import (
	"fmt"
	"slices"
)

// Set is the name of a group of systems that are ordered and switched together: see [System.Sets]. Before,
// After, [Schedule.Disable], [Schedule.Enable] and [Schedule.Remove] accept the name of a set in place of a
// system's name. If a set and a system have the same name, the name stands for both. Set is an alias of
// string, so a list of names can hold sets and systems.
type Set = string

// SetOptions are the options of a set for [Schedule.ConfigureSet].
type SetOptions struct {
	// Before and After order all systems of the set, as Before and After of [System] do.
	Before, After []string
	// If is the condition of the set. The schedule calls If once in each tick, before the first phase and
	// when no system runs. If the condition returns false, the tick skips all systems of the set. The
	// condition may read the whole world. Default: the set is always on.
	If func(*Context) bool
}

// ConfigureSet gives a set its order and its condition, from the next tick on. The options replace those of
// an earlier call. ConfigureSet may come before or after the systems of the set. It panics if the set has no
// name.
func (s *Schedule) ConfigureSet(name Set, o SetOptions) {
	defer s.change("ConfigureSet")()
	if name == "" {
		panic("sched: Schedule.ConfigureSet: the set has no name: give it one")
	}
	i := slices.IndexFunc(s.sets, func(g *group) bool { return g.name == name })
	if i < 0 {
		i = len(s.sets)
		s.sets = append(s.sets, nil)
	}
	s.sets[i] = newGroup(s, name, o)
	s.known[name] = true
	s.built = false
	s.changed()
}

// group is a set that has options.
type group struct {
	name      Set
	options   SetOptions
	on        bool  // the last result of the condition
	condition *node // calls the condition; nil if there is none
}

func newGroup(s *Schedule, name Set, o SetOptions) *group {
	g := &group{name: name, options: o}
	g.options.Before, g.options.After = slices.Clone(o.Before), slices.Clone(o.After)
	if o.If != nil {
		// The system never runs: only its condition does.
		g.condition = newNode(s, "Schedule.ConfigureSet", System{Exclusive: true,
			Name: fmt.Sprintf("condition of set %s", name), Run: func(*Context) {},
			If: func(c *Context) bool {
				g.on = o.If(c)
				return false
			}})
	}
	return g
}

// in reports whether the system belongs to the set of that name.
func (n *node) in(name Set) bool { return slices.Contains(n.Sets, name) }

// goesBy reports whether a name in Before, After or Remove stands for the system.
func (n *node) goesBy(name string) bool { return n.Name == name || n.given == name || n.in(name) }
