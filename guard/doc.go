// Package guard finds writes to freed memory, and writes past the end of an object, at the moment they
// happen.
//
// Such a write usually hits another object, and the damage is found much later, in other code. With this
// package every object has pages of its own and ends at the end of its last page. Freeing the object takes
// its pages away; the page behind it is never committed. So a bad access is a memory fault. The report names
// the object and the distance to it, and says where it was allocated and freed. The method is the end-of-page
// allocator (Niklas Gray, "Virtual Memory Tricks", 2017; before that Bruce Perens, Electric Fence, 1987). The
// package takes both precautions of Gray's text: it keeps addresses after their memory is freed, and each
// object has a guard page behind it.
//
//   - [Allocator]: allocates values of any type, by [Make] and [MakeSlice], [Alloc] and [AllocSlice], or
//     [Allocator.Alloc].
//   - [Pool]: replaces a suspected [bulk.Pool] in one line.
//   - [SampledPool] and [Sampler]: guard one insertion in a thousand, for production.
//   - [Explain] and [Describe]: return a report, the [Fault], about a memory fault or an address. [vm.Do] and
//     [vm.Watch] turn a memory fault into a panic with that report.
//   - VAST_GUARD=1/1000 in the environment: guards allocations of each heap.Heap, with no change to the
//     program.
//
// # Terminology
//
//   - block: the memory of one allocation, live until it is freed
//   - guard page: the page before and behind each block's pages, never committed
//   - slack: the bytes of a block's pages outside the block; they hold a pattern, which is compared when the
//     block is freed
//   - quarantine: the freed blocks whose addresses are not used again yet; in other allocators an old pointer
//     soon points to a new object
//   - capacity: the number of blocks that may live at once
//
// # Detection
//
// A block of size s and alignment a ends with its page if s is a multiple of a, as for all Go types.
// Otherwise fewer than a bytes of slack follow it. An access to the slack does not fault: a write there is
// found when the block is freed, or by Check; a read is not found. With Options.AtStart blocks begin with
// their page. Then an access before the start faults, and the bytes behind the end are slack. An access that
// misses by more than a page may hit another live block, and is not found. The use of a stale pointer is not
// found either, once its addresses are in use again.
//
// # Faults
//
// A memory fault ends a Go program. The runtime prints "unexpected fault address", the address, and the
// stacks of the goroutines: they say where the bad access is but not which object it hit. In a goroutine that
// called [runtime/debug.SetPanicOnFault] the fault is a panic instead. [vm.Watch] and [vm.Do] make that call
// and turn the panic into a panic with a [*Fault], which recover returns. The setting belongs to one
// goroutine; goroutines that it starts do not inherit it. In a goroutine without the setting, a fault ends
// the process with the runtime's message (GOTRACEBACK=all shows the other goroutines). A fault in C code
// always ends the process. A system call with a bad address does not fault: it returns EFAULT.
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
// two of the process's mappings. Linux allows 65,530 mappings unless vm.max_map_count is raised. So the
// default capacity is 16,384 blocks. Allocating and freeing cost a system call each, and the recording of the
// stack. The command `vast bench guard` measures these costs.
//
// # In production
//
// Guarding a few allocations, chosen at random, costs next to nothing. Over many long-running processes it
// finds bugs that tests have missed. The method is GWP-ASan: Kostya Serebryany and others, "GWP-ASan:
// Sampling-Based Detection of Memory-Safety Bugs in Production", 2023 (arXiv:2311.09394);
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
// A heap.Heap does the same while the environment variable VAST_GUARD is 1/n. A container whose elements must
// lie at base + i × size cannot move single elements elsewhere. For such containers, one in n releases of an
// arena.Arena, and one in n truncations of a bulk.Array or bulk.Table, gives all the memory back at once, so
// that a stale access faults. Regions remember the call that gave the memory back, and the panic of
// [vm.Watch] names this call. An invalid value of the variable is reported on standard error and ignored.
//
// A long-lived object keeps its slot in such an allocator. If objects live as long as the program, the first
// sampled ones stay the only ones.
package guard
