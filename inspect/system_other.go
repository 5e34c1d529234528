//go:build !unix && !windows

package inspect

import (
	"syscall"
	"time"
)

// errTaken is the error of listening at an address that another program uses.
const errTaken = syscall.EADDRINUSE

// processorTime returns 0: the processor time is unknown on these systems.
func processorTime() time.Duration { return 0 }
