package disk

import (
	"os"

	"golang.org/x/sys/windows"
)

// lock locks a byte of an open file. It returns false if another handle holds the lock, in this process or in
// another one.
func lock(file *os.File) (bool, error) {
	err := control(file, func(handle windows.Handle) error {
		const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
		return windows.LockFileEx(handle, flags, 0, 1, 0, lockedByte())
	})
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		return false, nil
	}
	return err == nil, err
}

// unlock ends the lock. Closing the file is not enough: Windows may end the lock some time after the close.
func unlock(file *os.File) error {
	return control(file, func(handle windows.Handle) error {
		return windows.UnlockFileEx(handle, 0, 1, 0, lockedByte())
	})
}

// lockedByte returns the offset of the byte to lock. The byte lies far beyond the text of the file, because
// other handles can neither read nor write a locked byte.
func lockedByte() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }

func control(file *os.File, call func(windows.Handle) error) error {
	connection, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var callErr error
	err = connection.Control(func(handle uintptr) { callErr = call(windows.Handle(handle)) })
	if err != nil {
		return err
	}
	return callErr
}
