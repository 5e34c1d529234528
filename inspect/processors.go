//go:build !unix && !windows

package inspect

import "time"

// processorTime returns how long processors have worked for this program; 0 where the system does not say.
func processorTime() time.Duration { return 0 }
