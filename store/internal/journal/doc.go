// Package journal is the write-ahead log of a store. Records become durable in the order in which they were
// appended, soon after Append.
//
// A [Journal] takes records from any goroutine. Its own goroutine, the writer, writes all pending records as
// one batch, syncs the file once, and acknowledges the records. During this time, new records collect in the
// next batch. [Read] reads a journal after its process has ended or crashed, and [Tail.Resume] continues the
// journal.
//
// # Terms
//
// A record is a kind and bytes. Its position is the number of records that the store appended before it.
//
// A segment is a file, journal-00000001 and so on. It is a sequence of sectors of 512 bytes. Integers are
// little-endian. A sector has these parts:
//
//   - 4 bytes: CRC-32C of the other 508 bytes
//   - 4 bytes: number of the segment
//   - 4 bytes: index of the sector
//   - 4 bytes: index of the first sector of its batch; all earlier sectors were synced
//   - 2 bytes: number of payload bytes in use
//   - 1 byte: flags for the end of a batch and the end of the segment
//   - 492 bytes: payload
//   - 1 byte: 255
//
// A batch is a run of whole sectors that one Sync makes durable. Its payload continues from sector to sector,
// and is padded with zeros at the end. Each record lies in one batch.
//
// Free space is sectors of zeros at the end of a file. A batch that does not fit into the free space grows
// the file. Unless this batch ends the segment, it also adds new free space: as many bytes as the batches of
// the file have, at most 128 KiB, rounded up so that the file ends at a multiple of 4 KiB. A Sync costs less
// if the file does not grow, because the file system then need not commit its own log. A batch is written
// over zeros or at the end of the file, never over another batch. So a failed write cannot damage durable
// records. A segment that has ended keeps its free space.
//
// The first batch of a segment holds its header, and the records that were carried over from the previous
// segment; see below. A record is stored as the length of its bytes (a varint), its kind, and its bytes.
//
// # What a crash leaves
//
// Disks write a sector of 512 bytes whole or not at all. So after a crash, a sector that was not synced is
// good or blank. A blank sector holds zeros, or lies beyond the end of the file. A Write that fails, or in
// which the process is killed, may end at any byte, because systems copy bytes and not sectors. It leaves the
// beginning of a sector, followed by zeros. The last byte of this sector is zero, so the sector counts as
// blank. An incomplete sector at the end of a file also counts as blank. A sector in any other state is
// damaged.
//
// A batch is torn if some of its sectors are blank. A batch is written after the Sync of the previous batch
// has succeeded. So only the last batch of the last segment can be torn. A torn batch was not acknowledged,
// and Read cuts all of it. A blank sector before a good sector of a later batch is damage, because the good
// sector says that the blank sector was synced.
//
// Read cannot notice that the last batch was overwritten with zeros or cut off: the batch then looks like
// free space or like a torn batch. Read finds other damage to the last batch. A damaged sector looks like the
// trace of a crash only if all eight bits of its last byte change.
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
// Step 3 follows step 2, so each segment with an end mark has a successor. If the last segment has an end
// mark, its successor is lost, which is damage. Step 4 follows step 3, so records in the new segment are
// acknowledged only after the old segment has its end mark. Resume is the exception; see below.
//
// A new segment whose first batch is blank or torn was left by a crash in step 2 or in Resume. No record is
// lost with it, because the old segment still holds the records that this batch was to hold. Read treats the
// new segment as absent, and a later segment with a higher number takes its place. So numbers can be missing:
// the header of a segment, and not its number, says which segment it continues.
//
// # Going on after a crash
//
// Read may read the last batch from the operating system's memory, although the batch is not on the disk: the
// process was killed before the Sync of the batch, or the Sync failed. To sync the file again does not help,
// because a Sync after a failed Sync proves nothing. The last batch proves that all earlier batches were
// synced, because it was written after their Syncs. The sectors of the earlier batches are called proven.
//
// Resume creates a new segment that continues the old segment after its last proven sector. The first batch
// of the new segment holds the records of the unproven batch again. The new segment counts only if its first
// batch is complete. So Read finds each acknowledged record at any moment. Until the first batch of the new
// segment is durable, the record is in the old segment. Later, it is in a proven sector of the old segment or
// in the new segment. If the old segment has only its first batch, nothing in it is proven. In this case, the
// new segment continues the segment before the old one, and nothing refers to the old segment.
//
// Resume does not mark the end of the old segment. If the file of the new segment is lost later, the old
// segment looks like the last segment. Therefore a store sets Options.Hold, and releases acknowledgements
// when a checkpoint that names the new segment is durable. Read does not accept a journal that ends before
// the segment that the checkpoint names.
//
// # Failures
//
// If a Write, Sync or Create of the writer fails, the journal ends. Nothing is acknowledged after the
// failure. All calls that wait, and all later calls of Append and Rotate, return the error. Read may find
// records that were not acknowledged. A store that syncs the folder itself must stop after a failed Sync,
// because the failure may concern a segment.
package journal
