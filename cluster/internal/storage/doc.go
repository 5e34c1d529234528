// Package storage keeps the logs, pointers and checkpoints of a cluster in NATS JetStream. It implements the
// interfaces Storage, Log, Appended and Stored of package protocol.
//
//   - [Server] is a NATS server inside the process.
//   - [Storage] is the connection of a process to the server or servers of a cluster.
//
// For region 7, a cluster with the name N has:
//
//   - the stream VAST_N_out_7 with the subject vast.N.out.7: the outbox;
//   - the stream VAST_N_in_7 with the subject vast.N.in.7: the inputs;
//   - the key pointer.7 in the key-value bucket VAST_N: the pointer to the newest checkpoint (the users of
//     the package keep other keys in the same bucket);
//   - the objects whose names begin with 7. in the object bucket VAST_N: the checkpoints.
//
// While the server does not answer, a call waits until the server answers or the context of the call ends.
// The comments on calls name exceptions. [Options].Waiting is called when calls begin to wait, and when the
// server answers again.
package storage
