// Package bulk holds containers for millions of elements of one type, outside the garbage collector's heap.
//
// [Array] grows at its end and never moves. [Pool] has holes: its elements keep their place while they live, are
// referred to by a [Handle] that knows when they are gone, and new ones fill the holes. [Dense] has none: its elements lie
// side by side and move when one is removed, and handles find them. All reserve addresses for their whole capacity when
// made and commit memory as they grow, so that growing neither copies nor stalls, leaves pointers good, and gives the
// collector nothing to scan.
//
// [Table] has rows whose fields are columns of their own, or lie together in blocks, for work that touches few fields of
// many rows; [Transpose] makes such columns of a pool's or a slice's elements for the moment of a calculation.
//
// [Lists] holds arrays of arrays: many lists that grow on their own, each referred to by a [List] of 8 bytes in its owner.
//
// [HashIndex] and [OrderedIndex] find subsets of such data by key, and [Indexed] keeps them true for a Pool.
//
// [SharedArray] and [SharedPool] are an array and a pool that many goroutines change and read at once; [SharedTable] has
// entries that writers replace while readers look at them.
//
// # Terminology
//
//   - element: a value of the container's type T
//   - slot: the place for one element; its number is its index in memory (in a Dense: the entry for it in the table
//     between handles and elements)
//   - hole: a slot without a live element
//   - presence bit: one bit a slot, set while its element lives
//   - generation: a count that grows whenever a slot is taken; a handle is good while its slot has the one it was made with
//   - retired: a slot whose count has come to 16,777,215, the last one that a handle can hold; it stays a hole for good
//   - capacity: the number of elements that addresses are reserved for
//   - room: the number of elements that memory is committed for
//   - run: a maximal range of consecutive slots with live elements
//
// # Element types
//
// The collector does not look at the elements, so they must not hold Go pointers: strings, slices, maps, channels,
// functions, interfaces, pointers. The New functions panic with the path of the first such field. A uintptr is fine, and
// so is a Handle.
//
// # Lifetimes
//
// Nothing is freed before it is removed, truncated or closed, and nothing is kept after: a pointer into a container does
// not keep the container open. Close every container that was made; one that is dropped instead keeps its memory, and
// [vm.OnLeak] tells of it.
//
// # Running out
//
// Grow(n) makes the next n insertions unable to fail. The short forms, Append and Insert, panic with the same
// [*vm.Error] where there is no room and none can be made: the capacity, Options.MaxBytes, a [vm.Limit], or a limit of
// the operating system. In either case nothing has changed, and the container goes on working when room returns.
//
// # Waste
//
// "Virtual Arrays for Virtual Worlds" (3dverse) gives the most that such an array wastes: growth step − element. Here
// the operating system counts memory twice, and so does the formula:
//
//	committed − elements ≤ step              memory that may be touched; in a Pool or Dense step − element
//	resident  − elements ≤ page − element    memory that was touched
//
// The step is Options.Step rounded up to whole pages, by default an eighth of what is committed and at least 64 KiB. (An
// Array keeps memory for one more element in hand.) Where the element's size does not divide the page, part of an element
// is cut off at the end, and less than an element comes on top. From the first huge page on the system's huge pages count
// for pages (with [vm.PagesSmall] they do not), and the step ends at the next huge page. A Pool has besides 3½ bits a
// slot for presence and what generations have in common, and 4 bytes for each slot that was taken again while its
// neighbours lived; a Dense has a little over 12 bytes a slot.
package bulk
