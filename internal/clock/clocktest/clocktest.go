// Package clocktest runs tests in a time of their own.
package clocktest

import (
	"testing"
	"testing/synctest"

	"github.com/vastgo/vast/internal/clock"
)

// Bubble runs f in a bubble of package synctest, and lets package clock go by its time. It must not run beside other tests
// that measure.
func Bubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	defer clock.ByPackageTime()()
	synctest.Test(t, f)
}
