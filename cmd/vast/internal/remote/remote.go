// Package remote is a driver of package database/sql for the inspector of a running program. It sends each
// statement to the inspector, and reads the rows from the answer as they arrive.
package remote

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/vastgo/vast/cmd/vast/internal/attach"
)

// Open returns a database that asks a program. Its statements have no parameters and run through Query:
// Prepare, Exec and transactions return errors. The inspector decides what a statement may do, and may run
// each statement on another connection to its own database. If the inspector refuses a statement, the error
// wraps an [*attach.Error].
func Open(p *attach.Program) *sql.DB { return sql.OpenDB(connector{p}) }

type connector struct{ program *attach.Program }

// Connect returns a connection. It sends nothing.
func (c connector) Connect(context.Context) (driver.Conn, error) { return conn(c), nil }

// Driver returns a driver that opens no databases by name.
func (c connector) Driver() driver.Driver { return nameless{} }

type nameless struct{}

// Open returns an error.
func (nameless) Open(string) (driver.Conn, error) {
	return nil, errors.New("an inspector has no data source name: use remote.Open")
}

type conn struct{ program *attach.Program }

var (
	errPrepared    = errors.New("the inspector prepares no statements: use Query")
	errExec        = errors.New("the inspector returns rows for each statement: use Query instead of Exec")
	errTransaction = errors.New("the inspector has no transactions: each statement is one")
	errParameters  = errors.New("the inspector takes no parameters: write the values into the statement")
)

// Prepare returns an error.
func (c conn) Prepare(string) (driver.Stmt, error) { return nil, errPrepared }

// Begin returns an error.
func (c conn) Begin() (driver.Tx, error) { return nil, errTransaction }

// Close does nothing.
func (c conn) Close() error { return nil }

// ExecContext returns an error.
func (c conn) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return nil, errExec
}

// QueryContext sends a statement and waits for the names of the columns.
func (c conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if len(args) > 0 {
		return nil, errParameters
	}
	body, err := c.program.Send(ctx, "sql", struct {
		Statement string `json:"statement"`
	}{text})
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w; if it is a PostgreSQL server, its address is postgres://%s", err,
			c.program.Address())
	}
	if err != nil {
		return nil, placed(err, text)
	}
	r, err := begin(ctx, c.program.Address(), text, body)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// statementError is an error with its place in the statement.
type statementError struct {
	inner *attach.Error
	text  string // the statement
}

// placed adds the statement to an error that knows its place.
func placed(err error, text string) error {
	if e, ok := errors.AsType[*attach.Error](err); ok && e.Length > 0 {
		return &statementError{e, text}
	}
	return err
}

func (e *statementError) Error() string { return e.inner.Error() }

func (e *statementError) Unwrap() error { return e.inner }

// SQL returns the statement from the place of the error on, as errors of SQLite's driver do.
func (e *statementError) SQL() string {
	characters := []rune(e.text)
	return string(characters[min(max(e.inner.Position, 0), len(characters)):])
}
