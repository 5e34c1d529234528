package inspect

import (
	"time"

	"golang.org/x/sys/windows"
)

// errTaken is the error of listening at an address that another program uses.
const errTaken = windows.WSAEADDRINUSE

// processorTime returns the processor time that this program has used.
func processorTime() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0
	}
	return durationOf(kernel) + durationOf(user)
}

// durationOf converts a Windows duration, which counts units of 100 ns.
func durationOf(f windows.Filetime) time.Duration {
	return time.Duration(uint64(f.HighDateTime)<<32|uint64(f.LowDateTime)) * 100
}
