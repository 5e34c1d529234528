//go:build linux || darwin || freebsd

package vm

import (
	"math"

	"golang.org/x/sys/unix"
)

// resourceLimit returns a limit of the process in bytes, or 0 where there is none.
func resourceLimit(which int) int {
	var l unix.Rlimit
	if unix.Getrlimit(which, &l) != nil || l.Cur >= math.MaxInt {
		return 0
	}
	return int(l.Cur)
}
