package inspect

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/vastgo/vast/internal/sqlnote"
)

// scripted is a driver of database/sql with fixed answers.
type scripted struct {
	mu      sync.Mutex
	answers map[string]scriptedAnswer // by statement
	ran     []string                  // statements in the order of their start
	args    []any                     // of the last statement that has run
	closed  int                       // number of results that were closed
}

type scriptedAnswer func(ctx context.Context) (*scriptedRows, error)

// scriptedRows is the result of a statement. next returns the next row, or io.EOF.
type scriptedRows struct {
	db    *scripted
	names []string
	types []string
	next  func() ([]driver.Value, error)
}

func newScripted(t testing.TB) (*scripted, *sql.DB) {
	s := &scripted{answers: make(map[string]scriptedAnswer)}
	s.answer(columnsStatement, []string{"name", "name", "type"},
		[]driver.Value{"person", "entity", "INTEGER"}, []driver.Value{"person", "x", "REAL"},
		[]driver.Value{"person", "name", "TEXT"},
		[]driver.Value{"town", "entity", "INTEGER"}, []driver.Value{"town", "size", "INTEGER"})
	s.answer(functionsStatement, []string{"name"}, []driver.Value{"abs"}, []driver.Value{"sum"})
	db := sql.OpenDB(s)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, db
}

// set scripts a statement.
func (s *scripted) set(statement string, answer scriptedAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[statement] = answer
}

// answer scripts a statement with fixed rows.
func (s *scripted) answer(statement string, names []string, rows ...[]driver.Value) {
	s.set(statement, func(context.Context) (*scriptedRows, error) {
		left := rows
		return &scriptedRows{names: names, next: func() ([]driver.Value, error) {
			if len(left) == 0 {
				return nil, io.EOF
			}
			row := left[0]
			left = left[1:]
			return row, nil
		}}, nil
	})
}

// count scripts a statement that sends the note "counted", returns the numbers from 1 to n as rows, and ends
// with the error.
func (s *scripted) count(statement string, n int64, err error) {
	s.set(statement, func(ctx context.Context) (*scriptedRows, error) {
		sqlnote.Send(ctx, "counted")
		i := int64(0)
		return &scriptedRows{names: []string{"n"}, types: []string{"INTEGER"},
			next: func() ([]driver.Value, error) {
				if i++; i > n {
					return nil, err
				}
				return []driver.Value{i}, nil
			}}, nil
	})
}

// wait scripts a statement that has one row and then waits until its context ends. The statement closes the
// channel waits before it waits.
func (s *scripted) wait(statement string) (waits chan struct{}) {
	waits = make(chan struct{})
	s.set(statement, func(ctx context.Context) (*scriptedRows, error) {
		first := true
		return &scriptedRows{names: []string{"n"}, next: func() ([]driver.Value, error) {
			if first {
				first = false
				return []driver.Value{int64(1)}, nil
			}
			close(waits)
			<-ctx.Done()
			return nil, ctx.Err()
		}}, nil
	})
	return waits
}

// misplaced is an error like those of SQLite: the method SQL returns the statement from the wrong word on.
type misplaced struct{ rest string }

func (e misplaced) Error() string { return "no such column: " + e.rest }
func (e misplaced) SQL() string   { return e.rest }

func (s *scripted) hasRun(statement string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.ran, statement)
}

// open returns the number of results that are not closed.
func (s *scripted) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ran) - s.closed
}

// Connect implements driver.Connector.
func (s *scripted) Connect(context.Context) (driver.Conn, error) { return scriptedConn{s}, nil }

// Driver implements driver.Connector.
func (s *scripted) Driver() driver.Driver { return nil }

type scriptedConn struct{ db *scripted }

func (scriptedConn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("use QueryContext") }
func (scriptedConn) Begin() (driver.Tx, error)           { return nil, errors.New("no transactions") }
func (scriptedConn) Close() error                        { return nil }

// QueryContext implements driver.QueryerContext.
func (c scriptedConn) QueryContext(ctx context.Context, statement string, args []driver.NamedValue) (
	driver.Rows, error) {
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	answer := c.db.answers[statement]
	if answer == nil {
		return nil, fmt.Errorf("the test has no answer to %q", statement)
	}
	rows, err := answer(ctx)
	if err != nil {
		return nil, err
	}
	rows.db = c.db
	c.db.ran, c.db.args = append(c.db.ran, statement), nil
	for _, arg := range args {
		c.db.args = append(c.db.args, arg.Value)
	}
	return rows, nil
}

// ExecContext implements driver.ExecerContext. The number of changed rows is the number of rows of
// the answer.
func (c scriptedConn) ExecContext(ctx context.Context, statement string, args []driver.NamedValue) (
	driver.Result, error) {
	rows, err := c.QueryContext(ctx, statement, args)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	n := int64(0)
	for ; err == nil; n++ {
		err = rows.Next(nil)
	}
	if err != io.EOF {
		return nil, err
	}
	return driver.RowsAffected(n - 1), nil
}

// Columns implements driver.Rows.
func (r *scriptedRows) Columns() []string { return r.names }

// ColumnTypeDatabaseTypeName implements driver.RowsColumnTypeDatabaseTypeName.
func (r *scriptedRows) ColumnTypeDatabaseTypeName(i int) string {
	if i < len(r.types) {
		return r.types[i]
	}
	return ""
}

// Next implements driver.Rows.
func (r *scriptedRows) Next(into []driver.Value) error {
	row, err := r.next()
	copy(into, row)
	return err
}

// Close implements driver.Rows.
func (r *scriptedRows) Close() error {
	r.db.mu.Lock()
	defer r.db.mu.Unlock()
	r.db.closed++
	return nil
}
