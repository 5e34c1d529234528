//go:build !race

package longtest

// Race reports whether the race detector is part of this build.
const Race = false
