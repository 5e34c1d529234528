// Package storage keeps the logs, pointers and checkpoints of a cluster in NATS JetStream. It implements the
// interfaces of package protocol.
//
//   - [Server] is a NATS server inside the process, for clusters on one machine.
//   - [Storage] is the connection of a process to the server or servers of a cluster.
//
// A cluster with the name N has, for region 7,
//
//   - the stream VAST_N_out_7 with the subject vast.N.out.7: the outbox,
//   - the stream VAST_N_in_7 with the subject vast.N.in.7: the inputs,
//   - the key pointer.7 in the key-value bucket VAST_N: where the newest checkpoint is; the users of the
//     package have other keys in the same bucket,
//   - the objects that begin with 7. in the object bucket VAST_N: the checkpoints.
//
// All calls wait while the server does not answer, until their context ends. [Options].Waiting is told when a
// call begins to wait and when the server answers again.
package storage
