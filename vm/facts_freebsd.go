package vm

import (
	"math"

	"golang.org/x/sys/unix"
)

func readFacts(f *Facts) {
	// An unsigned long: four bytes on 32-bit machines, where the call for eight fails and nothing is known.
	if n, err := unix.SysctlUint64("hw.physmem"); err == nil {
		f.Memory = int(min(n, math.MaxInt))
	}
	f.AddressLimit = resourceLimit(unix.RLIMIT_AS)
	f.DataLimit = resourceLimit(unix.RLIMIT_DATA)
}

// ReadUsage asks the operating system what is taken of the limits.
func ReadUsage() Usage { return Usage{} }
