// Package clock measures short times. Package time is too coarse on Windows: its clock advances in steps of
// half a millisecond to 16 milliseconds, and a tick of a world may be shorter than a step.
package clock

import "time"

// Now returns the time since a fixed moment at the start of the process. Only the difference of two results
// is meaningful. The results never decrease. Their resolution is a nanosecond on most systems, and a tenth of
// a microsecond on Windows.
func Now() time.Duration { return now() }

// ByPackageTime makes Now use package time on every system until stop is called. It is for tests in a bubble
// of testing/synctest. A call of ByPackageTime or stop may make Now jump: do not compare a result from before
// the call with a result from after it.
func ByPackageTime() (stop func()) { return byPackageTime() }

// epoch is the moment from which Now counts. time.Since(epoch) reads only the monotonic clock; time.Now also
// reads the wall clock.
var epoch = time.Now()
