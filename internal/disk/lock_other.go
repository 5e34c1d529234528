//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package disk

import (
	"os"
	"sync"
)

// locked holds the names of the files that this process has locked.
var locked sync.Map

// lock returns false if this process has locked the file already. It does not exclude other processes.
func lock(file *os.File) (bool, error) {
	_, loaded := locked.LoadOrStore(file.Name(), true)
	return !loaded, nil
}

func unlock(file *os.File) error {
	locked.Delete(file.Name())
	return nil
}
