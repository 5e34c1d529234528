package measure

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
)

// ErrNotLinux is wrapped in every error of [Resident], which usually fails because the system is not Linux.
var ErrNotLinux = errors.New("resident memory is read from /proc/self/smaps_rollup, which only Linux has")

// Resident returns the bytes of this process that are in physical memory. The figure is exact. The figure in
// /proc/self/statm may be wrong by some hundred pages for each processor.
func Resident() (int, error) {
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		return 0, fmt.Errorf("%w (%w)", ErrNotLinux, err)
	}
	_, rest, found := bytes.Cut(text, []byte("\nRss:"))
	var kib int
	if _, err := fmt.Sscan(string(rest), &kib); err != nil || !found {
		return 0, ErrNotLinux
	}
	return kib << 10, nil
}

// Settle collects garbage and returns unused memory of the Go heap to the operating system.
func Settle() {
	debug.FreeOSMemory()
	debug.FreeOSMemory() // for memory that was found unused while the first call swept
}
