//go:build !unix && !windows

package disk

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func openToSync(path string) (*os.File, error) { return os.Open(path) }

func rename(from, to string) error { return os.Rename(from, to) }

// syncFolder makes the names in a folder durable. It returns nil if the host of WebAssembly cannot sync
// folders. Such a host decides when names are durable.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errClose := folder.Close(); err == nil {
		err = errClose
	}
	for _, unsupported := range []error{errors.ErrUnsupported, fs.ErrInvalid, fs.ErrPermission,
		syscall.EINVAL, syscall.EISDIR} {
		if errors.Is(err, unsupported) {
			return nil
		}
	}
	return err
}
