// Package guard finds writes to freed memory, and writes past the end of an object, at the moment they
// happen.
//
// Such a write usually hits another object, and the damage is found much later, in other code. With this
// package every object has pages of its own and ends at the end of its last page. Freeing the object
// decommits these pages, and the page behind the object stays uncommitted. An access to uncommitted pages is
// a memory fault. The report names the object and the distance from the object to the access, and says where
// the object was allocated and freed. The method is the end-of-page allocator (Niklas Gray, "Virtual Memory
// Tricks", 2017; before that Bruce Perens, Electric Fence, 1987). The package takes both precautions of
// Gray's text: it keeps addresses after their memory is freed, and each object has a guard page behind it.
//
//   - [Allocator]: allocates values of any type, by [Make] and [MakeSlice], [Alloc] and [AllocSlice], or
//     [Allocator.Alloc].
//   - [Pool]: guards each element of a pool, and replaces a [bulk.Pool] by a change of one line.
//   - [SampledPool] and [Sampler]: guard a few allocations, chosen at random, for production.
//   - [Explain] and [Describe]: return a report, the [Fault], about a memory fault or an address. [vm.Do] and
//     [vm.Watch] turn a memory fault into a panic with that report.
//   - VAST_GUARD=1/1000 in the environment: guards one allocation in a thousand of each heap.Heap, without a
//     change to the program.
//
// # Terminology
//
//   - block: the memory of one allocation, live until it is freed
//   - guard page: an uncommitted page before or behind a block's pages
//   - slack: the bytes of a block's pages outside the block; they hold a pattern, and freeing the block
//     checks that the pattern is unchanged
//   - quarantine: the freed blocks whose addresses are not used again yet, so that a stale pointer to such a
//     block does not point to a new object
//   - capacity: the largest number of live blocks
//
// # Detection
//
// A block ends at the end of its last page if its size is a multiple of its alignment and not zero. The size
// of each Go type is a multiple of its alignment. For other sizes, the bytes behind the block, at most as
// many as its alignment, are slack. An access to the slack does not fault: a write to the slack is found when
// the block is freed, or by Check; a read is not found. With
// Options.AtStart a block begins at the start of its first page. Then an access before the start faults, and
// the bytes behind the end are slack. An access that misses by more than a page may hit another live block,
// and is then not found. When a new block has the addresses of a freed block, an access to the new block
// through a stale pointer to the freed block is not found.
//
// # Faults
//
// A memory fault ends a Go program. The runtime prints "unexpected fault address", the address, and the
// stacks of the goroutines. This output shows where the bad access is but not which object was accessed. In
// a goroutine that called [runtime/debug.SetPanicOnFault] the fault is a panic instead. [vm.Watch] and
// [vm.Do] call SetPanicOnFault and turn the panic into a panic with a [*Fault], which recover returns. The
// setting belongs to one goroutine; a goroutine does not inherit the setting of the goroutine that starts
// it. In a goroutine without the setting, a fault ends the process with the runtime's message
// (GOTRACEBACK=all shows the other goroutines). A fault in C code always ends the process. A system call
// with a bad address does not fault: it returns EFAULT.
//
// # Where nothing faults
//
// Under the race detector, with [vm.PagesHeap], and on systems without virtual memory, blocks lie on the Go
// heap (see [vm.HeapStandIn]), and no access to them faults. Wrong frees and writes to the slack are still
// found. Freed blocks are filled with the pattern, so Check and Close find later writes to them.
//
// # Cost
//
// A block costs at least a page of memory, two pages of addresses, some 400 bytes of Go heap, and on Linux
// two of the process's mappings. Linux allows 65,530 mappings by default (vm.max_map_count). The default
// capacity is 16,384 blocks, which take half of these mappings. Allocating a block costs a system call, and
// freeing it costs two on Linux. Both also record the stack. The command `vast bench guard` measures these
// costs.
//
// # In production
//
// Guarding a few allocations, chosen at random, costs next to nothing. Over many long-running processes,
// sampling finds bugs that tests have missed. The method is GWP-ASan: Kostya Serebryany and others,
// "GWP-ASan: Sampling-Based Detection of Memory-Safety Bugs in Production", 2023 (arXiv:2311.09394);
// https://llvm.org/docs/GwpAsan.html. [SampledPool] applies the method to a pool. An allocator of your own
// can apply it with a [Sampler] s and an [Allocator] g of a few blocks:
//
//	p, err := ordinary.Alloc(size)      becomes    if s.Sample() {
//	                                                   if p, err := g.Alloc(size, align); err == nil {
//	                                                       return p, nil
//	                                                   }
//	                                               }
//	                                               return ordinary.Alloc(size)
//	ordinary.Free(p)                    becomes    if g.Owns(p) { g.Free(p) } else { ordinary.Free(p) }
//
// A heap.Heap samples its allocations in the same way if the environment variable VAST_GUARD is 1/n when the
// program starts. A container whose elements must lie at base + i × size cannot place a single element in a
// guarded block. Instead, one in n releases of an arena.Arena, and one in n truncations of a bulk.Array or
// bulk.Table, decommits the released pages and keeps none for later elements, so that a stale access faults.
// Regions remember the call that gave the memory back, and the panic of [vm.Watch] names this call. An
// invalid value of the variable is reported on standard error and ignored.
//
// A guarded object keeps its block until the object is freed. If the guarded objects live as long as the
// program, they soon use the whole capacity, and later objects are not guarded.
package guard
