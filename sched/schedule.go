package sched

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/clock"
	"github.com/vastgo/vast/internal/state"
)

// Options are the options of a schedule. The zero value works.
type Options struct {
	// Workers is the number of goroutines that run systems, including the one that calls [Schedule.Tick].
	// Default: runtime.GOMAXPROCS(0), or the workers of Pool.
	Workers int
	// Pool is the pool of goroutines that the schedule shares with the schedules of other worlds. Workers
	// must not be more than the workers of the pool. Default: a pool of its own.
	Pool *Pool
	// Rate is the number of ticks in a second of simulated time. [Schedule.Run] makes Rate ticks in a second
	// of real time. Default: 60.
	Rate int
	// CatchUp is the largest number of late ticks that [Schedule.Run] makes without waiting. Run drops and
	// counts further late ticks. Default: 4.
	CatchUp int
	// Seed determines all random numbers. [Schedule.Reset] sets another seed. Default: 0.
	Seed uint64
	// Phases lists the phases of a tick in order. [Schedule.Add] refuses systems of other phases. Default:
	// the phases of the added systems, in the order in which they first occur.
	Phases []Phase
	// Commands are the options of each worker's Commands. Default: the defaults of vast.NewCommands.
	Commands vast.CommandsOptions
	// Clock is the time source of [Schedule.Run]. Default: real time.
	Clock Clock
	// Visits is the time for visitors of the world (see vast.World.Visit) after each tick. It does not count
	// as time of the tick. While [Schedule.Run] waits, visitors may take longer. If Visits is negative, the
	// schedule admits no visitors, and the program can call vast.World.Admit itself. Default: half a
	// millisecond.
	Visits time.Duration
}

// Schedule runs systems over a world, tick by tick. Make a Schedule with [New].
//
// One goroutine at a time may call Add, Remove, ConfigureSet, Build, Tick, Run, RunTicks, RunOnce, Reset,
// GrowCommandBytes, DropCommands and Close. The program may use the world only while none of these methods
// runs. Enable and Disable belong to the goroutine of the world, or to a visitor. Stats, Recent, Graph,
// Options, World, ID, Paused, Running, Stopped, Record, Recording, Pause, Resume, Step and Stop may be called
// from any goroutine at any time.
type Schedule struct {
	world   *vast.World
	id      uint64
	delist  func() // removes the schedule from the list that Of returns
	options Options
	step    time.Duration
	epoch   time.Duration // time of package clock when the schedule was made

	nodes    []*node // in the order in which they were added
	byName   map[string]*node
	known    map[string]bool // names of all systems and sets so far, for Before, After, Remove and Disable
	phases   []Phase
	sets     []*group        // in the order in which they were configured
	states   []anyState      // in the order in which they were made; guarded by the mutex when it changes
	disabled map[string]bool // names of disabled systems and sets

	busy       atomic.Bool // whether a method runs that must run alone: see enter
	between    bool        // whether a function of AfterTick runs
	built      bool
	closed     bool
	starting   bool        // whether some systems may not have started
	stopped    atomic.Bool // whether Stop was called in this simulation
	measure    atomic.Bool // whether the next ticks are measured
	conditions []stage     // the stages that call the conditions of sets
	stages     []stage

	// The tick under way, or the last one.
	number     uint64
	ticked     bool    // whether the schedule has begun a tick since it was made
	ticking    bool    // whether the tick is running
	early      []stage // the stages before the phases: changes of states, conditions of sets
	at         int     // position of the stage: early has the first positions, and stages the others
	stage      uint64  // number of stages that began so far, in all ticks
	shift      int     // number of systems that ran outside of the phases in this tick
	singles    uint64  // number of one-shot systems that began in this tick or after it
	requests   requests
	applying   bool // whether the systems of the stage are done and only their commands remain
	measuring  bool // whether the tick is measured
	timing     bool // whether the tick is measured or recorded
	changes    uint64
	took       measured
	apply      measured
	applied    vast.Applied // counts the commands that were applied in this tick
	commands   []*vast.Commands
	team       team
	loop       loop
	observers  observers
	queues     queues
	jobs       []anyJobs     // in the order in which they were made; guarded by the mutex when it changes
	keeper     state.Keeper  // the store that keeps the world, or nil
	saved      []state.Value // values that the store has for states that are not made yet
	unrestored error         // says which values of the store do not fit into their states

	mu       sync.Mutex // guards options.Seed and the fields below, which any goroutine may read
	graph    Graph
	counters counters
}

