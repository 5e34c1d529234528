// Package plan predicts how fast a cluster runs, by a discrete-event simulation. `go run ./cluster/simulate`
// and the row predict-16 of `go run ./cluster/bench` use it.
//
//   - [Costs] are what work costs on some machine. Package trial measures them.
//   - [Setup] says what the cluster consists of.
//   - [Run] simulates the cluster and returns a [Result].
//
// Regions are goroutines that share the cores of their process. A region waits for the messages of all
// regions of lookahead ticks before. Then it decodes them, runs its tick, encodes its message, and writes it
// to its journal. It goes on while fewer than lookahead messages are on their way. The server appends the
// messages of an outbox one after the other: each takes time of a core and a sync of the disk. Then the
// server acknowledges the message, and delivers it once to each process. A goroutine that syncs keeps its
// core for a while. Once a second each region makes a status, which all processes get. For a checkpoint the
// region computes the state, stores it chunk by chunk beside its ticks, and then asks for the pointers of all
// regions.
//
// Cores, disks and networks are stations with a queue. Work longer than 10 milliseconds goes back to the end
// of the queue of the cores, as the scheduler of Go does it. The times of ticks and syncs are random; the
// same seed gives the same result.
//
// The model leaves out:
//
//   - memory, its bandwidth and caches: a core is as fast with many busy neighbours as with few,
//   - heartbeats, inputs, followers, lost messages, failovers, and regions that move,
//   - what travellers do to a place: all regions have the same cost of a traveller, and those who depart are
//     spread over the regions like the travellers,
//   - the way of a message between two servers, if the client is connected to another one than the leader,
//   - other programs, except that they stretch all work by the same factor.
//
// One process is measured, so the time of appending and delivering a message is that of client and server
// together. The simulation gives half of it to each.
package plan
