// Package ring holds byte buffers between one goroutine that writes and one that reads. The bytes in a buffer
// are always one slice, so they can be parsed in place.
//
// # Types
//
//   - [Ring] has a fixed size. Its memory is mapped twice in a row: a piece that crosses the end continues
//     where the beginning is mapped again. Crossing the end needs neither a copy nor a special case. The
//     writer waits while the ring is full, the reader while it is empty.
//   - [Endless] grows at its end and is released from its beginning. Bytes are found by their position in the
//     stream. No call waits.
//
// # Terminology
//
//   - position: the number of bytes between the beginning of the stream and a byte
//   - offset: the place of a position in memory
//   - reserve, commit: get room to write into; hand the written bytes to the reader
//   - peek, discard: look at bytes; give them up, so that their place can be written again
//   - passed: released
//   - lap: one of the two parts of an Endless buffer's addresses, written in turn
//
// # Lifetimes
//
// The slices that Peek, Reserve and At return lie outside Go's heap, and do not keep a buffer open. They are
// valid until Discard, Commit, Release or Close. A later access reads other bytes, or faults. Close every
// buffer: a buffer that is dropped without Close keeps its memory, and [vm.OnLeak] reports it.
//
// # Where memory cannot be mapped twice
//
// On the heap stand-in (see package vm), and where a sandbox refuses the mapping, a [Ring] takes twice its
// size and copies each byte once more when it is committed. Nothing else differs. [Ring.Refused] tells why a
// ring copies. The race detector sees the bytes of a copying ring, so -race finds a slice that is used too
// long. With -tags invariants such a slice holds overwritten bytes.
//
// # Errors
//
// A Ring behaves like a pipe or a connection: [io.EOF] after the writer has ended the stream,
// [io.ErrClosedPipe] after Close, [os.ErrDeadlineExceeded] after a deadline. A piece that can never fit is a
// [*vm.Error] wrapping [vm.ErrCapacity], because its length may be untrusted input. An Endless buffer that
// cannot grow returns a [*vm.Error] as the containers of package bulk do. A caller's bug panics with a
// message that says how to fix it.
//
// # Sources
//
// The gapless ring and the endless buffer are from "Virtual Memory Tricks" by Niklas Gray, who credits the
// ring to Fabian Giesen.
package ring
