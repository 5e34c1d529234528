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

// childVariable is an environment variable with the name of a child. A process that has the variable runs the
// child instead of the tests.
const childVariable = "VAST_TEST_CHILD"

// children are functions that run in a process of their own, because they set limits, leak memory, or fail on
// purpose. A child panics when a check fails. Test files add children in init functions.
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

// feedHeap makes the Go heap larger than any child needs. Otherwise the heap could not grow under the memory
// limit of a child, and the process would end before the child can report.
func feedHeap() {
	b := make([]byte, 24<<20)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	runtime.KeepAlive(b)
	b = nil
	runtime.GC()
}

func runChild(t *testing.T, name string) (output string, err error) {
	t.Helper()
	childtest.Needed(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+name)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func contentChild(t *testing.T, name string) {
	t.Helper()
	out, err := runChild(t, name)
	if err != nil || !strings.Contains(out, "child is content") {
		t.Fatalf("%v\n%s", err, out[:min(len(out), 8000)])
	}
	t.Log(strings.TrimSpace(strings.ReplaceAll(out, "child is content", "")))
}

// must panics if ok is false. Children call it instead of t.Fatal.
func must(ok bool, format string, a ...any) {
	if !ok {
		panic(fmt.Sprintf(format, a...))
	}
}

func mustNot(err error) { must(err == nil, "%v", err) }
