// Package storage keeps the logs, pointers and checkpoints of a cluster in NATS JetStream. It implements the
// interfaces Storage, Log, Appended and Stored of package protocol.
//
//   - [Server] is a NATS server inside the process.
//   - [Storage] is the connection of a process to the servers of a cluster.
//
// For region 7, a cluster with the name N has:
//
//   - the stream VAST_N_out_7 with the subject vast.N.out.7: the outbox;
//   - the stream VAST_N_in_7 with the subject vast.N.in.7: the inputs;
//   - the key pointer.7 in the key-value bucket VAST_N: the pointer to the newest checkpoint (the users of
//     the package keep other keys in the same bucket);
//   - the objects with names such as 7.NAME in the object bucket VAST_N: the checkpoints.
//
// A call waits until the server answers or the context of the call ends. The doc comments of the calls name
// the exceptions. [Options].Waiting is called when calls begin to wait, and when the server answers again.
package storage
