// Package protocol keeps regions of one world in step, whatever happens to the processes that run them. It
// does not know what a region is, and reaches storage by interfaces.
//
// A region is a deterministic state machine. The result of a tick follows from the state before it, from what
// other regions sent, and from inputs. The owner of a region runs its ticks and appends one message a tick to
// the region's outbox: what the tick sent to each region, and how far it has read the inputs. So the outboxes
// are the truth. What a process holds in memory can be computed again from a checkpoint and the outboxes.
//
//   - Outbox: the log of one region. Only its owner appends to it, under the condition that the last message
//     is still the one that the owner knows.
//   - Lookahead: after how many ticks a sent section takes effect. A region runs tick t when it has the
//     messages of tick t − lookahead of all regions.
//   - Section: what one tick of a region sent to one region. Receivers get the sections in the order of their
//     senders, never in the order of arrival.
//   - Cut: how far a tick has read the log of inputs. It is a part of the tick's message, so the cut and its
//     effects become durable together.
//   - Hash: of the content of a tick's message and of the hash before it. Equal hashes mean equal histories.
//   - Epoch: the time of one owner. Each owner begins its epoch with a record in the outbox. After this
//     record the outbox refuses messages of owners before. A lease only says who should try; an owner that
//     sleeps longer than its lease does no harm.
//   - Pointer: where the newest checkpoint of a region is.
//   - Journal: the messages of an outbox on a process's own disk. If a power failure takes acknowledged
//     messages from an outbox, the next owner fills the outbox up from its journal.
//
// An owner that is refused reads the end of its outbox. If the last message is its own, all messages up to it
// are appended, and the owner repeats the rest. Anything else means that the epoch has ended.
package protocol
