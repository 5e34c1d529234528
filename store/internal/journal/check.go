package journal

import "github.com/vastgo/vast/internal/disk"

// Check reads all sectors of a segment, including the sectors behind the last whole batch. Check returns a
// *Damage if a sector is in a state that no crash can leave. Check does not find missing segments: see
// [Read]. Complexity: reads the file twice.
func Check(f disk.Folder, store [16]byte, segment uint32) error {
	in, err := open(f, segment)
	if err != nil {
		return err
	}
	defer in.close()
	found, err := in.scanLast()
	if err != nil || found.sectors == 0 {
		return err
	}
	t := &Tail{folder: f, store: store}
	_, err = t.check(in, &part{segment: segment, sectors: found.sectors})
	return err
}
