package disk

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// openToSync opens a file for reading and writing, because FlushFileBuffers needs a file that is open for
// writing. If writing is not permitted, openToSync opens the file for reading only, and Sync of the file
// fails.
func openToSync(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		return os.Open(path)
	}
	return file, err
}

// rename renames a file. It returns after the new name is on the disk.
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
// in order. Each rename with MOVEFILE_WRITE_THROUGH and each FlushFileBuffers writes the log to the disk, and
// with it all earlier creations and removals. A store renames or syncs a file before it relies on a name. A
// power failure can undo only the creations and removals after the last rename or sync, the last one first.
// No store is safe on FAT, which has no log.
func syncFolder(string) error { return nil }
