package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/childtest"
)

// asVast is the environment variable that makes the test program behave like vast. A test can then run vast
// as a process.
const asVast = "VAST_TEST_AS_PROGRAM=1"

func TestMain(m *testing.M) {
	if name, value, _ := strings.Cut(asVast, "="); os.Getenv(name) == value {
		main()
		return
	}
	os.Exit(m.Run())
}

// vast returns a command that runs vast with args, in the environment of the test extended by env.
func vast(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	childtest.Needed(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, args...)
	c.Env = append(append(os.Environ(), asVast), env...)
	return c
}

func TestExitStatus(t *testing.T) {
	for _, c := range []struct {
		args string
		want int
	}{
		{"help", 0},
		{"version", 0},
		{"", 2},
		{"nonsense", 2},
		{"earth -nonsense", 2},
		{"top", 2},
		{"top 127.0.0.1:1 -nonsense", 2},
		{"query 127.0.0.1:1", 2},
		{"earth -places /does/not/exist", 2},
		{"earth -memory-limit 1kB", 1},
	} {
		command := vast(t, nil, strings.Fields(c.args)...)
		output, _ := command.CombinedOutput()
		if got := command.ProcessState.ExitCode(); got != c.want ||
			strings.Contains(string(output), "goroutine ") {
			t.Errorf("vast %s: exit status %d, want %d:\n%s", c.args, got, c.want, output)
		}
	}
}
