// Package journal is the write-ahead log of a store: records that are durable soon after they were appended,
// in the order in which they were appended.
//
// A [Journal] takes records from any goroutine. It has one goroutine that writes all pending records with one
// Write and one Sync, and then acknowledges them. Meanwhile the next batch collects. [Read] reads a journal
// after its process has ended or crashed, and [Tail.Resume] continues the journal.
//
// # Terms
//
// A record is a kind and bytes. Its position counts the records over the life of the store, from 0.
//
// A segment is a file, journal-00000001 and so on. It is a sequence of sectors of 512 bytes. A sector begins
// with 19 bytes: CRC-32C of the other 508 bytes, number of the segment, index of the sector, number of
// leading sectors of the segment that were synced when this one was written, number of payload bytes in use
// (16 bits), and flags (8 bits: end of a batch, end of the segment). Then come 492 bytes of payload and the
// byte 255. Integers are little-endian.
//
// A batch is a run of whole sectors that are synced at once. Its payload continues from sector to sector, and
// is padded with zeros at the end. A record never spans batches.
//
// Free space is sectors of zeros at the end of a file. A batch that does not fit into it grows the file, and
// brings free space with it: as many bytes as the file then holds, at most 128 KiB, rounded up so that the
// file ends at a multiple of 4 KiB. A Sync costs less if the file does not grow, because the file system then
// has nothing to log. A sector is written over zeros or for the first time, never over another batch, so a
// failed write cannot damage durable records. A segment that has ended keeps its free space until the segment
// is removed.
//
// The first batch of a segment is its header, and records that were carried over from the segment before; see
// below. All other batches hold records: length of the bytes as a varint, kind, bytes.
//
// # What a crash leaves
//
// Disks write a sector of 512 bytes whole or not at all. So after a crash each sector that was not synced is
// there or is blank: zeros, or beyond the end of the file. A sector that is neither good nor blank is damage,
// never the trace of a crash, with one exception: a call that fails, or in which the process is killed, may
// end anywhere, because systems copy bytes and not sectors. It leaves the beginning of a sector, and zeros,
// so the last byte of the sector is zero. Such a sector, and the last, partial sector of a file, count as
// blank.
//
// A batch is written after the Sync of the batch before it has succeeded. So only the last batch of the last
// segment can be torn. It was not acknowledged, and Read cuts all of it. A blank sector before a good one of
// a later batch is damage: the later sector says that the blank one was synced.
//
// A last batch that is damaged to zeros, or cut off, looks like a torn one or like free space. Nothing in the
// journal can tell them apart. Other damage to the last batch is found: to look like a sector that was
// written in part it must change all bits of the last byte.
//
// # The next segment
//
// Rotate ends a segment and begins the next one. The writer does this in order:
//
//  1. It writes and syncs the last records of the old segment, and acknowledges them.
//  2. It creates the new segment: header, Sync of the file, Sync of the folder. The header says how many
//     sectors of the old segment count: all so far.
//  3. It writes and syncs the end mark of the old segment: a batch without records.
//  4. It writes, syncs and acknowledges records in the new segment.
//
// The end mark is on the disk only after step 2. So a last segment with an end mark has lost its successor:
// damage. A segment without an end mark has no successor with acknowledged records, unless the journal was
// resumed in between. A new segment whose first batch is blank or torn is one that a crash in step 2 left:
// nothing in it was acknowledged. It counts as absent, and the next attempt takes the next free number. A
// successor is therefore found by the segment that its header names as the previous one, and not by its
// number.
//
// # Going on after a crash
//
// The last batch may have been read from the operating system's memory without being on the disk: the process
// was killed before the Sync of the batch, or that Sync failed. After a failed Sync a second one proves
// nothing, so syncing the old file does not help. The last batch proves that all batches before it were
// synced, because it was written after them.
//
// So Resume creates a new segment that continues the old one from its last proven sector, and writes the
// records of the unproven batch a second time, into the first batch of the new segment. A first batch is
// there as a whole or counts as absent. Hence at any moment each acknowledged record is in the segment that
// Read takes for the last one or in the proven sectors before it: in the old segment until the first batch of
// the new one is durable, and from then on in both. If a segment has only its first batch, nothing in it is
// proven. The new segment then continues the segment before it, and nothing refers to the unproven one.
//
// Nothing marks the old segment as ended. If the new one is lost later, as a file and not by a crash, the old
// one looks like the last. Therefore a store sets Options.Hold, and releases acknowledgements when a
// checkpoint is durable that names the new segment: Read does not accept a journal that ends before the
// segment that the checkpoint names.
//
// # Failures
//
// A Write, Sync or Create that fails is final. Nothing is acknowledged after it, and all calls that wait and
// all later calls return the error. Records that were not acknowledged may still be found by Read. A store
// that syncs the folder itself stops after a Sync that fails: the failure may concern a segment.
package journal
