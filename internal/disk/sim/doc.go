// Package sim is a simulated disk for tests: a [disk.Folder] that loses, tears and damages data that was not
// synced, as a disk may when the power fails. Only tests import package sim.
//
// A [Disk] is one folder with its files. The program under test reaches the disk through [Disk.Folder].
// [Disk.Kill] ends the program: files and names stay as the program left them. [Disk.PowerCut] also ends the
// program, and [Disk.Restart] then loses part of the data that was not synced:
//
//   - Each sector of 512 bytes that was not synced survives or is lost, independently of the other sectors. A
//     surviving sector is whole: it is as any one of the calls of Write or WriteAt since the last Sync left
//     it. A lost sector is as it was at the last Sync, or zero if it is new.
//   - A file ends behind its last surviving sector, or where it ended at its last Sync, or where the
//     program's last Write ended.
//   - Either the first few creations, renames and removals since the last Sync of the folder survive, or an
//     arbitrary subset. Each of these changes survives whole or not at all. The bytes of a file whose
//     creation did not survive are lost.
//
// [Disk.KillAt] and [Disk.PowerCutAt] end the program in the middle of a call. This call may do part of its
// work. [Disk.SetFaults], [Disk.FailAt] and [Disk.SetCapacity] make calls fail. [Disk.FlipBit], [Disk.Put]
// and [Disk.Lose] damage files at rest. [Disk.Copy] copies a disk without copying bytes, so a test can cut
// the power at each call of one run. [Break] returns a folder that makes mistakes on purpose. A run with this
// folder shows whether a test finds the mistakes.
//
// The argument of [New] is the seed of all random decisions of a Disk. The same seed and the same calls in
// the same order have the same results. The Go scheduler determines the order of calls from several
// goroutines.
package sim
