// Package childtest is for tests that start their own program again.
package childtest

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// Needed skips a test where a test program cannot start itself: where a system has no processes, or where the program is
// one for another processor and an emulator runs it, of which the kernel knows nothing.
func Needed(t testing.TB) {
	t.Helper()
	if err := start(); err != nil {
		t.Skipf("a test program cannot start itself here: %v", err)
	}
}

// Possible reports whether a test program can start itself, see [Needed].
func Possible() bool { return start() == nil }

// start starts this program without any test to run.
var start = sync.OnceValue(func() error {
	c := exec.Command(os.Args[0], "-test.run=^$")
	if err := c.Start(); err != nil {
		if path := new(fs.PathError); errors.As(err, &path) {
			return path.Err // without the path, which is another one in each run
		}
		return err
	}
	_ = c.Wait()
	return nil
})
