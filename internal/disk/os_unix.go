//go:build unix

package disk

import "os"

// openToSync opens a file for reading. Unix systems can sync a file that is open for reading only.
func openToSync(path string) (*os.File, error) { return os.Open(path) }

func rename(from, to string) error { return os.Rename(from, to) }

// syncFolder makes the names in a folder durable.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errClose := folder.Close(); err == nil {
		err = errClose
	}
	return err
}
