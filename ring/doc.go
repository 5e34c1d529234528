// Package ring holds buffers of bytes between one goroutine that writes and one that reads, in which whatever is there
// lies in one piece: it can be parsed in place.
//
// # Types
//
//   - [Ring] has a fixed size. Its memory is mapped twice in a row, so that a part which goes over the end goes on where
//     the beginning is seen again. It needs no copy at the wrap and no code for it. The writer waits while it is full, the
//     reader while it is empty.
//   - [Endless] grows at its end and is released from its beginning. What is in it is found by its position in the stream.
//     Nobody waits.
//
// # Terminology
//
//   - position: how many bytes came before, since the beginning
//   - offset: where in memory a position is
//   - reserve, commit: get room to write into; hand to the reader what was written there
//   - peek, discard: look at what is there; give it up, so that its place can be written again
//   - passed: released, and gone
//   - lap: one of the two parts of an Endless buffer's addresses, written in turn
//
// # Lifetimes
//
// The slices that Peek, Reserve and At return lie outside Go's heap, and do not keep a buffer open. They end with
// Discard, Commit and Release, and with Close: touching one after that reads what was written since, or faults. Close
// every buffer that was made; one that is dropped instead keeps its memory, and [vm.OnLeak] tells of it.
//
// # Where memory cannot be mapped twice
//
// On the heap stand-in (see package vm), and where a sandbox refuses it, a [Ring] takes twice its size and copies each
// byte once more as it is committed. Nothing else is different; [Ring.Refused] tells. There the race detector sees the
// bytes, so that a slice which is used too long is found: by -race, or with -tags invariants by what it holds then.
//
// # Errors
//
// A Ring is used as a pipe or a connection is: [io.EOF] when the writer has ended it, [io.ErrClosedPipe] when it is
// closed, [os.ErrDeadlineExceeded] when a deadline passes. A piece that can never fit is a [*vm.Error] wrapping
// [vm.ErrCapacity], because the length may come from outside. An Endless buffer that may not grow returns a [*vm.Error] as
// the containers of package bulk do. What can only be a caller's bug panics, and says how to mend it.
//
// # Sources
//
// The gapless ring and the endless buffer are in "Virtual Memory Tricks" by Niklas Gray, who has the ring from Fabian
// Giesen.
package ring
