// Package sched runs plain functions over a world, tick by tick: those that do not touch the same columns at once, the others
// one after the other, with the same result on any number of workers.
//
// # Types
//
//   - [Schedule] holds the systems and runs them: [Schedule.Tick] once, [Schedule.Run] in real time.
//   - [System] is a function with what it reads and writes.
//   - [Context] is what the function gets: the tick, [vast.Commands], random numbers, and [Context.Each] and [Reduce], which
//     spread one system's work over several workers.
//   - [Stats] tell what it cost, [Graph] what waits for what, and why, and a [Recording] what each worker did in one tick.
//     Tools find the schedules of a world with [Of].
//
// # Terminology
//
//   - tick: one step of simulated time, in which each system runs once
//   - phase: a part of a tick; its systems are done, and their commands applied, before the next phase begins
//   - conflict: two systems of a phase of which one writes what the other reads or writes
//   - worker: a goroutine that runs systems; whoever calls Tick is one of them
//   - batch: a part of what a query matches, cut by the world and a number of entities, not by the number of workers
//   - position: what orders commands: the system, then how far it had come when it recorded them
//
// # Order
//
// Phases run one after the other. In a phase a system starts as soon as those are done that it must wait for: those named
// by Before and After, and those that it conflicts with and that were added earlier, unless Before and After say
// otherwise, be it by way of others. An exclusive system conflicts with all. So which of two conflicting systems is first
// never depends on timing, and neither does what a system reads; with commands that are applied by position and random
// numbers that are computed from what they are for, a tick gives the same world, to the last bit, on one worker and on many.
//
// That holds as long as systems declare what they touch. What the race detector and the schedule itself can see, they tell:
// built with -race, columns lie in memory that the detector watches; built with -tags invariants, each look-up is held against
// what the running system declares; and in every build the structure of the world must be the same before and after systems
// that are not exclusive.
//
// # Costs
//
// With one worker a system costs a call and a look at the clock. Workers that have nothing to do sleep; waking one takes
// some microseconds, so systems that take less gain nothing by running at once, and neither do batches. A tick allocates
// nothing on the Go heap in the long run. While runtime/trace runs, each tick is a task, and each system, each worker's help
// with another's parts and each application of commands a region.
//
// # Lifetimes
//
// A [Schedule] keeps goroutines until [Schedule.Close], which also gives back the memory of its Commands. It does not own
// the world: close the schedule first, then the world. A [Context] is valid until the function that got it returns, and so
// are the Commands that it hands out.
//
// # Errors
//
// What a caller does wrong when adding a system panics. Systems that cannot be ordered are an [*OrderError]. A tick that
// stops returns why, and leaves the world and the schedule usable: see [Schedule.Tick].
package sched
