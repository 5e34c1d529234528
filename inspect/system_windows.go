package inspect

import (
	"time"

	"golang.org/x/sys/windows"
)

// errTaken is the error for an address that is already in use.
const errTaken = windows.WSAEADDRINUSE

// processorTime returns the CPU time of this program, or 0 if it is unknown.
func processorTime() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0
	}
	return durationOf(kernel) + durationOf(user)
}

// durationOf converts a Windows duration, whose unit is 100 ns.
func durationOf(f windows.Filetime) time.Duration {
	return time.Duration(uint64(f.HighDateTime)<<32|uint64(f.LowDateTime)) * 100
}
