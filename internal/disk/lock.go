package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Lock is the lock of a folder: see [LockFolder].
type Lock struct {
	file *os.File // nil after Close
}

// LockedError is the error of [LockFolder] if another Lock holds the folder.
type LockedError struct {
	Dir string
	// Holder is the process ID, program and host of the process that holds the lock. It is empty if
	// LockFolder could not read them from the lock file.
	Holder string
}

func (e *LockedError) Error() string {
	holder := e.Holder
	if holder == "" {
		holder = "another process"
	}
	return fmt.Sprintf("%s is in use by %s; one process at a time may open it", e.Dir, holder)
}

// LockFolder locks a folder until Close is called, or the process ends or is killed. LockFolder does not wait
// for another holder to unlock the folder: it returns a [*LockedError] if another process, or another Lock of
// this process, holds the folder.
//
// LockFolder creates and locks the file "lock" in the folder. Close leaves the file there, and a file that
// another process has left does not prevent the lock.
//
// On js, wasip1, AIX, Solaris and illumos, a Lock does not exclude other processes. It excludes only other
// Locks of the same process.
func LockFolder(dir string) (*Lock, error) {
	dir, err := absolute(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, lockName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be locked: give this process the right to write there: %w", dir,
			err)
	}
	locked, err := lock(file)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("%s cannot be locked: %w", dir, err)
	}
	if !locked {
		_ = file.Close()
		return nil, &LockedError{Dir: dir, Holder: holder(path)}
	}
	l := &Lock{file}
	if err := l.sign(); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("%s cannot be locked: writing the file %q: %w", dir, lockName, err)
	}
	return l, nil
}

func (l *Lock) sign() error {
	program := "unknown"
	if path, err := os.Executable(); err == nil {
		program = filepath.Base(path)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err = l.file.WriteAt(fmt.Appendf(nil, "process %d (%s) on host %s\n", os.Getpid(), program, host), 0)
	return err
}

// holder returns the line of the lock file. It waits up to a tenth of a second, because the process that
// holds the lock may have just taken the lock and not written the line yet.
func holder(path string) string {
	for range 20 {
		text, err := os.ReadFile(path)
		if line, _, ended := strings.Cut(string(text), "\n"); ended && err == nil {
			return line
		}
		time.Sleep(5 * time.Millisecond)
	}
	return ""
}

// Close unlocks the folder. A second Close does nothing.
func (l *Lock) Close() error {
	file := l.file
	if file == nil {
		return nil
	}
	l.file = nil
	// Erase the line before unlocking, so that no process reads it as the line of the next holder.
	err := file.Truncate(0)
	if e := unlock(file); err == nil {
		err = e
	}
	if e := file.Close(); err == nil {
		err = e
	}
	return err
}
