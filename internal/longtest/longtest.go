// Package longtest chooses between the usual form of a test and its long form, which .ci/night runs.
package longtest

import (
	"flag"
	"os"
	"strconv"
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

// Only skips a test unless tests run in their long form. It is for tests that have no usual form.
func Only(t testing.TB) {
	t.Helper()
	if !Enabled() {
		t.Skip("a long test: run it with VAST_LONG=1 and without -short")
	}
}

// OneGoroutine skips a slow test of one goroutine in builds with the race detector if the flag -short is set.
// The race detector makes the test ten times slower, and can find only misuse of unsafe pointers in it.
func OneGoroutine(t testing.TB) {
	t.Helper()
	if Race && testing.Short() {
		t.Skip("a long test of one goroutine, with the race detector and -short")
	}
}

// Waiting lets n parallel tests run at a time if the flag -parallel is not set. Call it in TestMain of a
// package whose tests mostly wait.
func Waiting(n int) {
	chosen := false
	flag.Parse()
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		_ = flag.Set("test.parallel", strconv.Itoa(n)) // the flag exists in each test binary
	}
}
