//go:build !windows

package clock

import "time"

// epoch makes two looks at a clock, of the day and of the process, one at the latter.
var epoch = time.Now()

func now() time.Duration { return time.Since(epoch) }
