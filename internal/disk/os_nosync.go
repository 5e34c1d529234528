//go:build !unix && !windows

package disk

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openToSync opens a file to read.
func openToSync(path string) (*os.File, error) { return os.Open(path) }

func rename(from, to string) error { return os.Rename(from, to) }

// syncFolder makes the names in a folder durable if the host of the program can sync folders. A host of
// WebAssembly may have no sync call, or one for files only. Then syncFolder returns nil, and the host decides
// when names are durable.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = folder.Sync()
	if closed := folder.Close(); err == nil {
		err = closed
	}
	for _, missing := range []error{errors.ErrUnsupported, fs.ErrInvalid, fs.ErrPermission, syscall.EINVAL,
		syscall.EISDIR} {
		if errors.Is(err, missing) {
			return nil
		}
	}
	return err
}
