//go:build !unix && !windows

package inspect

import (
	"syscall"
	"time"
)

// errTaken is the error of listening at another program's address.
const errTaken = syscall.EADDRINUSE

// processorTime returns 0: these systems do not count it.
func processorTime() time.Duration { return 0 }
