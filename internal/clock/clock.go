// Package clock measures short times. Package time does not suffice for that on Windows, where its clock
// advances in steps of half a millisecond to 16 milliseconds, longer than a whole tick.
package clock

import "time"

// Now returns the time since a moment early in the process's life. Only the difference of two results is
// meaningful. The results never decrease. Their resolution is a nanosecond on most systems, and a tenth of a
// microsecond on Windows.
func Now() time.Duration { return now() }

// ByPackageTime makes Now use package time on every system until stop is called. It is for tests in a bubble
// of testing/synctest. A measurement across the call or stop is wrong.
func ByPackageTime() (stop func()) { return byPackageTime() }

// epoch is the moment that Now counts from. time.Since(epoch) reads only the monotonic clock, and time.Now
// would read two clocks.
var epoch = time.Now()
