//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package disk

import (
	"os"
	"sync"
)

// locked holds the names of the files that this process has locked.
var locked sync.Map

// lock locks a file for this process.
func lock(file *os.File) (bool, error) {
	_, before := locked.LoadOrStore(file.Name(), true)
	return !before, nil
}

func unlock(file *os.File) error {
	locked.Delete(file.Name())
	return nil
}
