// Package vasttest runs the command vast in tests.
package vasttest

import (
	"bufio"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/vastgo/vast/cmd/vast/internal/command"
	"github.com/vastgo/vast/internal/childtest"
)

// asVast is the environment variable that makes a test program behave like vast.
const asVast = "VAST_TEST_AS_PROGRAM=1"

// Main runs the tests of a package, or vast in a process that [Command] has started. Call it in TestMain.
func Main(m *testing.M) {
	if name, value, _ := strings.Cut(asVast, "="); os.Getenv(name) == value {
		os.Exit(command.Run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// Command returns a command that runs vast with args, in the environment of the test extended by env.
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
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait() // an interrupt ends the command with exit status 130
	})
	address := regexp.MustCompile(`^# (?:inspector: (\S+)|sql: psql -h (\S+) -p (\d+))$`)
	lines := bufio.NewScanner(output)
	for inspector == "" || port == "" {
		if !lines.Scan() {
			t.Fatal("the command did not print the addresses of the inspector and the SQL server")
		}
		switch m := address.FindStringSubmatch(lines.Text()); {
		case m == nil:
		case m[1] != "":
			inspector = m[1]
		default:
			host, port = m[2], m[3]
		}
	}
	go func() {
		for lines.Scan() {
		}
	}()
	return inspector, host, port
}
