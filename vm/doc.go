// Package vm takes address space from the operating system and pays for it page by page.
//
// A [Region] is one reservation: its base never moves and its addresses belong to nobody else until it is closed, so
// what lies in it can grow without being copied and can be pointed at for as long as the region is open. Memory is used
// only where a region was committed and touched.
//
// # States
//
// Every page of a region is in one of these states; each function's comment names its transition.
//
//	           Reserve              Commit
//	(nothing) ---------> Reserved <-----------> Committed --+
//	                        ^        Decommit       ^       | Discard
//	                        |                       +-------+
//	          Close: all pages; the addresses go to the cache of closed regions
//
// A Reserved page faults when touched. A Committed page may be read and written and is zero at first. Discard gives a
// committed page's memory back and leaves it committed, zero again. Closing a region takes all of it away at once.
// MovePages brings what lies in Committed pages to Reserved ones, and the two change their states.
//
// # Terminology
//
//   - Reserve: take addresses; costs no memory.
//   - Commit: make addresses usable; memory is taken when a page is first touched.
//   - Decommit: give memory back and keep the addresses.
//   - Release: give the addresses back. It is done by [Region.Close], and only to this process's later regions: an
//     address handed back to the operating system could be taken by Go's heap while an old pointer to it lives, and the
//     collector stops the process when it meets one.
//   - Page, huge page: the operating system's units; ask [PageSize] and [HugePageSize].
//   - Span: a part of a region whose committed bytes are one growing prefix.
//   - Seam: a part of a region with two arrays that grow away from each other, committed together.
//   - Mirror: memory that appears twice in a row, for buffers without a border.
//   - static table: a package-level array that lives as long as the process and costs what is touched (Static).
//   - Purpose: the name under which a region's bytes are counted.
//
// # Lifetimes
//
// Nothing here is freed by the garbage collector: a pointer into a region does not keep its Region value alive, so a
// finalizer would free memory in use. [Region.Close] is explicit. A Region dropped without it is reported (see
// [OnLeak]) and its memory stays.
//
// # Running out
//
// Every limit that is reached is an [*Error] which names it and says what to do, and nothing has changed then. Mappings
// are the scarce good on Linux: a process may have 65,530 unless vm.max_map_count is raised, and every border between
// committed and reserved pages costs one, so commit in long ranges (see [Span]). Regions leave a sixteenth of them to
// Go's runtime, which ends the process when it gets none. A control group's limit ends the process without an error: set
// a [Limit] below it.
//
// # Bad accesses
//
// A stray or stale pointer into reserved pages is a memory fault, of which the runtime prints the bare number before it ends
// the process. In a goroutine that begins with `defer vm.Watch()()` it is a panic with a [*Fault] instead: "slot 5000000 of
// column Position of world "demo" is beyond its 8192 usable slots", with where the region was made and, of one of the 256
// closed last, where it was closed. Containers and worlds label their parts for that (see [Label]). [Describe] answers the
// same for an address from elsewhere. Goroutines of a sched.Schedule are watched always.
//
// # Go pointers
//
// The garbage collector does not look into regions. They must not hold Go pointers, strings, slices, maps, channels,
// functions or interfaces.
//
// # The heap stand-in
//
// With [PagesHeap], on systems without virtual memory, and in every program built with the race detector, a region is
// ordinary Go heap memory. The race detector ignores memory that it did not allocate; on the stand-in it finds races in
// the data that regions hold. Nothing faults there, and reserving costs memory: keep capacities small.
//
// # Other page sizes
//
// Nothing here assumes pages of 4 KiB. The build tags vast_pages16k and vast_pages64k make the package keep to larger pages
// than the system has, to try a program for systems that have those.
package vm
