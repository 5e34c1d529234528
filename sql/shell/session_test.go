package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

const endless = "WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i) "

func TestErrors(t *testing.T) {
	for _, c := range []struct{ statement, stdin, stdout, want string }{
		{"SELECT * FORM t", "", "", `vast sql: near "FORM": syntax error

    SELECT * FORM t
             ^
`},
		{"SELECT 1 AS a;\nSELECT\n  'é\x1b', nosuch;\nSELECT 2", "", "a\n1\n",
			`vast sql: line 3: no such column: nosuch

      'é␛', nosuch;
            ^
`},
		{"", "SELECT 1 AS a;\n\nSELECT * FROM nosuch; SELECT 2;", "a\n1\n",
			"vast sql: line 3: no such table: nosuch\n"}, // SQLite does not tell the place
		{"SELECT " + strings.Repeat("1,", 100) + "nosuch," + strings.Repeat("2,", 100) + "3", "", "",
			"vast sql: no such column: nosuch\n\n    …" + strings.Repeat("1,", 25) + "nosuch," +
				strings.Repeat("2,", 21) + "2…\n    " + strings.Repeat(" ", 51) + "^\n"},
		{"CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1), (1)", "", "",
			"vast sql: constraint failed: UNIQUE constraint failed: t.a\n"},
		{"SELECT 'open", "", "", `vast sql: unrecognized token: "'open"

    SELECT 'open
           ^
`},
		{"SELECT 1\x00; DROP TABLE t", "", "",
			"vast sql: the statement has a NUL byte: SQLite would ignore the text after it\n"},
		{"SELECT abs(-9223372036854775808) AS a", "", "a\n", "vast sql: integer overflow\n"},
		{"SELECT ?", "", "", "vast sql: the statement has parameters: write values instead of ?\n"},
	} {
		status, stdout, stderr := run(t, Options{Statement: c.statement}, c.stdin)
		if status != Failure || stdout != c.stdout || stderr != c.want {
			t.Errorf("%q: status %d, %q,\n%s\nwant\n%s", c.statement, status, stdout, stderr, c.want)
		}
	}
}

func TestInputs(t *testing.T) {
	for _, c := range []struct{ stdin, want string }{
		{"", ""},
		{"-- nothing\n", ""},
		{"\ufeffSELECT 1 AS a", "a\n1\n"},
		{"\ufeff;\ufeff/* c */", ""},
		{"CREATE TEMP TABLE t (a); BEGIN; INSERT INTO t VALUES (1); ROLLBACK; SELECT count(*) AS n FROM t",
			"n\n0\n"},
		{"CREATE TABLE t (a); INSERT INTO t VALUES (3) RETURNING a;", "a\n3\n"},
	} {
		status, got, message := run(t, Options{}, c.stdin)
		if status != Success || got != c.want || message != "" {
			t.Errorf("%q: status %d, %q, %q; want %q", c.stdin, status, got, message, c.want)
		}
	}
}

func TestInputFails(t *testing.T) {
	var out, messages bytes.Buffer
	in := io.MultiReader(strings.NewReader("SELECT 1 AS a; SELECT"), iotest.ErrReader(errors.New("disk\x1b")))
	status := Run(t.Context(), open(t), Options{}, in, &out, &messages)
	want := "vast sql: the statements cannot be read: disk␛\n"
	if status != Failure || out.String() != "a\n1\n" || messages.String() != want {
		t.Errorf("status %d, %q, %q; want %q", status, &out, &messages, want)
	}
}

func TestLongStatement(t *testing.T) {
	in := io.MultiReader(strings.NewReader("SELECT 1;\nSELECT '"), io.LimitReader(zeros{}, maxStatement+1))
	var out, messages bytes.Buffer
	status := Run(t.Context(), open(t), Options{}, in, &out, &messages)
	want := "vast sql: line 1: the statement is longer than 16 MiB: end it with a semicolon\n"
	if status != Failure || messages.String() != want {
		t.Errorf("status %d, %q; want %q", status, &messages, want)
	}
}

// zeros is an endless text of the digit 0.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// limited is a writer that fails after some bytes, and reports each write.
type limited struct {
	left    int
	err     error
	written func()
}

func (l *limited) Write(p []byte) (int, error) {
	if l.written != nil {
		l.written()
	}
	if len(p) > l.left {
		return 0, l.err
	}
	l.left -= len(p)
	return len(p), nil
}

// TestOutputFails checks that a failed write ends an endless statement.
func TestOutputFails(t *testing.T) {
	for _, format := range []Format{Table, CSV, JSON, JSONLines} {
		for err, want := range map[error]string{
			errors.New("disk full"): "vast sql: the result cannot be written: disk full\n",
			io.ErrClosedPipe:        "", // the reader has gone: it has all that it wants
		} {
			var messages bytes.Buffer
			o := Options{Statement: endless + "SELECT n FROM i; SELECT 2", Format: format}
			status := Run(t.Context(), open(t), o, nil, &limited{left: 1 << 17, err: err}, &messages)
			if status != Failure || messages.String() != want {
				t.Errorf("%s: status %d, %q; want %q", format, status, &messages, want)
			}
		}
	}
}

// TestCancel cancels the context of an endless statement.
func TestCancel(t *testing.T) {
	for _, format := range []Format{Table, CSV, JSON, JSONLines} {
		ctx, cancel := context.WithCancel(t.Context())
		var messages bytes.Buffer
		status := Run(ctx, open(t), Options{Statement: endless + "SELECT n FROM i", Format: format}, nil,
			&limited{left: 1 << 62, written: cancel}, &messages)
		if status != Failure || messages.Len() > 0 {
			t.Errorf("%s: status %d, %q", format, status, &messages)
		}
		cancel()
	}
}

// TestCancelWhileReading cancels the context while the shell waits for a statement.
func TestCancelWhileReading(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, from := io.Pipe()
	defer from.Close()
	var messages bytes.Buffer
	status := make(chan int)
	go func() {
		status <- Run(ctx, open(t), Options{}, in, &limited{left: 1 << 20, written: cancel}, &messages)
	}()
	io.WriteString(from, "SELECT 1;") // its result cancels ctx
	if got := <-status; got != Failure || messages.Len() > 0 {
		t.Errorf("status %d, %q", got, &messages)
	}
}

// TestRowsDoNotWait checks that a row appears although the next row never comes.
func TestRowsDoNotWait(t *testing.T) {
	for _, format := range []Format{Table, CSV, JSON, JSONLines} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			var out bytes.Buffer
			// The second row needs an endless search.
			o := Options{Statement: endless + "SELECT n FROM i WHERE n < 2", Format: format}
			both := io.MultiWriter(&out, &limited{left: 1 << 20, written: cancel})
			status := Run(ctx, open(t), o, nil, both, io.Discard)
			if status != Failure || !strings.Contains(out.String(), "1") {
				t.Errorf("status %d, %q", status, &out)
			}
		})
	}
}

// TestOpenTransaction checks that no transaction stays open on a connection of the caller's pool.
func TestOpenTransaction(t *testing.T) {
	db := open(t)
	db.SetMaxOpenConns(1)
	o := Options{Statement: "CREATE TABLE t (a); BEGIN; INSERT INTO t VALUES (1)"}
	if status := Run(t.Context(), db, o, nil, io.Discard, io.Discard); status != Success {
		t.Fatal(status)
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM t").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows, %v; want none", n, err)
	}
	if _, err := db.Exec("BEGIN"); err != nil {
		t.Error(err)
	}
}
