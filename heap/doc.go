// Package heap allocates memory outside Go's heap, of any size and in any order, without fragmentation of memory.
//
// A [Heap] takes address space and gives it out. What is freed leaves holes in the addresses, but not in memory: each page
// of addresses is mapped to memory by itself, so the memory of a freed page serves the next allocation wherever that lies,
// or another program. Addresses are plenty. Allocations of seven eighths of a page or more therefore have whole pages;
// smaller ones share pages that are divided into as many objects of one size as fit. The price is what rounding adds.
// "Virtual Memory Tricks" (Niklas Gray, 2017) describes the idea, object pools by the page, and the [Buffer].
//
//	h, err := heap.NewHeap(heap.Options{})
//	s := heap.New[Ship](h)                  // *Ship, zero
//	names := heap.MakeSlice[byte](h, 0, 100)
//	names, err = heap.Resize(h, names, 1<<30) // without copying what is large
//	heap.FreeSlice(h, names)
//	heap.Free(h, s)
//
// The functions that return an error have short forms that panic with it: [Make] and [MakeSlice] for [Alloc] and
// [AllocSlice].
//
// # Terminology
//
//   - class: a size of small objects; each size up to seven eighths of a page is rounded up to one, by less than an eighth
//     or less than 16 bytes
//   - pool: one page, or up to eight, divided into objects of one class
//   - block: an allocation of whole pages among others, up to 256 KiB
//   - room: the addresses of one larger allocation, with as many again behind it to grow into
//   - kept: free pages whose memory is not given back yet
//
// # Where things are
//
// Nothing is written into free memory: bits for the objects, and an entry for each page, lie in a range of addresses of
// their own. A write through a stale pointer can harm what was allocated there since, but never the heap itself. Freeing
// twice, and freeing what is no beginning of an allocation, are found and panic. So
//
//	small objects   1 bit each, and 64 bytes a page of 4 KiB
//	a room          32 bytes, and one or two of the mappings of which Linux gives a process 65,530; where they end, large
//	                allocations lie among the blocks, which need none
//
// # When memory goes back
//
// A block's memory goes back to the operating system when it is freed, but for 1 MiB of the heap's that the next
// allocations are to find warm; a room's always. A pool's goes back when its last object is freed, unless no other pool of
// its class has a free object. The pages stay committed, so that holes cost no mappings, until memory is refused: then
// holes are decommitted, so that they count in no limit, and the allocation is tried again. [Heap.Trim] gives back what is
// left.
//
// # Element types, lifetimes
//
// The collector does not look into the heap: what lies there must not hold Go pointers (strings, slices, maps, channels,
// functions, interfaces, pointers), and the typed functions panic with the path of the first such field. Nothing is freed
// by itself: every allocation lives until it is freed or the heap closed, and a pointer to it does not keep the heap open.
// A heap that is dropped without Close keeps its memory, and [vm.OnLeak] tells of it.
//
// All memory is zero when it is allocated: pages are when they come from the operating system, and what is used again is
// cleared.
//
// # Finding bad accesses
//
// While the environment variable VAST_GUARD is 1/1000, one in a thousand small allocations of each heap (any number from 1 to
// 2147483647), chosen at random and up to 16 at a time, is a block of a [guard.Allocator]: a use of it after it was freed, or past
// its end, is a memory fault, and the report says where it was allocated and freed. The fault is a panic with that report in
// goroutines that begin with `defer vm.Watch()()`, and in the systems of a schedule; elsewhere it ends the process without.
// Without the variable this costs nothing. Built with the tag invariants, what is freed is poisoned, and an allocation panics
// where its memory was written since.
//
// # Running out
//
// What cannot be allocated is a [*vm.Error], and nothing has changed. [Grow] makes the next allocations of a small type
// unable to fail.
package heap
