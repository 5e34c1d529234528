// Package remote is a driver of package database/sql. The driver sends each statement to the inspector of a
// running program, and reads the rows as they arrive.
package remote

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/vastgo/vast/cmd/vast/internal/attach"
)

// Open returns a database that sends its statements to the inspector of a program. Run each statement with
// Query or Exec, without parameters. Prepare and Begin return errors. The inspector decides which statements
// may run. The statements of one connection may run on several connections to the program's database. If the
// inspector refuses a statement, the error wraps an [*attach.Error].
func Open(p *attach.Program) *sql.DB { return sql.OpenDB(connector{p}) }

type connector struct{ program *attach.Program }

// Connect returns a connection, without a request to the inspector.
func (c connector) Connect(context.Context) (driver.Conn, error) { return conn(c), nil }

// Driver returns a driver whose Open fails.
func (c connector) Driver() driver.Driver { return unopenable{} }

type unopenable struct{}

// Open returns an error.
func (unopenable) Open(string) (driver.Conn, error) {
	return nil, errors.New("an inspector has no data source name: use remote.Open")
}

type conn struct{ program *attach.Program }

var (
	errPrepared    = errors.New("the inspector prepares no statements: use Query or Exec")
	errTransaction = errors.New("the inspector has no transactions: run each statement by itself")
	errParameters  = errors.New("package remote sends no parameters: write the values into the statement")
)

// Prepare returns an error.
func (c conn) Prepare(string) (driver.Stmt, error) { return nil, errPrepared }

// Begin returns an error.
func (c conn) Begin() (driver.Tx, error) { return nil, errTransaction }

// Close does nothing.
func (c conn) Close() error { return nil }

// ExecContext sends a statement and waits for its end. The result has the number of rows that the statement
// has changed.
func (c conn) ExecContext(ctx context.Context, statement string, args []driver.NamedValue) (driver.Result,
	error) {
	if strings.EqualFold(statement, "ROLLBACK") {
		return nil, errTransaction // without a request: package shell ends each run with ROLLBACK
	}
	r, err := c.query(ctx, statement, args)
	if err != nil {
		return nil, err
	}
	for err = nil; err == nil; {
		err = r.Next(make([]driver.Value, len(r.columns)))
	}
	if err == io.EOF {
		err = nil
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	return driver.RowsAffected(r.changed), nil
}

// QueryContext sends a statement and waits for the first line of the answer, which lists the columns.
func (c conn) QueryContext(ctx context.Context, statement string,
	args []driver.NamedValue) (driver.Rows, error) {
	r, err := c.query(ctx, statement, args)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (c conn) query(ctx context.Context, statement string, args []driver.NamedValue) (*rows, error) {
	if len(args) > 0 {
		return nil, errParameters
	}
	body, err := c.program.Send(ctx, "sql", struct {
		Statement string `json:"statement"`
	}{statement})
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w; to ask a PostgreSQL server, use the address postgres://%s", err,
			c.program.Address())
	}
	if err != nil {
		return nil, withStatement(err, statement)
	}
	return begin(ctx, c.program.Address(), statement, body)
}

// statementError is an error of the inspector, with the statement that the error is about.
type statementError struct {
	inner     *attach.Error
	statement string
}

// withStatement adds the statement to an error that has a position in the statement.
func withStatement(err error, statement string) error {
	if e, ok := errors.AsType[*attach.Error](err); ok && e.Position >= 0 {
		return &statementError{e, statement}
	}
	return err
}

func (e *statementError) Error() string { return e.inner.Error() }

func (e *statementError) Unwrap() error { return e.inner }

// SQL returns the end of the statement, from the position of the error, like the errors of SQLite's driver.
func (e *statementError) SQL() string {
	characters := []rune(e.statement)
	return string(characters[min(e.inner.Position, len(characters)):])
}
