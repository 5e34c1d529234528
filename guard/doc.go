// Package guard finds writes to freed memory, and writes past the end of an object, at the moment they
// happen.
//
// A wrong write usually hits another object, and the damage appears much later, in other code. This package
// gives every object pages of its own. The object ends at the end of its last page, and the page behind it
// stays uncommitted. Freeing the object decommits its pages. An access to an uncommitted page is a memory
// fault. The report about the fault names the object and the distance from the object to the access, and says
// where the object was allocated and freed. The method is the end-of-page allocator (Niklas Gray, "Virtual
// Memory Tricks", 2017; before that Bruce Perens, Electric Fence, 1987).
//
//   - [Allocator]: allocates values of any type, by [Make] and [MakeSlice], [Alloc] and [AllocSlice], or
//     [Allocator.Alloc].
//   - [Pool]: guards each element of a pool. It has the methods of a [bulk.Pool].
//   - [SampledPool] and [Sampler]: guard a few allocations, chosen at random, for production.
//   - [Explain] and [Describe]: return a report, a [Fault], about a memory fault or an address. [vm.Do] and
//     [vm.Watch] turn a memory fault into a panic with such a report.
//   - VAST_GUARD=1/1000 in the environment: guards one small allocation in a thousand of each heap.Heap,
//     without a change to the program.
//
// # Terminology
//
//   - block: the memory of one allocation, live until it is freed
//   - guard page: an uncommitted page before or behind a block's pages
//   - slack: the bytes of a block's pages outside the block; they hold a pattern, and freeing the block
//     checks that the pattern is unchanged
//   - quarantine: the freed blocks whose addresses no new block has, so that stale pointers to these blocks
//     do not point to new objects
//   - capacity: the largest number of live blocks
//
// # Detection
//
// A block ends at the end of its last page if its size is a multiple of its alignment and not zero. All Go
// types have such a size, except types of size zero. Other blocks have slack behind their end, at most as
// many bytes as their alignment. With Options.AtStart, a block begins at the start of its first page, an
// access before the start faults, and the bytes behind the end are slack.
//
//   - An access to the slack does not fault. A write to the slack is found by Check, or when the block is
//     freed. A read of the slack is not found.
//   - An access that misses its block by more than a page may hit another live block, and is not found.
//   - When a new block has the addresses of a freed block, an access through a stale pointer to the freed
//     block is not found.
//
// # Faults
//
// A memory fault ends a Go program. The runtime prints "unexpected fault address", the address, and the
// stacks of all goroutines. This output shows where the bad access is, but not which object was accessed. In
// a goroutine that called [runtime/debug.SetPanicOnFault], the fault is a panic instead. [vm.Watch] and
// [vm.Do] call SetPanicOnFault, and replace the runtime's panic by a panic with a [*Fault]. The setting
// applies to one goroutine, and not to the goroutines that it starts. A fault in C code always ends the
// process. A system call with a bad address does not fault: it returns EFAULT.
//
// # Where nothing faults
//
// With [vm.PagesHeap], and in builds in which [vm.HeapStandIn] returns true, such as those with the race
// detector, blocks lie on the Go heap, and no access to them faults. Wrong frees and writes to the slack are
// still found. Freed blocks are filled with the pattern, so Check and Close find later writes to them.
//
// # Cost
//
// A block costs at least a page of memory, two pages of addresses, some 400 bytes of Go heap, and on Linux
// two of the process's mappings. Linux allows 65,530 mappings by default (vm.max_map_count). The default
// capacity is 16,384 blocks, which take half of these mappings. Allocating a block costs a system call, and
// freeing it costs two on Linux. Each of these operations also records the call stack. The command
// `vast bench guard` measures these costs.
//
// # In production
//
// Guarding a few allocations, chosen at random, costs next to nothing. In many processes that run for a long
// time, sampling finds bugs that tests have missed. The method is GWP-ASan: Kostya Serebryany and others,
// "GWP-ASan: Sampling-Based Detection of Memory-Safety Bugs in Production", 2023 (arXiv:2311.09394);
// https://llvm.org/docs/GwpAsan.html. [SampledPool] applies the method to a pool. An allocator of your own
// can apply the method with a [Sampler] s and an [Allocator] g of a few blocks:
//
//	p, err := ordinary.Alloc(size)      becomes    if s.Sample() {
//	                                                   if p, err := g.Alloc(size, align); err == nil {
//	                                                       return p, nil
//	                                                   }
//	                                               }
//	                                               return ordinary.Alloc(size)
//	ordinary.Free(p)                    becomes    if g.Owns(p) { g.Free(p) } else { ordinary.Free(p) }
//
// If the environment variable VAST_GUARD is 1/n when the program starts, a heap.Heap guards one in n of its
// small allocations. An arena.Arena, a bulk.Array or a bulk.Table cannot place a single element in a guarded
// block, because its elements lie side by side. Instead, one in n calls of Release, Reset or Truncate
// decommits all whole pages of the removed elements, so that a stale access faults. The panic of [vm.Watch]
// then names the call that removed the elements. An invalid value of the variable is reported on standard
// error and ignored.
//
// A guarded object keeps its block until the object is freed. If guarded objects live as long as the program,
// they soon use the whole capacity, and later objects are not guarded.
package guard
