//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock locks an open file. It returns false if another open file holds the lock, in this process or in
// another one. It uses flock, because a lock of fcntl does not exclude other open files of the same process.
func lock(file *os.File) (bool, error) {
	err := flock(file, unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

// unlock ends the lock. Closing the file is not enough: between fork and exec, a new child process also has
// the file open.
func unlock(file *os.File) error { return flock(file, unix.LOCK_UN) }

func flock(file *os.File, operation int) error {
	connection, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	if err := connection.Control(func(descriptor uintptr) {
		result = unix.EINTR
		for result == unix.EINTR {
			result = unix.Flock(int(descriptor), operation)
		}
	}); err != nil {
		return err
	}
	return result
}
