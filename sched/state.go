package sched

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/vastgo/vast/internal/state"
)

// State is a value that decides which systems run, such as the mode of a game: systems run while the state
// has a value ([State.In]), or once when the state gets or loses a value ([State.OnEnter], [State.OnExit]).
// Make a State with [NewState].
//
// The value changes only when a tick begins, before all phases. Then the OnExit systems of the old value run,
// and then the OnEnter systems of the new value, one after the other in the order in which they were added.
// If several states change, they do so at once, and their systems run in the order in which the states were
// made. The first tick enters the first value, after the Start functions. If a system of a change panics, the
// change continues with that system in the next tick, and the state takes no other value before the change is
// complete.
//
// [Schedule.Reset] gives the state its first value again, without OnExit. A store saves the value with the
// schedule, and the program continues with the saved value, without OnEnter. Values are saved as JSON.
// [Stats] lists the states.
type State[T comparable] struct {
	schedule *Schedule
	name     string
	first    T // the argument of NewState
	value    T // guarded by the schedule's mutex when it changes
	enter    map[T][]*node
	exit     map[T][]*node

	changing bool // whether some systems of the last change have not run
	left     *T   // the value before the last change; nil if there was none
	done     int  // number of systems of the change that have run; notBegun before the first tick

	mu   sync.Mutex // guards the fields below
	next *T         // the value that was set, or nil
	set  moment     // when next was set
}

// anyState is a *State.
type anyState interface {
	begin(early []stage) []stage
	reset()
	saved() state.Value
	restore(state.Value) error
	stats() StateStats
}

// StateStats describes a [State].
type StateStats struct {
	Name  string // the type of the state
	Value string // the value, as fmt.Sprint formats it
}

// NewState makes a state of a schedule with its first value. A schedule has at most one state of a type, so
// define a type for each state. NewState panics if the schedule has a state of type T. It also panics if a
// store cannot save T: T must be a type of booleans, integers or strings, or a struct of such types. All
// fields of the struct must be exported, without a json tag. The program must make the same states in each
// process, or the store forgets their values. Call NewState between ticks.
func NewState[T comparable](s *Schedule, first T) *State[T] {
	defer s.change("NewState")()
	typ := reflect.TypeFor[T]()
	if bad := unsaved(typ); bad != nil {
		panic(fmt.Sprintf("sched: NewState: a store cannot save %v in the type %v: use booleans, integers, "+
			"strings, and structs of them with exported fields and without json tags", bad, typ))
	}
	m := &State[T]{schedule: s, name: typ.String(), first: first, enter: make(map[T][]*node),
		exit: make(map[T][]*node)}
	m.reset()
	if slices.ContainsFunc(s.states, func(o anyState) bool { return o.stats().Name == m.name }) {
		panic(fmt.Sprintf("sched: NewState: the schedule has a state of type %v: define another type", typ))
	}
	s.mu.Lock()
	s.states = append(s.states, m)
	s.mu.Unlock()
	s.restoreStates()
	s.changed()
	return m
}

// unsaved returns a type within typ whose values do not survive a conversion to JSON, or nil.
func unsaved(typ reflect.Type) reflect.Type {
	switch k := typ.Kind(); {
	case k >= reflect.Bool && k <= reflect.Uint64, k == reflect.String:
		return nil
	case k == reflect.Struct:
		for i := range typ.NumField() {
			f := typ.Field(i)
			if _, tagged := f.Tag.Lookup("json"); !f.IsExported() || tagged {
				return typ
			}
			if bad := unsaved(f.Type); bad != nil {
				return bad
			}
		}
		return nil
	}
	return typ
}

// Get returns the value. During a tick the value does not change, so any system may call Get without
// declaring it. Between ticks, only the goroutine of the world may call Get.
func (m *State[T]) Get() T { return m.value }

