// Package bulk holds containers for millions of elements of one type, outside the garbage collector's heap.
//
// [Array] grows at its end and never moves. [Pool] has holes: an element keeps its place while it lives, and
// new elements fill the holes. A [Handle] refers to an element and detects its removal. [Dense] has no holes:
// its elements lie side by side. A removal moves the last element into the gap, and handles find the moved
// element. These three containers reserve addresses for their whole capacity when they are made, and commit
// memory as they grow. Therefore growth copies no element, does not stall, and leaves pointers valid.
//
// [Table] stores each field of its rows as a column, or groups rows into blocks, for work that touches few
// fields of many rows. [Transpose] copies fields of a pool or a slice into columns for the duration of a
// calculation.
//
// [Lists] holds arrays of arrays: many lists that grow on their own. The owner of a list refers to it by a
// [List] of 8 bytes.
//
// [HashIndex] and [OrderedIndex] find elements by key. [Indexed] keeps the indices of a Pool up to date.
//
// [SharedArray] and [SharedPool] are an array and a pool that many goroutines may change and read at the same
// time. [SharedTable] has entries that writers may replace while other goroutines read them.
//
// # Terminology
//
//   - element: a value of the container's type T
//   - slot: the numbered place for one element. In a Dense: an entry of the table between handles and
//     elements
//   - hole: a slot without a live element
//   - presence bit: one bit for each slot, set while the slot has a live element
//   - generation: a count of each slot that grows when the slot is taken. A handle stores it. The handle is
//     stale if the slot is a hole or has another generation
//   - retired: a slot whose generation has reached 16,777,215, the largest that a handle can hold; after its
//     element is removed, the slot stays a hole forever
//   - capacity: the number of elements for which addresses are reserved
//   - room: the number of elements for which memory is committed
//   - run: a maximal range of consecutive slots with live elements
//
// # Names
//
// Methods of the same name do the same in every container. Len returns the number of elements, and All yields
// them. Append and Insert add one element and panic if they cannot make room for it; AppendN and AppendSlice
// add several elements and return an error. Remove removes one element; Clear removes all elements. Truncate
// keeps the first elements. Grow makes room for later insertions; Trim gives memory back. Reserved, Committed
// and Resident count bytes. Close gives back all memory and addresses.
//
// # Element types
//
// The garbage collector does not scan the elements, so they must not hold Go pointers: strings, slices, maps,
// channels, functions, interfaces, pointers. The New functions panic with the path of the first field that
// holds a Go pointer. A uintptr and a Handle are allowed.
//
// # Lifetimes
//
// An element lives until it is removed or truncated, or its container is cleared or closed. A pointer into a
// container does not keep the container open. Close every container: a container that is dropped without
// Close keeps its memory, and [vm.OnLeak] reports it.
//
// # Running out
//
// If Grow(n) succeeds, the next n insertions cannot fail. Otherwise Grow returns an [*vm.Error]. Append and
// Insert panic with an [*vm.Error] if they cannot make room. Growth ends at the capacity, at
// Options.MaxBytes, at a [vm.Limit], or at a limit of the operating system. A call that fails changes no
// element, and the container continues to work.
//
// # Waste
//
// Committed memory is ready for use; resident memory has been used. Unused memory has these bounds, in bytes
// (compare "Virtual Arrays for Virtual Worlds", 3dverse):
//
//	committed − elements ≤ step − element    Pool, Dense
//	committed − elements ≤ step              Array, which keeps memory for one more element in reserve
//	resident  − elements ≤ page − element
//
// The step is Options.Step rounded up to whole pages, by default an eighth of the committed memory and at
// least 64 KiB. If the page size is not a multiple of the element size, the waste is larger by less than an
// element. Once the elements fill a huge page, the page in these bounds is a huge page, and the step is
// rounded up to whole huge pages. With [vm.PagesSmall], pages are always small.
//
// A Pool also takes 3½ bits for each slot. It commits 4 more bytes for each slot, and touches them mainly for
// slots that were taken again while neighbouring slots were live. A Dense also takes a little over 12 bytes
// for each slot.
package bulk
