// Package sched runs plain functions over a world, tick by tick. Two functions run one after the other if one
// writes a column that the other reads or writes. Other functions may run in parallel. The result does not
// depend on the number of workers.
//
// # Types
//
//   - [Schedule] holds the systems and runs them: [Schedule.Tick] runs one tick, [Schedule.Run] runs ticks in
//     real time, and [Schedule.RunTicks] runs ticks as fast as possible. [Schedule.Reset] prepares the next
//     simulation.
//   - [System] is a function and the columns that it reads and writes.
//   - [Set] is a group of systems that are ordered and switched together. [State] is a value that decides
//     which systems run, such as the mode of a game. [Schedule.Disable] switches systems off.
//   - [Resource] names other data that systems share, such as the events of package event.
//   - [Jobs] runs a function beside the ticks, for several ticks, and hands in its result after a fixed
//     number of ticks.
//   - [Pool] is a pool of goroutines that the schedules of several worlds share.
//   - [Context] gives a system the tick, [vast.Commands] and random numbers. [Context.Each] and [Reduce]
//     divide the work of one system among several workers.
//   - [Stats] holds the costs. [Graph] holds the order of the systems and the reasons for this order. A
//     [Recording] holds the work of each worker in one tick. [Of] returns the schedules of a world.
//
// # Terminology
//
//   - simulation: the ticks from the first one until [Schedule.Stop], [Schedule.Reset] or [Schedule.Close];
//     the Start functions of the systems run before the first tick, and the End functions after the last
//     tick
//   - tick: the unit of simulated time, in which each system runs once
//   - phase: a part of a tick; its systems are done, and their commands applied, before the next phase begins
//   - one-shot system: a system that runs once on request: see [Context.RunOnce]
//   - conflict: two systems conflict when one writes what the other reads or writes
//   - worker: runs systems; the goroutine that calls Tick is a worker, and so are goroutines of a [Pool]
//   - job: one call of the function of [Jobs]; it is in flight from its start until its result is handed in
//   - batch: a part of the entities that a query matches; it does not depend on the number of workers
//   - step: a part of a system's run; each batch is a step of its own
//   - position: the number that orders a command; its upper bits come from the system, its lower bits from
//     the step
//
// # Order
//
// When a tick begins, states change, and then the schedule calls the conditions of sets. Then the phases run,
// one after the other. Within a phase a system waits for the systems that Before and After put before it,
// directly or through other systems. If Before and After do not order two conflicting systems, the system
// that was added later waits. An exclusive system conflicts with every other system. After each
// application of commands, the requested one-shot systems run. After the phases, the functions of
// [Context.AfterTick] run.
//
// A tick gives the same world, to the last bit, on one worker and on many. There are four reasons: two
// conflicting systems always run in the same order; commands are applied in the order of their positions;
// random numbers are computed from the seed, the system, the tick and the entity; and a tick waits for the
// jobs whose results are due in this tick.
//
// Systems must keep two rules: they declare the columns that they touch, and only exclusive systems change
// the structure directly. Three checks find systems that break a rule. In builds with -race, columns lie in
// memory that the race detector watches. In builds with -tags invariants, the schedule checks each access to
// a column against the declarations of the running system. In every build, the schedule finds changes of the
// structure by systems that are not exclusive.
//
// # Costs
//
// With one worker, running a system costs one function call. Measuring begins with the first call of
// [Schedule.Stats] or [Schedule.Recent], for example by an inspector. A measured system also costs one
// reading of the clock, or two with several workers.
//
// Idle workers sleep. Waking a worker takes some microseconds, so shorter systems and shorter batches gain
// nothing from running in parallel. In the long run a tick allocates nothing on the Go heap.
//
// While runtime/trace runs, a tick is a task with three kinds of regions: systems, applications of commands,
// and the time in which a worker runs parts of another worker's system.
//
// # Lifetimes
//
// A [Schedule] keeps goroutines until [Schedule.Close], which also releases the memory of its Commands. It
// does not own the world or the pool of Options.Pool: close the schedule first. A [Context] and its Commands
// are valid until the function that received the Context returns.
//
// # Errors
//
// Adding an invalid system panics. Systems that have no valid order give an [*OrderError]. A tick that stops
// returns the reason and leaves the world and the schedule usable: see [Schedule.Tick].
package sched
