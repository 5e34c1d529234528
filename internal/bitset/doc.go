// Package bitset keeps presence bits in reserved memory, with two summary levels above them, so that long
// empty and full stretches are passed 4,096 or 262,144 bits at a time.
//
// # Terminology
//
//   - word: 64 bits, one for each slot
//   - block: 64 words, 4,096 slots; its summary says which of its words are not empty and which are full
//   - group: 64 blocks, 262,144 slots; its summary says the same of its blocks
//   - any, full: the two kinds of summary; a bit of any is set if a bit below is set, a bit of full if all
//     bits below are set
//   - usable: the slots that have memory, always whole words from slot 0 on
//
// Invariant: a word's bit in any is set exactly if the word is not zero, and its bit in full exactly if all
// bits of the word are set. The same holds for blocks.
//
// The summaries of blocks lie below the words, mostly with the first ones in the page in which the words
// begin. They grow downwards as the words grow upwards: see [vm.Seam]. The summaries of groups lie on the Go
// heap.
//
// Only growing allocates. Many goroutines may read a set while none changes it. Many goroutines may mark a
// set at once: see [Set.Mark].
package bitset