// New returns a schedule for the world, without systems. Without Options.Pool, New starts the goroutines of
// the workers, which sleep until there is work, and [Schedule.Close] ends them. New panics when w is nil or
// an option is invalid.
func New(w *vast.World, o Options) *Schedule {
	if w == nil {
		panic("sched: New: the world is nil")
	}
	if o.Workers < 0 || o.Rate < 0 || o.CatchUp < 0 || o.Rate > int(time.Second) {
		panic(fmt.Sprintf("sched: New: Workers is %d, Rate %d, CatchUp %d: none can be negative, "+
			"and Rate must be at most %d", o.Workers, o.Rate, o.CatchUp, int(time.Second)))
	}
	pool := o.Pool
	if pool != nil {
		if pool.workers == 0 {
			panic("sched: New: Options.Pool is the zero Pool: make one with NewPool")
		}
		if o.Workers > pool.workers {
			panic(fmt.Sprintf("sched: New: Workers is %d, and Options.Pool has %d workers: leave Workers "+
				"zero, or make a larger pool", o.Workers, pool.workers))
		}
		if o.Workers == 0 {
			o.Workers = pool.workers
		}
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Rate == 0 {
		o.Rate = 60
	}
	if o.CatchUp == 0 {
		o.CatchUp = 4
	}
	if o.Clock == nil {
		o.Clock = newRealClock()
	}
	if o.Visits == 0 {
		o.Visits = time.Millisecond / 2
	}
	for i, p := range o.Phases {
		if p == "" || slices.Contains(o.Phases[:i], p) {
			panic(fmt.Sprintf("sched: New: phase %d of Options.Phases, %q, is empty or a duplicate", i+1, p))
		}
	}
	s := &Schedule{world: w, options: o, step: time.Second / time.Duration(o.Rate), epoch: clock.Now(),
		byName: make(map[string]*node), known: make(map[string]bool), disabled: make(map[string]bool),
		phases: slices.Clone(o.Phases)}
	s.loop.poke = make(chan struct{}, 1)
	if pool == nil {
		pool = NewPool(o.Workers)
	}
	pool.enter()
	s.team.start(s, o.Workers, pool)
	s.queues.end()
	s.enlist()
	return s
}

// World returns the world that the systems run over.
func (s *Schedule) World() *vast.World {
	s.mustBeMade("World")
	return s.world
}

// ID returns the number of the schedule among all schedules of this process, counted from 1.
func (s *Schedule) ID() uint64 {
	s.mustBeMade("ID")
	return s.id
}

// Options returns the options of the schedule, with the defaults filled in.
func (s *Schedule) Options() Options {
	s.mustBeMade("Options")
	s.mu.Lock()
	o := s.options
	s.mu.Unlock()
	o.Phases = slices.Clone(o.Phases)
	return o
}

// Add adds a system, which runs from the next tick on. Several systems may have the same name: in messages,
// statistics and the Graph the second "move" is "move 2". Add panics if the system has no name or no Run,
// names an invalid set, column or resource, or belongs to a phase that Options.Phases does not list. A system
// adds another one in [Context.AfterTick].
//
// A store saves no systems. The program must add the same systems in each process, before the store replays
// ticks. A call of Add after the first tick counts as a change outside of ticks, except in AfterTick.
func (s *Schedule) Add(sys System) {
	defer s.change("Add")()
	given := sys.Name
	sys.Name = s.freeName(given)
	n := newNode(s, "Schedule.Add", sys)
	n.given = given
	if !slices.Contains(s.phases, n.Phase) {
		if len(s.options.Phases) > 0 {
			panic(fmt.Sprintf("sched: Schedule.Add: system %q is of phase %q, "+
				"which Options.Phases does not list", n.Name, n.Phase))
		}
		s.phases = append(s.phases, n.Phase)
	}
	s.nodes = append(s.nodes, n)
	s.byName[n.Name] = n
	s.known[given], s.known[n.Name] = true, true
	for _, set := range n.Sets {
		s.known[set] = true
	}
	s.built, s.starting = false, true
	s.changed()
}

// Remove removes a system, or all systems of a set, and calls their End functions in the reverse order of
// Start. The name of a system stands for all systems that were added with that name. Before and After of
// other systems may still contain the name. If an End function fails, Remove returns the error as
// [Schedule.Tick] does, and removes the system nevertheless. Remove panics if no call of Add or ConfigureSet
// has named such a system or set.
//
// If commands of an interrupted tick still have no room, Remove returns the error and removes nothing.
// Removed systems do not run in the remaining phases of an interrupted tick.
//
// A system removes systems in [Context.AfterTick]. A store saves no systems: see [Schedule.Add].
func (s *Schedule) Remove(name string) error {
	defer s.change("Remove")()
	s.mustKnow("Remove", name)
	var removed []*node
	err := s.runAsOwner(func(s *Schedule) error { // commands of an interrupted tick
		_, err := s.settle()
		return err
	})
	if err != nil {
		return err
	}
	s.nodes = slices.DeleteFunc(s.nodes, func(n *node) bool {
		if !n.goesBy(name) {
			return false
		}
		removed = append(removed, n)
		delete(s.byName, n.Name)
		return true
	})
	s.mu.Lock()
	for _, n := range removed {
		n.off, n.gated = true, true
	}
	s.mu.Unlock()
	s.built = false
	s.changed()
	var errs []error
	for _, n := range slices.Backward(removed) {
		errs = append(errs, s.runAsOwner(func(s *Schedule) error { return s.endOne(n) }))
	}
	return errors.Join(errs...)
}

// Build brings the systems into an order. After [Schedule.Add], the next [Schedule.Tick] does this, too. Call
// Build to see an error or the [Schedule.Graph] before that tick. Build returns an [*OrderError] when Before
// and After form a cycle, name a system that does not exist, or contradict the phases. It also returns an
// error if a store has a value for a state and the value does not fit into the state. Complexity: at least
// the square, and at most the cube, of the number of systems.
func (s *Schedule) Build() error {
	s.enter("Build")
	defer s.busy.Store(false)
	return s.build()
}

func (s *Schedule) build() error {
	if s.built && s.unrestored == nil || s.applying { // a tick under way keeps its systems
		return nil
	}
	if s.unrestored != nil {
		return s.unrestored
	}
	conditions, stages, graph, err := s.plan()
	if err != nil {
		return err
	}
	s.conditions, s.stages, s.built = conditions, stages, true
	s.team.makeRoom(len(s.nodes))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.switchOff()
	s.graph = graph
	s.counters.systems = s.counters.systems[:0]
	for _, st := range stages {
		s.counters.systems = append(s.counters.systems, st.nodes...)
	}
	if s.measure.Load() {
		s.counters.makeRoom()
	}
	return nil
}

// Graph returns the systems and their order, as of the last [Schedule.Build] or tick. The caller must not
// change the result. Graph may be called from any goroutine at any time.
func (s *Schedule) Graph() Graph {
	s.mustBeMade("Graph")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.graph
}

// GrowCommandBytes makes room for the given number of bytes of commands in each worker's Commands (see
// vast.Commands.GrowBytes). Recording that many bytes cannot fail in the next tick. GrowCommandBytes returns
// a [*vm.Error] if there is no memory.
func (s *Schedule) GrowCommandBytes(bytes int) error {
	s.enter("GrowCommandBytes")
	defer s.busy.Store(false)
	for _, w := range s.team.workers {
		if err := w.ownCommands(s).GrowBytes(bytes); err != nil {
			return err
		}
	}
	return nil
}

// DropCommands drops the commands that an error of [Schedule.Tick] left behind. Call DropCommands when there
// is no way to make room for these commands. The next Tick continues the interrupted tick with the systems
// that have not run. DropCommands releases the memory of the Commands, including the room from
// GrowCommandBytes.
func (s *Schedule) DropCommands() error {
	s.enter("DropCommands")
	defer s.busy.Store(false)
	return s.drop()
}

// Close ends the simulation: it drops commands that could not be applied, and calls the End functions that
// have not run. Close then ends the goroutines, waits for them, and releases the memory of the Commands and
// of the queues of package event. The goroutines of Options.Pool stay. The world stays open. If an End
// function fails, Close returns the error as [Schedule.Tick] does, and closes the schedule nevertheless. A
// second Close does nothing.
func (s *Schedule) Close() error {
	s.mustBeMade("Close")
	if s.closed {
		return nil
	}
	s.enter("Close")
	defer s.busy.Store(false)
	err := s.finish()
	s.closed = true
	for _, j := range s.jobs {
		j.close()
	}
	s.delist()
	s.team.pool.leave()
	if s.options.Pool == nil {
		s.team.pool.Close()
	}
	s.observers.close()
	return errors.Join(append(s.queues.close(), err, s.drop())...)
}

// enter marks the schedule as busy; the caller clears busy when it returns. enter panics if the schedule is
// busy already or closed.
func (s *Schedule) enter(what string) {
	s.mustBeMade(what)
	if !s.busy.CompareAndSwap(false, true) {
		panic(fmt.Sprintf("sched: Schedule.%s while the schedule is at work: "+
			"call it between ticks, on one goroutine at a time", what))
	}
	if s.closed {
		s.busy.Store(false)
		panic(fmt.Sprintf("sched: Schedule.%s on a closed schedule: do not use a schedule after Close", what))
	}
}

func (s *Schedule) mustBeMade(what string) {
	if s == nil || s.world == nil {
		panic(fmt.Sprintf("sched: Schedule.%s on a nil or zero Schedule: make one with New", what))
	}
}

// unapplied reports whether there are recorded commands that were not applied.
func (s *Schedule) unapplied() bool {
	return slices.ContainsFunc(s.team.workers, func(w *worker) bool { return w.recorded })
}

func (s *Schedule) drop() error {
	var errs []error
	for _, w := range s.team.workers {
		if w.commands != nil {
			errs = append(errs, w.commands.Close())
		}
		w.commands, w.recorded = nil, false
	}
	return errors.Join(errs...)
}
