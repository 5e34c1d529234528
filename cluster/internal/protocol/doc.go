// Package protocol keeps the regions of one world in step, even if the processes that run the regions die,
// sleep or lose their connection. The package does not depend on what a region contains. It uses the storage
// through interfaces.
//
// A region is a deterministic state machine. The result of a tick depends only on the state before the tick,
// on what the regions have sent, and on inputs. The owner of a region runs the ticks of the region. For each
// tick, the owner appends one message to the region's outbox. The message contains what the tick sends to
// each region, and the number of the last input that the region has read. Any process can compute the state
// of a region again from a checkpoint, the outboxes and the inputs. The outboxes are therefore the authority;
// the memory of a process is a copy.
//
//   - Outbox: the log of one region. Only the owner of the region appends to the outbox. The outbox refuses a
//     message if the newest message in the outbox is not the one that the owner expects.
//   - Section: what one tick of a region sends to one region. A receiver gets the sections in the order of
//     the senders' numbers, never in the order of arrival.
//   - Lookahead: the number of ticks after which a section takes effect. Before a region runs a tick, it
//     waits for the messages that all regions sent lookahead ticks before.
//   - Cut: the number of the last input that the region has read by the end of a tick. The cut is a part of
//     the tick's message, so the cut and the effects of the inputs become durable together.
//   - Hash: the SHA-256 of all that a tick's message says, except the epoch and the owner. The message
//     contains the hash of the tick before, so equal hashes mean equal histories.
//   - Epoch: the time during which one process owns the region. Each owner begins its epoch with a record in
//     the outbox. After this record the outbox refuses messages of earlier owners. A lease only decides which
//     process tries to become the owner. An owner that sleeps longer than its lease does no harm, because
//     the outbox refuses its messages.
//   - Pointer: the value that names the newest checkpoint of a region.
//   - Journal: a copy of an outbox on the disk of the owner. If an outbox loses acknowledged messages in a
//     power failure, the process with the journal takes the region over, and appends the messages again.
//
// When the outbox refuses a message, the owner reads the end of the outbox. If the last message is its own,
// the owner appends its later messages again. If the last message is of another owner, the epoch has ended.
package protocol
