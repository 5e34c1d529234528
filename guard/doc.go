// Package guard finds writes to memory that was freed, and writes past the end of an object, at the moment when they
// happen.
//
// Such a write usually hits another object, which is then found broken much later and far away. Here every object has
// pages of its own and ends where its last page ends. Freeing it takes the pages away; the page behind it was never there.
// So a bad access is a memory fault, and the report says which object it was, by how many bytes it was missed, and where it
// was allocated and freed. The method is the end-of-page allocator (Niklas Gray, "Virtual Memory Tricks", 2017; before
// that Bruce Perens, Electric Fence, 1987), with both of the precautions that the text names: addresses are kept after
// their memory is freed, and a page is kept behind each object.
//
//   - [Allocator]: any values, by [Make] and [MakeSlice], [Alloc] and [AllocSlice], or [Allocator.Alloc].
//   - [Pool]: takes the place of a [bulk.Pool] that is under suspicion, in one line.
//   - [SampledPool] and [Sampler]: guard one insertion in a thousand, for production.
//   - [Do], [Watch], [Explain], [Describe]: make a report, the [Fault], of a memory fault.
//   - VAST_GUARD=1/1000 in the environment: guards allocations of each heap.Heap, with no change to the program.
//
// # Terminology
//
//   - block: what one allocation gives, live until it is freed
//   - guard page: the page before and behind each block's pages, never committed
//   - slack: the bytes of a block's pages that do not belong to it: they hold a pattern, which is compared when the block is
//     freed
//   - quarantine: the freed blocks whose addresses are not used again yet; in all other allocators an old pointer soon
//     points to something new
//   - capacity: the number of blocks that may live at once
//
// # What is seen
//
// A block of size s and alignment a ends with its page when s is a multiple of a, as with all Go types. Otherwise less than
// a bytes lie between, and belong to the slack. An access to the slack does not fault: a write there is found when the block
// is freed, or by Check, a read is not. With Options.AtStart blocks begin with their page: then what is before the start
// faults, and what is behind the end belongs to the slack. An access that misses by more than a page may hit another live
// block, and is not seen then; nor is the use of a pointer to a block so old that its addresses were used again.
//
// # Faults
//
// A memory fault ends a Go program: the runtime prints "unexpected fault address", the address, and the stacks of the
// goroutines, which say where the bad access is but not what it hit. In a goroutine that called [debug.SetPanicOnFault] it
// is a panic instead; [Watch] and [Do] make that call and turn such a panic into one with a [*Fault], which recover gets
// like any other. The setting belongs to one goroutine and is not passed on to those that it starts. A goroutine without it
// ends the process by the runtime's message all the same (GOTRACEBACK=all shows the other goroutines), and so do faults in
// C code. A system call that is given a bad address does not fault: it returns EFAULT.
//
// # Where nothing faults
//
// Under the race detector, with [vm.PagesHeap] and on systems without virtual memory blocks lie on the Go heap (see
// [vm.HeapStandIn]), and no access to them faults. Wrong frees are still seen, and so are writes to the slack. Freed blocks
// are filled with the pattern, so that Check and Close find what was written to them afterwards.
//
// # What it costs
//
// A block costs at least a page of memory, two pages of addresses, some 400 bytes of Go heap, and on Linux two of the
// process's mappings, of which there are 65,530 unless vm.max_map_count is raised: hence the capacity of 16,384 blocks
// unless Options say otherwise. Allocating and freeing cost a system call each, and the recording of the stack. The command
// `vast bench guard` measures it.
//
// # In production
//
// Guarding a few allocations, chosen at random, costs next to nothing, and many processes that run for long find even so
// what tests have missed. The method is GWP-ASan: Kostya Serebryany and others, "GWP-ASan: Sampling-Based Detection of
// Memory-Safety Bugs in Production", 2023 (arXiv:2311.09394); https://llvm.org/docs/GwpAsan.html. [SampledPool] does it for
// a pool. For an allocator of the program's own:
//
//	p, err := ordinary.Alloc(size)      becomes    if s.Sample() {
//	                                                   if p, err := g.Alloc(size, align); err == nil {
//	                                                       return p, nil
//	                                                   }
//	                                               }
//	                                               return ordinary.Alloc(size)
//	ordinary.Free(p)                    becomes    if g.Owns(p) { g.Free(p) } else { ordinary.Free(p) }
//
// with a [Sampler] s and an [Allocator] g of a few blocks. A heap.Heap does just that while the environment variable VAST_GUARD is
// 1/n. Containers whose elements must lie at base + i × size cannot put one elsewhere: of those, one in n releases of an
// arena.Arena and truncations of a bulk.Array or bulk.Table gives all the memory back at once, so that a use of what was given up
// faults, and regions remember where that was done; [vm.Watch] tells. A value that is not understood is said on standard error
// and ignored.
//
// What lives long keeps its place in such an allocator: with objects that live as long as the program the first ones to be
// picked stay the only ones.
package guard
