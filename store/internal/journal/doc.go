// Package journal is the write-ahead log of a store: records that are durable soon after they were appended,
// in the order in which they were appended.
//
// A [Journal] takes records from any goroutine. It has one goroutine that writes all pending records as one
// batch with one Sync, and then acknowledges these records. Meanwhile, new records collect in the next batch.
// [Read] reads a journal after its process has ended or crashed, and [Tail.Resume] continues the journal.
//
// # Terms
//
// A record is a kind and bytes. Its position is the number of records that the store appended before it.
//
// A segment is a file, journal-00000001 and so on. It is a sequence of sectors of 512 bytes. A sector begins
// with 19 bytes: CRC-32C of the other 508 bytes, number of the segment, index of the sector, number of
// leading sectors of the segment that were synced when this sector was written, number of payload bytes in
// use (16 bits), and flags (8 bits: end of a batch, end of the segment). Then come 492 bytes of payload and
// the byte 255. Integers are little-endian.
//
// A batch is a run of whole sectors that one Sync makes durable. Its payload continues from sector to sector,
// and is padded with zeros at the end. Each record lies in one batch.
//
// Free space is sectors of zeros at the end of a file. A batch that does not fit into the free space grows
// the file, and adds new free space: as many bytes as the batches of the file have, at most 128 KiB, rounded
// up so that the file ends at a multiple of 4 KiB. A Sync costs less if the file does not grow, because the
// file system then has nothing to log. A batch is written over zeros or at the end of the file, never over
// another batch. So a failed write cannot damage durable records. A segment that has ended keeps its free
// space until the segment is removed.
//
// The first batch of a segment holds its header, and the records that were carried over from the previous
// segment; see below. A record is stored as the length of its bytes (a varint), its kind, and its bytes.
//
// # What a crash leaves
//
// Disks write a sector of 512 bytes whole or not at all. So after a crash, a sector that was not synced is
// either good or blank. A blank sector holds zeros, or lies beyond the end of the file. Any other sector is
// damage that no crash leaves, with one exception: a call that fails, or in which the process is killed, may
// end at any byte, because systems copy bytes and not sectors. Such a call leaves the beginning of a sector,
// followed by zeros. The last byte of this sector is zero, so the sector counts as blank. The last sector of
// a file also counts as blank if it is not complete.
//
// A batch is written after the Sync of the previous batch has succeeded. So only the last batch of the last
// segment can be torn. A torn batch was not acknowledged, and Read cuts all of it. A blank sector before a
// good sector of a later batch is damage: the good sector says that the blank sector was synced.
//
// If damage turns the last batch into zeros, or cuts it off, the journal cannot distinguish the last batch
// from a torn batch or from free space. Read finds other damage to the last batch. A damaged sector looks
// like the trace of a crash only if its last byte becomes zero, which means that all eight bits of this byte
// change.
//
// # The next segment
//
// Rotate ends a segment and begins the next one. The writer takes these steps:
//
//  1. It writes and syncs the last records of the old segment, and acknowledges them.
//  2. It creates the new segment: header, Sync of the file, Sync of the folder. The header says how many
//     sectors of the old segment count: all sectors so far.
//  3. It writes and syncs the end mark of the old segment: a batch without records.
//  4. It writes, syncs and acknowledges records in the new segment.
//
// The end mark is on the disk only after step 2. So if the last segment has an end mark, its successor is
// lost, which is damage. A segment without an end mark has a successor with acknowledged records only if the
// journal was resumed in between. If the first batch of a new segment is blank or torn, a crash in step 2 has
// left the segment, and none of its records was acknowledged. Such a segment counts as absent, and the next
// segment gets a higher number. The header of a segment, and not its number, says which segment it continues.
//
// # Going on after a crash
//
// Read may read the last batch from the operating system's memory, although the batch is not on the disk: the
// process was killed before the Sync of the batch, or that Sync failed. After a failed Sync, a second Sync
// proves nothing, so syncing the old file does not help. The last batch proves that all earlier batches were
// synced, because it was written after their Syncs. The sectors of the earlier batches are called proven.
//
// So Resume creates a new segment that continues the old segment after its last proven sector. Resume writes
// the records of the unproven batch a second time, into the first batch of the new segment. The new segment
// counts only if its first batch is complete. So Read finds each acknowledged record at any moment: in the
// old segment until the first batch of the new segment is durable, and from then on in the proven sectors of
// the old segment or in the new segment. If the old segment has only its first batch, nothing in it is
// proven. The new segment then continues the segment before the old segment, and nothing refers to the old
// segment.
//
// Resume does not mark the end of the old segment. If the file of the new segment is lost later, the old
// segment looks like the last segment. Therefore a store sets Options.Hold, and releases acknowledgements
// when a checkpoint that names the new segment is durable. Read does not accept a journal that ends before
// the segment that the checkpoint names.
//
// # Failures
//
// A Write, Sync or Create that fails in the writer ends the journal. Nothing is acknowledged after the
// failure. All calls that wait, and all later calls of Append and Rotate, return the error. Read may still
// find records that were not acknowledged. A store that syncs the folder itself must stop after a failed
// Sync, because the failure may concern a segment.
package journal
