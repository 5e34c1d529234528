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
	failed := os.ErrClosed // Control does not call its argument for a closed file
	_ = connection.Control(func(descriptor uintptr) {
		failed = unix.EINTR
		for failed == unix.EINTR {
			failed = unix.Fdatasync(int(descriptor))
		}
	})
	if failed != nil {
		return &os.PathError{Op: "fdatasync", Path: file.Name(), Err: failed}
	}
	return nil
}
