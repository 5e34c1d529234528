// Package arena holds allocations that are made one after the other and freed together: the working memory of
// a request, of a tick, or of a loaded scene.
//
// An [Arena] is a range of reserved addresses and a position in it. [Make] and [MakeSlice] move the position
// forward. [Arena.Reset] moves it back to the start, and [Arena.Release] moves it back to an [Arena.Mark].
// Allocations are not freed individually, they never move, and the garbage collector does not scan them.
//
//	a, err := arena.New(arena.Options{Name: "frame"})
//	for {
//		ships := arena.MakeSlice[Ship](a, 0, 1000)
//		target := arena.Make[Target](a)
//		... // a tick
//		a.Reset() // ships and target are gone
//	}
//
// An arena is the linear allocator of the article "Pointer-stable Dynamic Arrays"; but a release takes a
// mark, not an address. By default, an arena reserves addresses for 16 GiB; only the used pages take memory.
//
// # Terminology
//
//   - mark: a position to which a release returns
//   - release: the end of all allocations since a mark
//   - high-water mark: the amount of memory that the arena keeps for later allocations; a release gives
//     memory above it back to the operating system
//
// # Goroutines
//
// An arena belongs to one goroutine at a time. Give each goroutine its own arena: an unused arena costs a few
// hundred bytes and a reservation. A shared [vm.Limit] bounds several arenas together. Any goroutine may read
// and write the allocations, under the rules for any other memory.
//
// # Lifetimes
//
// Allocated memory is zero. It is valid until Reset, Close, or the release of an earlier mark. After that, a
// pointer to it reads zeros, reads a later allocation, or faults. [Append] keeps a slice in the arena; the
// built-in append moves a slice to Go's heap when its capacity is used up. An arena that is dropped without
// Close keeps its memory, and [vm.OnLeak] reports the arena.
//
// Element types must not hold Go pointers, because the garbage collector does not scan arenas.
//
// # Running out
//
// If there is no room, [Arena.Alloc] returns a [*vm.Error], and Make, MakeSlice and Append panic with one.
// These failures do not change the arena. After [Arena.Grow] of n bytes, allocations of n bytes cannot fail.
// The n bytes include the padding for alignment.
package arena
