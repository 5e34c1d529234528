// Package clock measures how long things take. It is apart from package time because that tells the time on Windows only in
// steps of half a millisecond to 16 milliseconds, in which a tick has begun and ended.
package clock

import "time"

// Now returns the time that has passed since a moment early in the process's life: what matters is how far two of its
// results are apart. It never goes back, and is as fine as the system has it: a nanosecond on most systems, a tenth of a
// microsecond on Windows.
func Now() time.Duration { return now() }

// ByPackageTime lets Now go by package time everywhere, until stop is called. It is for tests whose time is a bubble's, as in
// testing/synctest. What is measured across either moment is wrong.
func ByPackageTime() (stop func()) { return byPackageTime() }

// epoch makes two looks at a clock, of the day and of the process, one at the latter.
var epoch = time.Now()