// Set sets the value from the beginning of the next tick on. If several systems set the state in one tick,
// the last one in the order of [Context.Commands] decides, on any number of workers. In Start, Set decides
// about the first tick. Setting the present value only undoes earlier calls of Set.
func (m *State[T]) Set(c *Context, v T) {
	at := c.moment()
	if c.schedule != m.schedule {
		panic(fmt.Sprintf("sched: State.Set: state %s belongs to another schedule: make a state for this one",
			m.name))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.next == nil || at.compare(m.set) >= 0 {
		m.next, m.set = &v, at
	}
}

// SetBetween is [State.Set] for code outside of systems: between ticks on the goroutine of the world, in the
// function that applies the inputs of a store, and in a function given to [Context.AfterTick].
func (m *State[T]) SetBetween(v T) {
	s := m.schedule
	s.mustBeBetween("State.SetBetween")
	m.mu.Lock()
	m.next, m.set = &v, moment{s.stage + 1, 0}
	m.mu.Unlock()
	s.changed()
}

// In returns a condition for If of a [System] or of [SetOptions]. The condition is true in the ticks in which
// the state has one of the values.
func (m *State[T]) In(values ...T) func(*Context) bool {
	values = slices.Clone(values)
	return func(*Context) bool { return slices.Contains(values, m.value) }
}

// OnEnter adds a system that runs once when the state gets the value v. The system keeps to its declarations,
// as other systems do. Phase, Sets, Before, After, Every, Rate, Offset, Start and End must be zero, as in
// [Context.RunOnce]. Call OnEnter between ticks. It panics if the system is invalid.
func (m *State[T]) OnEnter(v T, sys System) { m.on("OnEnter", m.enter, v, sys) }

// OnExit adds a system that runs once when the state loses the value v: see [State.OnEnter]. [State.Get]
// returns the new value in the system.
func (m *State[T]) OnExit(v T, sys System) { m.on("OnExit", m.exit, v, sys) }

func (m *State[T]) on(what string, list map[T][]*node, v T, sys System) {
	s := m.schedule
	defer s.change(what)()
	given := sys.Name
	sys.Name = s.freeName(given)
	run, condition := sys.Run, sys.If
	if run != nil {
		sys.If, sys.Run = nil, func(c *Context) {
			if condition == nil || condition(c) {
				run(c)
			}
			m.done++
			m.changing = m.done < len(m.systems())
		}
	}
	n := s.newSingle("State."+what, sys)
	s.byName[n.Name] = n
	list[v] = append(list[v], n)
	s.changed()
}

// begin changes the value if another one was set, and appends the systems of the change that have not run.
// The caller holds the schedule's mutex.
func (m *State[T]) begin(early []stage) []stage {
	if !m.changing || m.done == notBegun {
		if !m.take() {
			return early
		}
		m.changing, m.done = true, 0
	}
	systems := m.systems()
	m.changing = m.done < len(systems)
	for _, n := range systems[min(m.done, len(systems)):] {
		early = append(early, stage{nodes: []*node{n}})
	}
	return early
}

// notBegun is the value of done before the first tick.
const notBegun = -1

// take gives the state the value that Set stored, and reports whether a change begins.
func (m *State[T]) take() bool {
	m.mu.Lock()
	next := m.next
	m.next = nil
	m.mu.Unlock()
	if m.done == notBegun {
		if next != nil {
			m.value = *next
		}
		return true
	}
	if next == nil || *next == m.value {
		return false
	}
	left := m.value
	m.left, m.value = &left, *next
	return true
}

// systems returns the systems of the last change.
func (m *State[T]) systems() []*node {
	if m.left == nil {
		return m.enter[m.value]
	}
	return slices.Concat(m.exit[*m.left], m.enter[m.value])
}

// reset prepares the next simulation. The caller holds the schedule's mutex.
func (m *State[T]) reset() {
	m.value, m.left, m.changing, m.done = m.first, nil, true, notBegun
	m.mu.Lock()
	m.next = nil
	m.mu.Unlock()
}

// saved returns the state for a store.
func (m *State[T]) saved() state.Value {
	m.mu.Lock()
	defer m.mu.Unlock()
	return state.Value{Name: m.name, Value: toJSON(&m.value), Next: toJSON(m.next), Left: toJSON(m.left),
		Changing: m.changing, Done: m.done}
}

// restore continues a saved state. The caller holds the schedule's mutex.
func (m *State[T]) restore(v state.Value) error {
	var value, next, left *T
	for to, text := range map[**T]json.RawMessage{&value: v.Value, &next: v.Next, &left: v.Left} {
		if text == nil {
			continue
		}
		if err := json.Unmarshal(text, to); err != nil {
			return fmt.Errorf("sched: the stored value %.100s of state %s does not fit its type: %w", text,
				m.name, err)
		}
	}
	if value == nil {
		return fmt.Errorf("sched: the stored state %s has no value", m.name)
	}
	m.value, m.left, m.changing, m.done = *value, left, v.Changing, max(v.Done, notBegun)
	m.next = next
	return nil
}

// toJSON returns nil for nil. The check of NewState excludes errors.
func toJSON[T any](v *T) json.RawMessage {
	if v == nil {
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

func (m *State[T]) stats() StateStats { return StateStats{m.name, fmt.Sprint(m.value)} }
