package disk

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// lockName is the name of the file that LockFolder locks. A Folder refuses this name and does not list the
// file.
const lockName = "lock"

// CheckName returns an error that is fs.ErrInvalid if a Folder refuses a file name. A valid name has 1 to 255
// bytes, and no slash, backslash, colon or zero byte. It is neither "." nor "..", is not the name of a device
// on this system, and is not the name of the file that [LockFolder] locks. The argument operation is the name
// of the call, which the error contains.
func CheckName(operation, name string) error {
	if name == "." || len(name) > 255 || strings.ContainsAny(name, "/\\:\x00") || !filepath.IsLocal(name) ||
		isLock(name) {
		return &fs.PathError{Op: operation, Path: name, Err: fs.ErrInvalid}
	}
	return nil
}

// isLock reports whether a name denotes the file that LockFolder locks. It ignores case, as some file systems
// do.
func isLock(name string) bool { return strings.EqualFold(name, lockName) }
