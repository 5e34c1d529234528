// Package plan predicts how fast a cluster runs, by a discrete-event simulation. `go run ./cluster/simulate`
// and the row predict-16 of `go run ./cluster/bench` use it.
//
//   - [Costs] are the costs of the work on some machine. Package trial measures them.
//   - [Setup] says what the cluster consists of.
//   - [Run] simulates the cluster and returns a [Result].
//
// The model:
//
//   - A region is a goroutine. The regions of a process share its cores. If the process has at least two
//     cores for each region, several workers share a part of each tick.
//   - The lookahead is the number of ticks after which the message of a region takes effect in other
//     regions (Setup.Lookahead). Before a tick, a region waits for the messages that all regions sent
//     this number of ticks earlier. The region decodes these messages, runs the tick, encodes its own
//     message, writes the message to its journal (unless its process has the only server), and sends the
//     message to the server.
//   - A region begins its next tick when the number of its unacknowledged messages is less than the
//     lookahead.
//   - The server appends the messages of a region one after the other. Each append takes processor time and
//     a sync of the disk. The server acknowledges the message after the sync, and sends it once to each
//     process.
//   - A goroutine that syncs occupies its core for a while.
//   - Once a second, each region sends a status to all processes.
//   - For a checkpoint, a region computes its state, and stores the state in chunks while it runs ticks.
//     After that, it replaces its pointer, which names its newest checkpoint, and reads the pointers of all
//     regions.
//   - Cores, disks and networks are stations with a queue. After 10 milliseconds on a core, unfinished work
//     goes to the end of the queue, as in Go's scheduler.
//   - The times of ticks and syncs are random. The same seed gives the same result.
//
// The model leaves out:
//
//   - memory, its bandwidth and caches: a core is as fast with many busy neighbours as with few,
//   - heartbeats, inputs, followers, lost messages, failovers, and regions that move,
//   - differences between the places of an Earth (package cmd/vast/earth): a traveller costs the same in all
//     regions, and as many travellers arrive in a region as depart from it,
//   - the transfer of a message between two servers, if the client is not connected to the leader,
//   - the times at which other programs run: their load only stretches all work by one factor.
//
// The measured process has an embedded server. The measured costs of appending, delivering and storing are
// therefore those of client and server together. The simulation gives half of each cost to the client and
// half to the server. For statuses and pointers, the server gets the whole cost of appending.
package plan
