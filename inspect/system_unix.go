//go:build unix

package inspect

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errTaken is the error of listening at an address that another program uses.
const errTaken = syscall.EADDRINUSE

// processorTime returns the processor time that this program has used.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
