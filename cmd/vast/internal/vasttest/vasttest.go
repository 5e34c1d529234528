// Package vasttest runs the command vast in tests.
package vasttest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/vastgo/vast/cmd/vast/internal/command"
	"github.com/vastgo/vast/internal/childtest"
)

// asVast sets the environment variable that makes a test program run vast.
const asVast = "VAST_TEST_AS_PROGRAM=1"

// Main runs the tests of a package. In a process that [Command] has started, Main runs vast instead. Call
// Main in TestMain.
func Main(m *testing.M) {
	if name, value, _ := strings.Cut(asVast, "="); os.Getenv(name) == value {
		os.Exit(command.Run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// Command returns a command that runs vast with args. The command's environment is that of the test, plus
// env.
func Command(t *testing.T, env []string, args ...string) *exec.Cmd {
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

// Earth starts `vast earth` with an inspector and an SQL server on free ports. It returns the URL of the
// inspector, and the host and the port of the SQL server.
func Earth(t *testing.T) (inspector, host, port string) {
	t.Helper()
	c := Command(t, nil, "earth", "-plain", "-travellers", "100000", "-sql", "127.0.0.1:0")
	output, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = c.Stdout
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.Process.Signal(os.Interrupt) != nil { // on Windows, or after the end of the process
			_ = c.Process.Kill()
		}
		_ = c.Wait() // the error is the exit status 130, or that the process was killed
	})
	address := regexp.MustCompile(`^# (?:inspector: (\S+)|sql: psql -h (\S+) -p (\d+))$`)
	lines := bufio.NewScanner(output)
	var printed strings.Builder
	for inspector == "" || port == "" {
		if !lines.Scan() {
			t.Fatalf("the command did not print the addresses of the inspector and the SQL server:\n%s",
				&printed)
		}
		fmt.Fprintln(&printed, lines.Text())
		switch m := address.FindStringSubmatch(lines.Text()); {
		case m == nil:
		case m[1] != "":
			inspector = m[1]
		default:
			host, port = m[2], m[3]
		}
	}
	go func() { // a full pipe would block the command
		for lines.Scan() {
		}
	}()
	return inspector, host, port
}
