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

// childVariable names the function of children that a process started by these tests runs instead of the tests.
const childVariable = "VAST_TEST_CHILD"

// children are run in a process of their own, because they set limits, leak, or are meant to fail. They panic with what
// is wrong. Files for one system or build add theirs.
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

// feedHeap has Go's heap take more memory than any child needs, and free it again: under a limit it could not get more, and
// the process would end without a word about what is tested.
func feedHeap() {
	b := make([]byte, 24<<20)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	runtime.KeepAlive(b)
	b = nil
	runtime.GC()
}

// runChild runs a child and returns what it printed and whether it ended well.
func runChild(t *testing.T, name string) (output string, err error) {
	t.Helper()
	childtest.Needed(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+name)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// contentChild runs a child that must find everything right.
func contentChild(t *testing.T, name string) {
	t.Helper()
	out, err := runChild(t, name)
	if err != nil || !strings.Contains(out, "child is content") {
		t.Fatalf("%v\n%s", err, out[:min(len(out), 8000)])
	}
	t.Log(strings.TrimSpace(strings.ReplaceAll(out, "child is content", "")))
}

// must panics in a child where something is wrong.
func must(ok bool, format string, a ...any) {
	if !ok {
		panic(fmt.Sprintf(format, a...))
	}
}

func mustNot(err error) { must(err == nil, "%v", err) }
