// Package clocktest runs tests in simulated time.
package clocktest

import (
	"testing"
	"testing/synctest"

	"github.com/vastgo/vast/internal/clock"
)

// Bubble runs f in a bubble of package synctest, and makes package clock use the bubble's time. Do not run
// Bubble in parallel with other tests that measure times.
func Bubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	defer clock.ByPackageTime()()
	synctest.Test(t, f)
}
