package main

import (
	"strings"
	"testing"

	"github.com/vastgo/vast/cmd/vast/internal/vasttest"
)

func TestMain(m *testing.M) { vasttest.Main(m) }

// vast returns a command that runs vast as a process.
var vast = vasttest.Command

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
