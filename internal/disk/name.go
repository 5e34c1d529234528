package disk

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// lockName is the name of the file that LockFolder locks. It belongs to this package, so a Folder does not
// show it.
const lockName = "lock"

// CheckName returns an error that is fs.ErrInvalid if a Folder refuses files of a name: the name is empty,
// has more than 255 bytes, holds a slash, a backslash, a colon or a zero byte, means a folder or a device, or
// is that of the file of [LockFolder]. operation is the name of the caller, for the error.
func CheckName(operation, name string) error {
	if name == "." || len(name) > 255 || strings.ContainsAny(name, "/\\:\x00") || !filepath.IsLocal(name) ||
		isLock(name) {
		return &fs.PathError{Op: operation, Path: name, Err: fs.ErrInvalid}
	}
	return nil
}

// isLock reports whether a name is that of the file that LockFolder locks, also on a system that ignores
// case.
func isLock(name string) bool { return strings.EqualFold(name, lockName) }
