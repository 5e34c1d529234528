package disk

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// openToSync opens a file for reading and writing, because FlushFileBuffers needs a file that is open for
// writing. If writing is not permitted, openToSync opens the file only for reading, and Sync of the file
// returns the error of FlushFileBuffers.
func openToSync(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		return os.Open(path)
	}
	return file, err
}

// rename renames a file, and returns after the new name is on the disk.
func rename(from, to string) error {
	source, err := windows.UTF16PtrFromString(from)
	if err == nil {
		var target *uint16
		if target, err = windows.UTF16PtrFromString(to); err == nil {
			err = windows.MoveFileEx(source, target,
				windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
		}
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// syncFolder does nothing: Windows documents no call that syncs a folder. NTFS and ReFS log changes of names
// in their order. MOVEFILE_WRITE_THROUGH forces a rename to the disk, and FlushFileBuffers forces the log to
// the disk with the file that it flushes. Therefore each rename, and each sync of a file, makes all earlier
// creations and removals durable. Before a store relies on a name, it always renames or syncs a file. Only
// removals after the last rename or sync may be undone when the power fails, the last removal first. No store
// is safe on FAT, because FAT has no log.
func syncFolder(string) error { return nil }
