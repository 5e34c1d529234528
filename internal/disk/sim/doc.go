// Package sim is a simulated disk for tests: a [disk.Folder] that loses, tears and damages data that was not
// synced, as a disk may when the power fails. Only tests import package sim.
//
// A [Disk] is one folder with its files. The program under test reaches the disk through [Disk.Folder].
// [Disk.Kill] ends the program: files and names stay as the program left them. [Disk.PowerCut] also ends the
// program, and [Disk.Restart] then loses part of the data that was not synced:
//
//   - Each sector of 512 bytes that was not synced survives or is lost, independently of the other sectors. A
//     surviving sector holds the bytes that one of the calls of Write or WriteAt since the last Sync left in
//     it. A lost sector holds its bytes of the last Sync, or zeros if it is new.
//   - A file ends at one of three places: at the end of its last surviving sector, at its end at the last
//     Sync, or at its end before the power cut.
//   - Of the creations, renames and removals since the last Sync of the folder, the first few or an arbitrary
//     subset survives. Each of them survives whole or not at all. A file whose creation did not survive is
//     lost with its bytes.
//
// [Disk.KillAt] and [Disk.PowerCutAt] end the program in the middle of a call, which may do part of its work.
// [Disk.SetFaults], [Disk.FailAt], [Disk.SetCapacity] and [Disk.RefuseOpen] make calls fail. [Disk.FlipBit],
// [Disk.Put] and [Disk.Lose] damage files that are durable. [Disk.Copy] copies a disk without copying bytes,
// so a test can cut the power at each call of one run. [Break] returns a folder that makes mistakes on
// purpose. A run with this folder shows whether a test finds the mistakes.
//
// The argument of [New] is the seed of all random decisions of a Disk. With the same seed, the same calls in
// the same order have the same results. The Go scheduler determines the order of calls from several
// goroutines.
package sim
