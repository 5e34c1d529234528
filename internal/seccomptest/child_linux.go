package seccomptest

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/childtest"
)

// variable names the test that a process started by Child is for.
const variable = "VAST_SECCOMP_TEST"

// Child runs f under the rules in a process of its own, which is this test binary running this test and no other; without
// rules it is only a process of its own, which may do to itself what would harm other tests. What fails there fails here,
// and what is skipped there is skipped here. Before the call of Child a test must not do what the rules forbid.
func Child(t *testing.T, f func(t *testing.T), rules ...Rule) {
	t.Helper()
	if os.Getenv(variable) == t.Name() {
		if len(rules) > 0 {
			if err := Refuse(rules...); err != nil {
				t.Skipf("the kernel takes no filter of system calls: %v", err)
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
