// Package longtest chooses between the usual form of a test, which every run plays, and its long form, which
// .ci/night plays.
package longtest

import (
	"os"
	"testing"
)

// Enabled reports whether tests run in their long form: VAST_LONG is set and the flag -short is not.
func Enabled() bool { return os.Getenv("VAST_LONG") != "" && !testing.Short() }

// Pick returns the number of rounds, elements or bytes of a test: long in the long form, and otherwise usual.
func Pick(usual, long int) int {
	if Enabled() {
		return long
	}
	return usual
}

// OneGoroutine skips a test of one goroutine in builds with the race detector, unless the form is long: the test
// takes ten times as long there and the detector has nothing to find.
func OneGoroutine(t testing.TB) {
	t.Helper()
	if Race && !Enabled() {
		t.Skip("the race detector has nothing to find in one goroutine")
	}
}
