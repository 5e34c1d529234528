package shell

import (
	"bytes"
	"context"
	"database/sql"
	"flag"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/vastgo/vast/internal/childtest"
)

// asShell is the environment variable that makes the test program behave like `vast sql`.
const asShell = "VAST_TEST_AS_SHELL=1"

func TestMain(m *testing.M) {
	if name, value, _ := strings.Cut(asShell, "="); os.Getenv(name) == value {
		os.Exit(runAsShell())
	}
	os.Exit(m.Run())
}

func runAsShell() int {
	var o Options
	file := flag.String("db", ":memory:", "")
	format := flag.String("format", "", "")
	flag.StringVar(&o.Statement, "statement", "", "")
	flag.StringVar(&o.HistoryFile, "history", "", "")
	flag.Parse()
	o.Format = Format(*format)
	db, err := driver.Open(*file)
	if err != nil {
		panic(err)
	}
	defer db.Close()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return Run(ctx, db, o, os.Stdin, os.Stdout, os.Stderr)
}

// program returns a command that runs the shell as a process.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	childtest.Needed(t)
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, args...)
	c.Env = append(os.Environ(), asShell)
	return c
}

// open returns a pool in which each connection has an empty database of its own, in memory.
func open(t testing.TB) *sql.DB {
	t.Helper()
	db, err := driver.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// run runs statements. It returns the exit status and the text that the shell wrote.
func run(t testing.TB, o Options, stdin string) (status int, stdout, stderr string) {
	t.Helper()
	var out, messages bytes.Buffer
	status = Run(context.Background(), open(t), o, strings.NewReader(stdin), &out, &messages)
	return status, out.String(), messages.String()
}
