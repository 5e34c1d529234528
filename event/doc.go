// Package event sends typed events between the systems of a schedule. Events live off the Go heap for two
// ticks. Any number of systems may send and read the events of a queue, and their order does not depend on
// the number of workers.
//
// # Types
//
//   - [Queue] holds the events of one type: [Queue.Send] and [Queue.SendTo] send an event, [Queue.All] yields
//     the events of the last tick and of this tick, and [Queue.Of] those of them that have a given target.
//   - [Reader] yields each event once. A system has a Reader of its own.
//
// # Terminology
//
//   - event: a value of the queue's type T
//   - target: the entity that an event concerns, if there is one
//   - position: the number that orders events; it comes from the system and the step, like the position of a
//     command
//
// # Visibility
//
// A system reads the events that were sent before it began: by all systems of the last tick, and by the
// systems of this tick that come before it in the order of the schedule. It does not read what it sends
// itself. In the next tick, systems read all events of this tick. After that tick the events are gone.
//
// So a system that calls All in each tick reads most events twice. A system with a Reader that runs in each
// tick reads each event once, wherever it stands in the order. All is for questions such as "was there a
// change of the map lately?".
//
// # Order
//
// Events are in the order in which one worker would send them: by the system's place in the order of the
// tick, then by step, then by call. Each part of Context.Each, Split or Reduce is a step. An event that a
// hook sends while commands are applied comes after the events of the systems whose commands are applied.
// Events that the program sends between ticks come before all other events of the next tick.
//
// A system that sends events has WritesResources: sched.Resources(q), and a system that reads them has
// ReadsResources: sched.Resources(q). Systems that send events wait only for systems that read them, and the
// other way round. Using a queue without declaring it panics in every build. Exclusive systems declare
// nothing.
//
// If a system panics, the events that were sent in the tick stay. If a tick is continued, because there was
// no memory for its commands, its events are neither lost nor doubled. sched.Schedule.Reset drops all events.
//
// # Costs
//
// Send takes a few nanoseconds. Each worker writes to its own block of memory, and takes a lock only for a
// new block. Before a system reads, the queue sorts the sequences that the workers have sent, but moves no
// event. For each worker that sends, a queue commits 16 KiB for this tick and 16 KiB for the last tick. In
// the long run sending and reading allocate nothing on the Go heap. Memory of large ticks is given back
// later: see [Queue.Trim].
//
// # Stores
//
// A program that keeps its world with package store makes its queues before store.Open, and names them in
// store.Options.Containers. A world that is opened after tick n then continues in tick n+1 with the events of
// tick n, and with the positions of the readers. Events that inputs of the store send are repeated by a
// replay. Every other event that is sent between ticks counts as a change outside of ticks, like
// store.Store.Changed.
//
// # Lifetimes
//
// A queue belongs to its schedule. sched.Schedule.Close gives the memory of the queue back; close the
// schedule before the world. Loops over events yield copies, which stay valid.
//
// # Errors
//
// New panics for invalid arguments. Send panics with a [*vm.Error] if there is no memory, and
// sched.Schedule.Tick returns this panic; [Queue.Grow] makes room in advance. Events must not hold Go
// pointers: New panics with the path of the first field that does.
package event
