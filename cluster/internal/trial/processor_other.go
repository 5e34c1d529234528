//go:build !unix

package trial

import (
	"errors"
	"time"
)

// processorTime returns the processor time that this process has used.
func processorTime() (time.Duration, error) {
	return 0, errors.New("costs can be measured on Unix only: write a file of costs there, and read it here")
}
