package seccomptest

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/childtest"
)

// variable is the environment variable that names the test to run in a child process.
const variable = "VAST_SECCOMP_TEST"

// Child runs f under the rules in a child process. The child is this test binary and runs only the calling
// test. If f fails or skips in the child, the calling test fails or skips. Child also skips the calling test
// if a test program cannot start itself, or if the kernel accepts no filter of system calls. A call without
// rules protects other tests from an f that changes its process.
//
// The child also runs the code of the test before and after the call of Child. The rules stay in force after
// the call, so the code there must not make system calls that the rules refuse.
func Child(t *testing.T, f func(t *testing.T), rules ...Rule) {
	t.Helper()
	if os.Getenv(variable) == t.Name() {
		if len(rules) > 0 {
			if err := Refuse(rules...); err != nil {
				t.Skipf("the kernel accepts no filter of system calls: %v", err)
			}
		}
		f(t)
		return
	}
	childtest.Needed(t)
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(t.Name()), "/", "$/^") + "$"
	args := []string{"-test.v", "-test.count=1", "-test.run=" + pattern}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), variable+"="+t.Name())
	b, err := cmd.CombinedOutput()
	out := string(b)
	switch {
	case err == nil && strings.Contains(out, "--- SKIP: "+t.Name()+" "):
		t.Skipf("skipped in the child:\n%s", out)
	case err != nil || !strings.Contains(out, "--- PASS: "+t.Name()+" "):
		t.Errorf("in the child: %v\n%s", err, out[:min(len(out), 16<<10)])
	}
}
