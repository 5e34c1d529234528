// Package ring provides byte buffers that one goroutine writes and another goroutine reads. Consecutive bytes
// in a buffer are always one slice, so they can be parsed in place.
//
// # Types
//
//   - [Ring] has a fixed size. Its memory is mapped twice, at adjacent addresses. A slice that crosses the
//     end of the first mapping continues in the second mapping, without a copy. The writer waits while the
//     ring is full. The reader waits while the ring is empty.
//   - [Endless] grows at its end and is released from its beginning. Bytes are found by their position in the
//     stream. Calls do not wait for bytes or room.
//
// # Terminology
//
//   - position: the index of a byte in the stream
//   - offset: the index of a byte in memory
//   - reserve: get room to write into
//   - commit: hand the written bytes to the reader
//   - peek: view bytes in place
//   - discard: free the room of bytes that were read
//   - lap: one of the two halves of an Endless buffer's address range, which are filled alternately
//
// # Lifetimes
//
// The slices that Peek, Reserve and At return do not keep a buffer open. They are valid until Discard,
// Commit, Release or Close. A later access reads wrong bytes, or faults. Close every buffer: a buffer that is
// dropped without Close keeps its memory, and [vm.OnLeak] reports it.
//
// # Where memory cannot be mapped twice
//
// On the heap stand-in (see package vm), and where the system refuses the second mapping, a [Ring] takes
// twice the memory, and the writer copies each byte once more. [Ring.Refused] returns the reason.
//
// In builds with -race, buffers lie on the Go heap, and the race detector can find code that uses a slice
// that is no longer valid. In builds with -tags invariants, Discard and Release overwrite the bytes that they
// free.
//
// # Errors
//
// A Ring behaves like a pipe or a connection: it returns [io.EOF] after the writer has ended the stream,
// [io.ErrClosedPipe] after Close, and [os.ErrDeadlineExceeded] after a deadline. A length that exceeds the
// ring's capacity gives a [*vm.Error] wrapping [vm.ErrCapacity], and no panic, because a length may be
// untrusted input. An Endless buffer that cannot grow returns a [*vm.Error]. Misuse panics with a message
// that says how to fix the caller.
//
// # Sources
//
// The gapless ring and the endless buffer are from "Virtual Memory Tricks" by Niklas Gray, who credits the
// ring to Fabian Giesen.
package ring
