// Package plan predicts how fast a cluster runs, by a discrete-event simulation. `go run ./cluster/simulate`
// and the row predict-16 of `go run ./cluster/bench` use it.
//
//   - [Costs] are the costs of the work on some machine. Package trial measures them.
//   - [Setup] says what the cluster consists of.
//   - [Run] simulates the cluster and returns a [Result].
//
// Regions are goroutines that share the cores of their process. Before a tick, a region waits for the
// messages that all regions have sent lookahead ticks earlier. Then the region decodes these messages, runs
// its tick, encodes its own message, and writes this message to its journal. The region continues with the
// next tick while fewer than lookahead of its messages are unacknowledged. The server appends the messages
// of an outbox one after the other: each append takes processor time and a sync of the disk. Then the server
// acknowledges the message, and delivers it once to each process. A goroutine that syncs keeps its core for
// a while. Once a second each region makes a status, which all processes get. For a checkpoint, the region
// computes its state, and stores the state chunk by chunk while it runs ticks. Then the region replaces its
// pointer, and reads the pointers of all regions.
//
// Cores, disks and networks are stations with a queue. After 10 milliseconds on a core, unfinished work goes
// back to the end of the queue, as in Go's scheduler. The times of ticks and syncs are random. The same seed
// gives the same result.
//
// The model leaves out:
//
//   - memory, its bandwidth and caches: a core is as fast with many busy neighbours as with few,
//   - heartbeats, inputs, followers, lost messages, failovers, and regions that move,
//   - differences between places: a traveller costs the same in all regions, and the travellers who depart
//     are distributed over the regions like all travellers,
//   - the transfer of a message between two servers, if the client is not connected to the leader,
//   - other programs: in the model, they stretch all work by one factor.
//
// The measured process has an embedded server. The measured costs of appending, delivering and storing are
// therefore those of client and server together. The simulation gives half of each cost to the client and
// half to the server.
package plan
