package disk

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// openToSync opens a file to read. FlushFileBuffers needs a file that is open for writing. A file that may
// only be read is opened, too; its Sync returns the system's error.
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
// the disk with the file that it flushes. So what a store syncs and renames before it relies on a name is
// durable, and with it each earlier creation and removal. Only removals with nothing synced after them may be
// undone when the power goes, from the last one backwards. FAT has no log: no store is safe on it.
func syncFolder(string) error { return nil }
