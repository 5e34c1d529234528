// Package sched runs plain functions over a world, tick by tick. Two functions run one after the other if one
// writes a column that the other reads or writes. Other functions may run in parallel. The result is the same
// on any number of workers.
//
// # Types
//
//   - [Schedule] holds the systems and runs them: [Schedule.Tick] runs one tick, [Schedule.Run] runs ticks in
//     real time, and [Schedule.RunTicks] runs ticks as fast as possible. [Schedule.Reset] prepares the next
//     simulation.
//   - [System] is a function and the columns that it reads and writes.
//   - [Context] gives the function the tick, [vast.Commands] and random numbers. [Context.Each] and [Reduce]
//     spread the work of one system over several workers.
//   - [Stats] holds the costs. [Graph] holds the order of the systems and the reasons for this order. A
//     [Recording] holds the work of each worker in one tick. Tools find the schedules of a world with [Of].
//
// # Terminology
//
//   - simulation: the ticks from the first one until [Schedule.Stop], [Schedule.Reset] or [Schedule.Close];
//     the systems start before the first tick and end after the last one
//   - tick: one step of simulated time, in which each system runs once
//   - phase: a part of a tick; its systems are done, and their commands applied, before the next phase begins
//   - conflict: two systems of a phase conflict when one writes what the other reads or writes
//   - worker: a goroutine that runs systems; the goroutine that calls Tick is a worker, too
//   - batch: a part of the entities that a query matches; the division into batches depends on the world and
//     the batch size, and not on the number of workers
//   - position: the place of a command in the order of application: commands are ordered by system, then by
//     the step within the system that recorded them
//
// # Order
//
// Phases run one after the other. Within a phase a system waits for the systems that Before and After put
// before it, directly or through other systems. Of two conflicting systems without such an order, the one
// that was added later waits. A system can start as soon as all systems that it waits for are done. An
// exclusive system conflicts with every other system. Because two conflicting systems always run in the same
// order, timing does not affect the values that a system reads. Commands are applied in the order of their
// positions, and random numbers are computed from the seed, the system, the tick and the entity. Therefore a
// tick gives the same world, to the last bit, on one worker and on many.
//
// This holds as long as systems declare the columns that they touch, and only exclusive systems change the
// structure directly. Three checks find systems that break these rules. In a build with -race, columns lie in
// memory that the race detector watches. In a build with -tags invariants, the schedule checks each access to
// a column against the declarations of the running system. In every build, the schedule checks that systems
// that are not exclusive leave the structure of the world unchanged.
//
// # Costs
//
// With one worker, running a system costs one function call. Measuring begins when [Schedule.Stats] is first
// called, for example by an inspector. From then on a system also costs one reading of the clock. Idle
// workers sleep. Waking a worker takes some microseconds, so shorter systems and shorter batches gain nothing
// from running in parallel. In the long run a tick allocates nothing on the Go heap. While runtime/trace
// runs, each tick is a task, and each system, each worker's share of another worker's parts, and each
// application of commands is a region.
//
// # Lifetimes
//
// A [Schedule] keeps goroutines until [Schedule.Close], which also releases the memory of its Commands. It
// does not own the world: close the schedule first, then the world. A [Context] and its Commands are valid
// until the function that received the Context returns.
//
// # Errors
//
// Adding an invalid system panics. Systems that have no valid order give an [*OrderError]. A tick that stops
// returns the reason and leaves the world and the schedule usable: see [Schedule.Tick].
package sched
