// Package bulk holds containers for millions of elements of one type, outside the garbage collector's heap.
//
// [Array] grows at its end and never moves. [Pool] has holes: an element keeps its place while it lives, a
// [Handle] refers to the element and detects its removal, and new elements fill the holes. [Dense] has no
// holes: its elements lie side by side. A removal moves the last element into the gap, and handles find the
// moved element. All three reserve addresses for their whole capacity when they are made, and commit memory
// as they grow. Because of this, growing copies no element, does not stall, and leaves pointers valid.
//
// [Table] stores each field of its rows as a column, or groups rows into blocks, for work that touches few
// fields of many rows. [Transpose] makes such columns from the elements of a pool or a slice for the duration
// of a calculation.
//
// [Lists] holds arrays of arrays: many lists that grow on their own. The owner of a list refers to it by a
// [List] of 8 bytes.
//
// [HashIndex] and [OrderedIndex] find elements by key. [Indexed] keeps the indices of a Pool up to date.
//
// [SharedArray] and [SharedPool] are an array and a pool that many goroutines may change and read at the same
// time.
// [SharedTable] has entries that writers may replace while other goroutines read them.
//
// # Terminology
//
//   - element: a value of the container's type T
//   - slot: the place for one element. A slot's number is its index in memory (in a Dense: in the table
//     between handles and elements)
//   - hole: a slot without a live element
//   - presence bit: one bit for each slot, set while the slot has a live element
//   - generation: a count that grows whenever a slot is taken; a handle is valid while its slot has a live
//     element and the generation that the handle was made with
//   - retired: a slot whose generation has reached 16,777,215, the largest that a handle can hold; after its
//     element is removed, the slot stays a hole forever
//   - capacity: the number of elements that addresses are reserved for
//   - room: the number of elements that memory is committed for
//   - run: a maximal range of consecutive slots with live elements
//
// # Names
//
// Methods of the same name do the same in every container. Len returns the number of elements, and All yields
// them. Append and Insert add one element and panic if there is no room; AppendN and AppendSlice add several
// and return an error. Remove removes one element, Clear all of them. Grow makes room ahead; Trim and
// Truncate give memory back. Reserved, Committed and Resident count bytes. Close gives back all memory and
// addresses.
//
// # Element types
//
// The collector does not look at the elements, so they must not hold Go pointers: strings, slices, maps,
// channels, functions, interfaces, pointers. The New functions panic with the path of the first field that
// holds a Go pointer. A uintptr is fine, and so is a Handle.
//
// # Lifetimes
//
// An element lives until it is removed or truncated, or its container is cleared or closed. A pointer into a
// container does not keep the container open. Close every container: a container that is dropped without
// Close keeps its memory, and [vm.OnLeak] reports it.
//
// # Running out
//
// Grow(n) makes the next n insertions unable to fail, or returns an [*vm.Error]. Append and Insert panic with
// this error if there is no room and none can be made. Room ends at the capacity, at Options.MaxBytes, at a
// [vm.Limit], or at a limit of the operating system. A call that fails changes no element, and the container
// continues to work when room returns.
//
// # Waste
//
// "Virtual Arrays for Virtual Worlds" (3dverse) bounds the waste of an array in reserved addresses: it is at
// most one growth step less one element. Here committed memory (which may be touched) and resident memory
// (which was touched) have a bound each, in bytes:
//
//	committed − elements ≤ step − element    Pool, Dense
//	committed − elements ≤ step              Array, which keeps memory for one more element in reserve
//	resident  − elements ≤ page − element
//
// The step is Options.Step rounded up to whole pages, by default an eighth of the committed memory and at
// least 64 KiB. If the element's size does not divide the page, the memory ends with a part of an element,
// and the waste is larger by less than an element. Once the elements fill a huge page, the page in these
// bounds is a huge page, and the step is rounded up to whole huge pages. With [vm.PagesSmall], the page in
// these bounds is always a small page.
//
// A Pool also takes 3½ bits for each slot, for presence bits and common generations, and 4 bytes for each
// slot that was taken again while its neighbours lived. A Dense also takes a little over 12 bytes for each
// slot.
package bulk
