//go:build !unix

package trial

import (
	"errors"
	"time"
)

// processorTime returns an error: only the version for Unix measures the processor time of the process.
func processorTime() (time.Duration, error) {
	return 0, errors.New("costs can be measured on Unix only: write a file of costs there, and read it here")
}
