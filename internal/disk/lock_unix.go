//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock locks an open file. It returns false if the same file is locked through another open file, in this
// process or in another one. A lock of fcntl would belong to the process; this lock belongs to the open file.
func lock(file *os.File) (bool, error) {
	err := flock(file, unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

// unlock ends the lock. Closing the file is not enough: a child process that is just being started also has
// the file open, until the child executes its program.
func unlock(file *os.File) error { return flock(file, unix.LOCK_UN) }

func flock(file *os.File, operation int) error {
	connection, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := connection.Control(func(descriptor uintptr) {
		failed = unix.EINTR
		for failed == unix.EINTR {
			failed = unix.Flock(int(descriptor), operation)
		}
	}); err != nil {
		return err
	}
	return failed
}
