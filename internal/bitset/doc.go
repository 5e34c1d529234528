// Package bitset keeps presence bits in reserved memory, or on the Go heap: see [NewOnHeap]. With two levels
// of summaries, an iteration takes 4,096 or 262,144 bits in one step if all of them are clear or all are set.
//
// # Terminology
//
//   - word: 64 bits; each bit stands for one slot
//   - block: 64 words, 4,096 slots; its summary says which of its words are not empty and which are full
//   - group: 64 blocks, 262,144 slots; its summary says which of its blocks are not empty and which are full
//   - any, full: the two masks of a summary, with a bit for each word of the block, or for each block of the
//     group
//   - usable slots: the slots that have memory; they begin at slot 0 and fill whole words
//
// Invariant: a bit of the mask any is set exactly if its word or block has a set slot. A bit of the mask full
// is set exactly if all slots of its word or block are set. After slots were toggled by several goroutines,
// the summaries may be loose: see [Set.TurnOn].
//
// The words grow upwards in memory. The summaries of blocks lie below the words and grow downwards: see
// [vm.Seam]. The first summaries usually share a page with the first words. The summaries of groups lie on
// the Go heap.
//
// Growing a set allocates memory; operations on slots do not. Many goroutines may read a set while no
// goroutine changes it. Many goroutines may mark slots of a set at the same time: see [Set.Mark]. Many
// goroutines may toggle slots at the same time, also while others search with a [Filter]: see [Set.TurnOn].
package bitset
