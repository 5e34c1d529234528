//go:build unix

package inspect

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errTaken is the error for an address that is already in use.
const errTaken = syscall.EADDRINUSE

// processorTime returns the CPU time of this program, or 0 if it is unknown.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
