package shell

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/vastgo/vast/internal/sqlnote"
)

// session runs statements on one connection.
type session struct {
	name   string // Options.Name, or its default
	conn   *sql.Conn
	out    *output
	stderr io.Writer
	format Format
	counts bool // whether run shows the number of rows that a statement changes
}

// inTransaction reports whether a transaction is open on the connection. With a driver other than
// github.com/ncruces/go-sqlite3, it returns false.
func (s *session) inTransaction() (open bool) {
	_ = s.conn.Raw(func(c any) error {
		if c, ok := c.(interface{ Raw() *sqlite3.Conn }); ok {
			open = !c.Raw().GetAutocommit()
		}
		return nil
	})
	return open
}

// message writes a message to stderr. clean makes the message safe to print on a terminal.
func (s *session) message(format string, args ...any) {
	fmt.Fprintf(s.stderr, "%s: %s\n", s.name, clean(fmt.Sprintf(format, args...)))
}

// outputError is the error of a failed write to session.out.
type outputError struct{ err error }

func (e *outputError) Error() string { return "the result cannot be written: " + e.err.Error() }

func (e *outputError) Unwrap() error { return e.err }

// statementError is the error of a statement.
type statementError struct {
	statement
	err      error
	showLine bool // whether the message names the line
}

func (e *statementError) Error() string { return e.err.Error() }

func (e *statementError) Unwrap() error { return e.err }

// report writes the message for an error. If ctx has ended, or the reader of the output has gone, report
// writes nothing.
func (s *session) report(ctx context.Context, err error) {
	var failed *statementError
	var lost *outputError
	switch {
	case ctx.Err() != nil:
	case errors.As(err, &lost) && (errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)):
	case errors.As(err, &failed):
		failed.show(s.stderr, s.name)
	default:
		s.message("%v", err)
	}
}

// result says what a statement did.
type result struct {
	table  bool  // whether the statement returned columns
	change       // what the statement changed
	rows   int64 // number of returned rows
}

// run runs a statement and writes its result. The error is a *statementError or an *outputError.
func (s *session) run(ctx context.Context, st statement, showLine bool) (result, error) {
	if strings.IndexByte(st.text, 0) >= 0 {
		err := errors.New("the statement has a NUL byte: SQLite would ignore the text after it")
		return result{}, &statementError{st, err, showLine}
	}
	if strings.Contains(st.text, byteOrderMark) && !hasContent(st.text) {
		return result{}, nil
	}
	ctx, cancel := context.WithCancel(sqlnote.With(ctx, func(note string) { s.message("%s", note) }))
	defer cancel()
	c := changeOf(st.text)
	if c.verb != "" && !c.returns {
		n, err := s.execute(ctx, st.text)
		if err != nil {
			return result{}, refused(st, err, showLine)
		}
		s.showChange(c, n)
		return result{change: c}, nil
	}
	rows, err := s.conn.QueryContext(ctx, st.text)
	if err != nil {
		return result{}, refused(st, err, showLine)
	}
	defer rows.Close()
	done, err := s.write(ctx, rows, cancel)
	if lost := new(outputError); err != nil && !errors.As(err, &lost) {
		err = &statementError{st, err, showLine}
	}
	if done.table && err == nil {
		done.change = c
		s.showChange(c, done.rows)
	}
	return done, err
}

// refused returns the error for a statement that the database does not run.
func refused(st statement, err error, showLine bool) error {
	if strings.HasPrefix(err.Error(), "sql: expected ") { // package sql has no error value for this
		err = errors.New("the statement has parameters: write values instead of ?")
	}
	return &statementError{st, err, showLine}
}

const byteOrderMark = "\ufeff"

// hasContent reports whether text is more than blanks, comments and byte order marks. SQLite treats a byte
// order mark as a blank, and its driver cannot run a statement without content.
func hasContent(text string) bool {
	var s splitter
	s.add([]byte(strings.ReplaceAll(text, byteOrderMark, " ")))
	if _, ok := s.next(); ok {
		return true
	}
	_, ok := s.rest()
	return ok
}

// rowWriter writes a result in one format.
type rowWriter interface {
	row(values []any) error
	flush() error // writes all rows so far
	end() error   // ends the result, without a flush
}

func (s *session) newWriter(out *bufio.Writer, head []string) (rowWriter, error) {
	switch s.format {
	case CSV:
		return newCSV(out, s.out.terminal, head)
	case JSON, JSONLines:
		return newJSON(out, s.format == JSON, head), nil
	}
	return newTable(out, s.out.columns(), head), nil
}

// patience is the time between flushes, so that rows appear while the next row takes long.
const patience = 300 * time.Millisecond

// write writes the rows of a statement. If a write fails, it calls cancel to end the statement.
func (s *session) write(ctx context.Context, rows *sql.Rows, cancel func()) (done result, err error) {
	head, err := rows.Columns()
	if err != nil {
		return done, err
	}
	if len(head) == 0 {
		for rows.Next() {
		}
		return done, rows.Err()
	}
	done.table = true
	out := bufio.NewWriterSize(s.out, 64<<10)
	w, err := s.newWriter(out, head)
	if err != nil {
		return done, &outputError{err}
	}
	records, failure := make(chan []any, queuedRows), make(chan error, 1)
	go func() {
		defer close(records)
		failure <- read(ctx, rows, len(head), records)
	}()
	ticks := time.NewTicker(patience)
	defer ticks.Stop()
	for open := true; open && err == nil; {
		var values []any
		select {
		case values, open = <-records:
			if open {
				err = w.row(values)
				done.rows++
			}
		case <-ticks.C:
			err = w.flush()
		}
	}
	if err != nil {
		cancel()
		<-failure
		return done, &outputError{err}
	}
	if err := <-failure; err != nil {
		if flushErr := w.flush(); flushErr != nil {
			return done, &outputError{flushErr}
		}
		return done, err
	}
	if err := errors.Join(w.end(), w.flush()); err != nil {
		return done, &outputError{err}
	}
	return done, nil
}

// queuedRows is the largest number of rows that wait for write.
const queuedRows = 256

// read sends all rows to records. It returns the error that ended the rows, or nil.
func read(ctx context.Context, rows *sql.Rows, columns int, records chan<- []any) error {
	pointers := make([]any, columns)
	for rows.Next() {
		values := make([]any, columns)
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := rows.Scan(pointers...); err != nil {
			return err
		}
		select {
		case records <- values:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return rows.Err()
}
