// Package ring provides byte buffers that one goroutine writes and another goroutine reads. Any piece of the
// bytes in a buffer is one slice, so the piece can be parsed in place.
//
// # Types
//
//   - [Ring] has a fixed size. Its memory is mapped twice, at adjacent addresses. A piece that crosses the
//     end of the first mapping continues in the second mapping, without a copy or a special case. The writer
//     waits while the ring is full; the reader waits while the ring is empty.
//   - [Endless] grows at its end and is released from its beginning. Bytes are found by their position in the
//     stream. No call waits.
//
// # Terminology
//
//   - position: the number of bytes of the stream before a byte
//   - offset: the place of a position in memory
//   - reserve, commit: get room to write into; hand the written bytes to the reader
//   - peek, discard: view bytes in place; free their room for new bytes
//   - passed: released
//   - lap: one of the two halves of an Endless buffer's address range; the halves are filled alternately
//
// # Lifetimes
//
// The slices that Peek, Reserve and At return lie outside Go's heap, and do not keep a buffer open. They are
// valid until Discard, Commit, Release or Close. An access after that reads wrong bytes, or faults. Close
// every buffer: a buffer that is dropped without Close keeps its memory, and [vm.OnLeak] reports it.
//
// # Where memory cannot be mapped twice
//
// On the heap stand-in (see package vm), and where a sandbox refuses the mapping, a [Ring] takes twice the
// memory, and the writer copies each byte once more. Nothing else differs. [Ring.Refused] returns the reason
// why a ring copies. The race detector sees the bytes of a copying ring, so -race can find code that uses a
// slice too long. With -tags invariants, Discard and Release overwrite the bytes that they free.
//
// # Errors
//
// A Ring behaves like a pipe or a connection: [io.EOF] after the writer has ended the stream,
// [io.ErrClosedPipe] after Close, [os.ErrDeadlineExceeded] after a deadline. A piece that can never fit
// causes a [*vm.Error] wrapping [vm.ErrCapacity] and no panic, because its length may be untrusted input. An
// Endless buffer that cannot grow returns a [*vm.Error] as the containers of package bulk do. Misuse panics
// with a message that says how to fix the caller.
//
// # Sources
//
// The gapless ring and the endless buffer are from "Virtual Memory Tricks" by Niklas Gray, who credits the
// ring to Fabian Giesen.
package ring
