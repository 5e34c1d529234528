package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncFile makes the bytes of a file and its size durable. Unlike fsync, it does not write the time of the
// last change, which would need a second write.
func syncFile(file *os.File) error {
	connection, err := file.SyscallConn()
	if err != nil {
		return err
	}
	syncErr := os.ErrClosed // Control does not call its argument for a closed file
	_ = connection.Control(func(descriptor uintptr) {
		syncErr = unix.EINTR
		for syncErr == unix.EINTR {
			syncErr = unix.Fdatasync(int(descriptor))
		}
	})
	if syncErr != nil {
		return &os.PathError{Op: "fdatasync", Path: file.Name(), Err: syncErr}
	}
	return nil
}
