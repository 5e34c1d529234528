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
	// Holder names the process that holds the lock by its number, program and host. It is empty if the
	// process has not written them into the lock file.
	Holder string
}

func (e *LockedError) Error() string {
	holder := e.Holder
	if holder == "" {
		holder = "another process"
	}
	return fmt.Sprintf("%s is in use by %s; one process at a time may open it", e.Dir, holder)
}

// LockFolder locks a folder until Close or the end of the process, however it ends. It does not wait: if the
// folder is locked by another process, or by another Lock of this process, it returns a [*LockedError]. The
// system locks the file "lock" in the folder. LockFolder creates the file, and Close leaves it there. A file
// that another process has left there does no harm.
//
// js and wasip1 have no locks. AIX, Solaris and illumos have no locks that end with a process and also hold
// within it. There a Lock excludes only other Locks of the same process.
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

// sign writes into the file who holds the lock.
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

// holder returns what the process that holds the lock has written. It waits a little for a process that has
// just taken the lock.
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
	// Erase the holder before unlocking: a process that the next holder refuses must not read it.
	err := file.Truncate(0)
	if failed := unlock(file); err == nil {
		err = failed
	}
	if failed := file.Close(); err == nil {
		err = failed
	}
	return err
}
