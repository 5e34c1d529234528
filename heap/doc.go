// Package heap allocates memory of any size outside Go's heap and frees it in any order, without fragmenting
// memory.
//
// A [Heap] reserves address space and allocates from it. Freed allocations leave holes in the addresses, but
// not in memory: a later allocation at any address, or another program, can use the memory of a freed page.
// Allocations of more than seven eighths of a page have pages of their own, because addresses are plentiful.
// Smaller allocations share pages that are divided into objects of one size. Sizes are rounded up. The idea,
// the pools of whole pages and the [Buffer] are from "Virtual Memory Tricks" (Niklas Gray, 2017).
//
//	h, err := heap.New(heap.Options{})
//	s := heap.Make[Ship](h)                  // *Ship, zero
//	names := heap.MakeSlice[byte](h, 0, 100)
//	names, err = heap.Resize(h, names, 1<<30) // large slices are not copied
//	heap.FreeSlice(h, names)
//	heap.Free(h, s)
//
// [Alloc] and [AllocSlice] return an error; [Make] and [MakeSlice] panic with the error.
//
// # Terminology
//
//   - class: a size of small objects; sizes up to seven eighths of a page are rounded up to a class, which
//     adds less than an eighth or less than 16 bytes
//   - pool: one to eight pages, divided into objects of one class
//   - block: an allocation of whole pages, up to 256 KiB
//   - room: the addresses for one larger allocation, usually at least twice as many as the allocation needs,
//     so that it can grow in place
//   - kept page: a free page whose memory is not given back yet
//
// # Data of the heap
//
// The heap writes nothing into free memory. Its bits for objects and its entries for pages lie in a separate
// range of addresses. A write through a stale pointer can harm a later allocation, but not the heap itself.
// Free panics if no live allocation begins at the pointer. The heap's own data costs:
//
//	a page of 4 KiB   64 bytes, which include the bits for small objects
//	a room            32 bytes for each 2 MiB of addresses, and one or two of the 65,530 mappings of a
//	                  Linux process
//
// When mappings run out, large allocations lie among the blocks, which need no mappings.
//
// # When memory goes back
//
// A heap keeps up to 1 MiB of free pages for the next allocations. The memory of further freed blocks and
// pools goes back to the operating system. The memory of a freed room always goes back. A pool without
// allocations is freed if another pool of its class has a free object. The pages of freed blocks and pools
// stay committed after their memory has gone back, so that holes cost no mappings. These pages still count in
// a limit. When memory is refused, the heap decommits the holes, and tries the allocation again. [Heap.Trim]
// gives back the memory of all free pages.
//
// # Element types, lifetimes
//
// The garbage collector does not scan the heap: elements must not hold Go pointers (strings, slices, maps,
// channels, functions, interfaces, pointers). The typed functions panic with the path of the first field that
// holds a Go pointer. Every allocation lives until it is freed or the heap is closed, and a pointer to it
// does not keep the heap open. A heap that is dropped without Close keeps its memory, and [vm.OnLeak] reports
// it.
//
// All allocated memory is zero. Pages from the operating system are zero, and reused memory is cleared.
//
// # Finding bad accesses
//
// With VAST_GUARD=1/1000 in the environment (1/1 to 1/2147483647), each heap guards one in a thousand of its
// small allocations on average, and at most 16 at a time. A guarded allocation is a block of a
// [guard.Allocator]: an access to a freed block, or past the end of a block, is a memory fault. In goroutines
// that begin with `defer vm.Watch()()`, and in the systems of a schedule, the fault is a panic with a report,
// which says where the block was allocated and freed. In other goroutines the fault ends the process without
// a report. If the variable is not set, guarding costs nothing.
//
// In builds with the tag invariants, freed memory is poisoned, and an allocation panics if its memory was
// written after it was freed.
//
// # Running out
//
// An allocation that fails returns a [*vm.Error], and all allocations are unchanged. [Grow] makes sure that
// the next n allocations of a small type cannot fail.
package heap
