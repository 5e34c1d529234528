// Package childtest helps tests that start their own test program as a child process.
package childtest

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// Needed skips a test if a test program cannot start itself. Two examples are a system without processes, and
// an emulated processor whose programs the kernel cannot start.
func Needed(t testing.TB) {
	t.Helper()
	if err := start(); err != nil {
		t.Skipf("a test program cannot start itself here: %v", err)
	}
}

// Possible reports whether a test program can start itself.
func Possible() bool { return start() == nil }

// start starts this program without any test. It does so once, and returns the result in each later call.
var start = sync.OnceValue(func() error {
	c := exec.Command(os.Args[0], "-test.run=^$")
	if err := c.Start(); err != nil {
		if path := new(fs.PathError); errors.As(err, &path) {
			return path.Err // the path differs in each run
		}
		return err
	}
	_ = c.Wait()
	return nil
})
