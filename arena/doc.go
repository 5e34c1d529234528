// Package arena holds what is allocated one after the other and freed together: the working memory of a request, a tick,
// a scene that is loaded.
//
// An [Arena] is a range of reserved addresses and a place in it. [Make] and [MakeSlice] move the place forward, and that is
// all they do; [Arena.Reset] moves it back to the beginning, and [Arena.Release] to where an [Arena.Mark] was set. Nothing
// is freed one by one, nothing moves, and the collector has nothing to look at.
//
//	a, err := arena.NewArena(arena.Options{Name: "frame"})
//	for {
//		ships := arena.MakeSlice[Ship](a, 0, 1000)
//		target := arena.New[Target](a)
//		... // a tick
//		a.Reset() // ships and target are gone
//	}
//
// It is the linear allocator of "Pointer-stable Dynamic Arrays" (which pops to an address and clears what it popped) on
// addresses that are reserved once: room for 16 GiB costs nothing before it is used.
//
// # Terminology
//
//   - mark: a place to come back to
//   - release: give up all that was allocated since a mark
//   - high-water mark: how much memory the arena keeps for the next use when it is released; what is above goes back to
//     the operating system
//
// # Goroutines
//
// An arena belongs to one goroutine at a time. Give each goroutine its own: they cost some hundred bytes, and a
// reservation, until they are used; a [vm.Limit] that they share bounds them together. What was allocated may be read and
// written by any goroutine, as other memory.
//
// # Lifetimes
//
// What is allocated is zero. It is good until a release of an older mark, Reset or Close; an old pointer then leads to
// zeros, to what was allocated there since, or faults. A slice may be appended to with [Append], which stays in the arena;
// the built-in append moves to Go's heap when the capacity is used up. An arena that is dropped instead of closed keeps its
// memory, and [vm.OnLeak] tells of it.
//
// The collector does not look into an arena, so element types must not hold Go pointers.
//
// # Running out
//
// [Arena.Grow] makes the next bytes unable to fail. The short forms New, MakeSlice and Append panic with the same
// [*vm.Error] where there is no room and none can be made; then nothing has changed.
package arena
