package inspect

import (
	"time"

	"golang.org/x/sys/windows"
)

// processorTime returns how long processors have worked for this program.
func processorTime() time.Duration {
	var made, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &made, &ended, &kernel, &user) != nil {
		return 0
	}
	return ticksOf(kernel) + ticksOf(user)
}

// ticksOf reads a length of time, which Windows counts in 100 ns.
func ticksOf(f windows.Filetime) time.Duration {
	return time.Duration(uint64(f.HighDateTime)<<32|uint64(f.LowDateTime)) * 100
}
