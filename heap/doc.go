// Package heap allocates memory of any size outside Go's heap and frees it in any order, without fragmenting
// memory.
//
// A [Heap] reserves address space and allocates from it. Freed allocations leave holes in the addresses, but
// not in memory: each page of addresses is mapped to memory by itself, so the memory of a freed page serves
// the next allocation at any address, or another program. Addresses are plentiful. Allocations of more than
// seven eighths of a page therefore have whole pages. Smaller allocations share pages that are divided into
// objects of one size. The price is that sizes are rounded up. "Virtual Memory Tricks" (Niklas Gray, 2017)
// describes the idea, pools made of whole pages, and the [Buffer].
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
//   - class: a size of small objects; each size up to seven eighths of a page is rounded up to a class, by
//     less than an eighth or less than 16 bytes
//   - pool: one to eight pages, divided into objects of one class
//   - block: an allocation of whole pages, up to 256 KiB
//   - room: the addresses of one larger allocation and, as long as addresses suffice, at least as many
//     addresses behind them, so that the allocation can grow in place
//   - kept: free pages whose memory is not given back yet
//
// # Where things are
//
// The heap writes nothing into free memory. Its bits for objects and its entries for pages lie in a separate
// range of addresses. A write through a stale pointer can harm a later allocation, but never the heap itself.
// Freeing twice, and freeing a pointer that is not the start of an allocation, panic. The costs of the heap's
// own data are
//
//	a page of 4 KiB   64 bytes, which include 1 bit for each small object
//	a room            32 bytes for each 2 MiB of addresses, and one or two of the 65,530 mappings of a
//	                  Linux process; when mappings run out, large allocations lie among the blocks, which
//	                  need no mappings
//
// # When memory goes back
//
// Freeing a block gives its memory back to the operating system, except for 1 MiB in each heap, which the
// next allocations use. Freeing a room always gives its memory back. Freeing the last object of a pool gives
// the pool's memory back if another pool of its class has a free object. The pages of freed blocks and pools
// stay committed, so that holes cost no mappings. When memory is refused, the heap decommits the holes, so
// that they no longer count in a limit, and tries the allocation again. [Heap.Trim] gives back the memory of
// all free pages.
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
// The environment variable VAST_GUARD=1/1000 (1/1 to 1/2147483647) guards, on average, one in a thousand
// small allocations of each heap, chosen at random, up to 16 at a time. A guarded allocation is a block of a
// [guard.Allocator]: an access to a freed block, or past the end of a block, is a memory fault, and the
// report says where the block was allocated and freed. In goroutines that begin with `defer vm.Watch()()`,
// and in the systems of a schedule, the fault is a panic with that report; elsewhere the fault ends the
// process without a report. If the variable is not set, guarding costs nothing. In builds with the tag
// invariants freed memory is poisoned, and an allocation panics if its memory was written after it was
// freed.
//
// # Running out
//
// An allocation that fails returns a [*vm.Error] and changes nothing. [Grow] makes sure that the next n
// allocations of a small type cannot fail.
package heap
