package shell

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit statuses that [Run] returns.
const (
	Success     = 0
	Failure     = 1                         // a statement failed, ctx ended, or any other error
	Misuse      = 2                         // the options are wrong
	Interrupted = 128 + int(syscall.SIGINT) // os.Interrupt ended the run
)

// Options are the settings of [Run]. The zero value works.
type Options struct {
	// Statement has one or more statements, separated by semicolons. If Statement is empty, the statements
	// come from stdin: from a prompt if stdin and stdout are terminals, and otherwise up to the end of stdin.
	Statement string

	// Format is the format of results. The default is Table on a terminal, and CSV elsewhere.
	Format Format

	// HistoryFile is the path of the file with the history of the prompt. The default is vast/sql_history in
	// os.UserCacheDir. The prompt makes the file with mode 0600, and shortens it to its newest 1,000 lines.
	HistoryFile string

	// NoHistory keeps the history in memory only.
	NoHistory bool

	// Name begins each error message. The default is "vast sql".
	Name string
}

// Format is a format of results.
type Format string

// Formats of results.
const (
	// Table is for people: columns are aligned, numbers to the right, NULL is shown as NULL, and a blob is a
	// literal such as x'00ff'. On a terminal, long values and lines are cut to fit.
	Table Format = "table"

	// CSV has a heading line. NULL is an empty field. A blob is base64.
	CSV Format = "csv"

	// JSON is one array of objects for each result, with one object a line. Numbers lose no digits. An
	// infinite number is 9e999 or -9e999, as in SQLite. A blob is a string in base64. The second column of
	// the same name gets a key such as "name:1".
	JSON Format = "json"

	// JSONLines is one object a line, with values as in JSON.
	JSONLines Format = "jsonl"
)

// ParseFormat returns the format with the given name. The empty name is the default format.
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case "", Table, CSV, JSON, JSONLines:
		return f, nil
	}
	return "", fmt.Errorf("format %q: want table, csv, json or jsonl", name)
}

// Run runs statements on a connection of db, and writes their results to stdout as rows arrive. It writes
// messages to stderr. If a statement of Options.Statement or of the prompt changes rows, Run also writes the
// number of these rows to stderr, such as UPDATE 3. The returned exit status is Success, Failure, Misuse or
// Interrupted.
//
// Outside of the prompt, the first failing statement ends the run. At the prompt, Run goes on after a
// failing statement, and returns Success when the user leaves.
//
// The statements share a connection, and with it transactions, temporary tables and pragmas. At the end, Run
// rolls back a transaction that is still open.
//
// Run handles os.Interrupt: at the prompt, Ctrl-C stops the running statement or discards the unfinished one;
// elsewhere os.Interrupt ends the run. The end of ctx also ends the run: the status is Failure, and there is
// no message. If Run returns before the end of stdin, a goroutine may still wait for a read of stdin.
//
// Only one call of Run may read stdin at a time. Run panics if db is nil.
func Run(ctx context.Context, db *sql.DB, o Options, stdin io.Reader, stdout, stderr io.Writer) int {
	if db == nil {
		panic("shell: Run needs a database; db is nil")
	}
	s := &session{name: o.Name, out: newOutput(stdout), stderr: stderr}
	if s.name == "" {
		s.name = "vast sql"
	}
	var err error
	if s.format, err = ParseFormat(string(o.Format)); err != nil {
		s.message("%v", err)
		return Misuse
	}
	if s.format == "" {
		s.format = CSV
		if s.out.terminal {
			s.format = Table
		}
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)

	interruptibly, stop := interruptible(ctx, interrupts)
	defer stop()
	if s.conn, err = db.Conn(interruptibly); err != nil {
		return s.status(interruptibly, err)
	}
	defer s.conn.Close()
	// This statement fails if no transaction is open, so its error means nothing.
	defer s.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	switch {
	case o.Statement != "":
		s.counts = true
		err = s.runScript(interruptibly, strings.NewReader(o.Statement), strings.Contains(o.Statement, "\n"))
	case s.out.terminal && isTerminal(stdin):
		stop() // the prompt handles interrupts itself
		s.counts = true
		return s.runPrompt(ctx, o, stdin.(*os.File), stdout.(*os.File), interrupts)
	default:
		err = s.runScript(interruptibly, stdin, true)
	}
	return s.status(interruptibly, err)
}

// status returns the exit status for the error of a run, and reports a failure.
func (s *session) status(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return Success
	case errors.Is(context.Cause(ctx), errInterrupted):
		return Interrupted
	}
	s.report(ctx, err)
	return Failure
}

// errInterrupted is the cause of a context that os.Interrupt ended.
var errInterrupted = errors.New("interrupted")

// interruptible returns a context that ends at the next os.Interrupt. The caller must call stop at least
// once.
func interruptible(ctx context.Context, interrupts <-chan os.Signal) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-interrupts:
			cancel(errInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done // so that the goroutine takes no later interrupt
	}
}
