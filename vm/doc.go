// Package vm reserves address space from the operating system, and takes memory for it page by page.
//
// A [Region] is one reservation. Its base never moves, and no other memory has its addresses while the region
// is open. So the contents can grow without a copy, and pointers into the region stay valid while it is open.
// Only pages that were committed and touched use memory.
//
// # States
//
// Every page of a region is Reserved or Committed:
//
//	           Reserve              Commit
//	(nothing) ---------> Reserved <-----------> Committed --+
//	                        ^        Decommit       ^       | Discard
//	                        |                       +-------+
//	          Close: all pages; the addresses go to the cache of closed regions
//
// An access to a Reserved page is a fault. A Committed page is zero at first. It may be read and
// written, unless [Region.Protect] forbids it. Discard gives a committed page's memory back and leaves the
// page committed and zero. Close makes the pages of a region inaccessible. A recycled region (see [Options])
// is an exception: its pages may stay in memory for the next region, and its pages from CarvePrivate may also
// stay accessible. MovePages moves the contents
// of Committed pages to Reserved pages. After MovePages, the old pages are Reserved and the new pages are
// Committed.
//
// # Terminology
//
//   - Reserve: take addresses; costs no memory.
//   - Commit: make addresses usable; memory is taken when a page is first touched.
//   - Decommit: give memory back and keep the addresses.
//   - Release: give the addresses back. [Region.Close] gives them to later regions of this process. The
//     operating system never gets them back, because it could give them to Go's heap: the garbage collector
//     ends the process when it finds a stale pointer to such an address.
//   - Page, huge page: the operating system's units; see [PageSize] and [HugePageSize].
//   - Span: a part of a region whose committed bytes are one growing prefix.
//   - Seam: a part of a region with two arrays that grow away from each other and are committed together.
//   - Mirror: memory that appears twice in a row, for ring buffers whose contents are always contiguous.
//   - Static table: a package-level array that lives as long as the process and costs only touched pages
//     ([Static]).
//   - Purpose: the name under which a region's bytes are counted.
//
// # Lifetimes
//
// The garbage collector frees no regions: a pointer into a region does not keep its Region value alive, so a
// finalizer would free memory in use. A program must call [Region.Close]. A Region that is dropped without
// Close is reported (see [OnLeak]) and keeps its memory.
//
// # Running out
//
// A call that would exceed a limit returns an [*Error] that names the limit and the remedy, and changes
// nothing. Mappings are the scarce resource on Linux: a process may have vm.max_map_count mappings, usually
// 65,530. Commit in long ranges (see [Span]), because every border between committed and reserved pages costs
// a mapping. Regions leave a sixteenth of the mappings to Go's runtime, which ends the process when it gets
// no mapping. If the memory in use reaches a control group's limit, the kernel ends the process without an
// error: set a [Limit] below that limit.
//
// # Bad accesses
//
// An access through a stray or stale pointer to reserved pages is a memory fault: the runtime prints the bare
// address and ends the process. In a goroutine that begins with `defer vm.Watch()()`, the fault is a panic
// with a [*Fault] instead: "slot 5000000 of column Position of world "demo" is beyond its 8192 usable slots".
// The message names the line that made the region. For the 256 regions closed last, the message also names
// the line that closed the region. Containers and worlds label their parts for these messages (see [Label]).
// [Describe] explains an address from a log or a debugger. The goroutines of a sched.Schedule are always
// watched.
//
// # Go pointers
//
// The garbage collector does not scan regions. So regions must not hold Go pointers, strings, slices, maps,
// channels, functions or interfaces.
//
// # The heap stand-in
//
// With [PagesHeap], on 32-bit systems, WebAssembly and rarer platforms, and in every program built with the
// race detector, a region is ordinary Go heap memory: see [HeapStandIn]. The race detector finds races only
// in such memory. On the stand-in, bad accesses do not fault, and reserved addresses take memory: keep
// capacities small.
//
// # Other page sizes
//
// The package works with every page size. With the build tags vast_pages16k and vast_pages64k, it uses pages
// larger than the system's, to test a program for systems with large pages.
package vm
