package vast

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/childtest"
)

// childVariable is the environment variable with the name of a child. If a process has the variable, it runs
// this child instead of the tests.
const childVariable = "VAST_TEST_CHILD"

// children are functions that run in a process of their own because they set limits, leak memory, or fail on
// purpose. A child panics when a check fails. Test files for one system or build add their own children.
var children = map[string]func(){}

func TestMain(m *testing.M) {
	if name := os.Getenv(childVariable); name != "" {
		feedHeap()
		children[name]()
		fmt.Println("child is content")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// feedHeap makes the Go heap take more memory than any child needs, and frees it again. Otherwise the Go heap
// could not grow under a child's limit, and the process would end before the child can report.
func feedHeap() {
	b := make([]byte, 24<<20)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	runtime.KeepAlive(b)
	b = nil
	runtime.GC()
}

// runChild runs a child and returns its output. The error says how the process ended.
func runChild(t *testing.T, name string) (output string, err error) {
	t.Helper()
	childtest.Needed(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+name)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// contentChild runs a child, and fails the test if the child fails.
func contentChild(t *testing.T, name string) {
	t.Helper()
	out, err := runChild(t, name)
	if err != nil || !strings.Contains(out, "child is content") {
		t.Fatalf("%v\n%s", err, out[:min(len(out), 8000)])
	}
	t.Log(strings.TrimSpace(strings.ReplaceAll(out, "child is content", "")))
}

// must panics if ok is false. Children make their checks with it.
func must(ok bool, format string, a ...any) {
	if !ok {
		panic(fmt.Sprintf(format, a...))
	}
}

func mustNot(err error) { must(err == nil, "%v", err) }
