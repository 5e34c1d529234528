//go:build !unix && !windows

package inspect

import (
	"syscall"
	"time"
)

// errTaken is the error for an address that is already in use.
const errTaken = syscall.EADDRINUSE

// processorTime returns 0, because the CPU time is unknown on these systems.
func processorTime() time.Duration { return 0 }
