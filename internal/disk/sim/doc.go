// Package sim is a simulated disk for tests: a [disk.Folder] that loses, tears and damages what was not
// synced, as a disk may when the power goes. Only tests import it.
//
// A [Disk] is one folder with its files. The program under test reaches it through [Disk.Folder]. [Disk.Kill]
// ends the program: files and names stay as it left them. [Disk.PowerCut] ends it, too, and [Disk.Restart]
// then loses part of what was not synced:
//
//   - Each sector of 512 bytes that was not synced survives or not, whatever the sectors before it do. A
//     sector survives whole, as any one of the calls of Write or WriteAt since the last Sync left it, not
//     necessarily the last one. Sectors that did not survive are as they were at the last Sync, or zero if
//     they are new.
//   - A file ends behind its last surviving sector, or where it ended at its last Sync, or where the
//     program's last Write ended.
//   - Either the first few creations, renames and removals since the last Sync of the folder survive, or an
//     arbitrary subset. Each survives whole or not at all. The bytes of a file whose creation did not survive
//     are gone.
//
// [Disk.KillAt] and [Disk.PowerCutAt] do the same in the middle of a call, whose work may be done in part.
// Calls fail by [Disk.SetFaults], [Disk.FailAt] and [Disk.SetCapacity]. [Disk.FlipBit], [Disk.Put] and
// [Disk.Lose] damage files at rest. [Disk.Copy] copies a disk without copying bytes, so a test can cut the
// power at each call of one run. [Break] is a folder that makes a mistake on purpose, for a test of the test.
//
// A Disk decides by the seed that [New] got. The same calls in the same order have the same results. Calls of
// several goroutines have the order that the Go scheduler gives them.
package sim
