//go:build !unix

package trial

import (
	"errors"
	"time"
)

// processorTime returns the processor time that this process has used.
func processorTime() (time.Duration, error) {
	return 0, errors.New("costs are measured on Unix only: measure elsewhere, and read the file of the costs")
}
