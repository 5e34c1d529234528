package vastsql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/vastgo/vast/internal/sqlnote"
)

// stmt is a statement that SQLite has prepared in one form or in two.
type stmt struct {
	conn  *conn
	text  string
	plain *prepared // the statement as it was written; if there is fast, nil until plain is needed
	fast  *prepared // the statement with aggregates of this package; nil if it cannot use them
}

// prepared is one form of a statement.
type prepared struct {
	driver.Stmt
	needs      map[*table]need
	conditions int
	point      bool
}

// PrepareContext prepares a statement. If the statement names an unknown table, new columns of the world get
// their tables first.
func (c *conn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	if rest, tick, ok, err := cutAsOf(text); err != nil {
		return nil, err
	} else if ok {
		s, err := c.session.reader.past.prepare(ctx, rest, ofTick(tick))
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	s, err := c.prepare(ctx, text)
	if err != nil && strings.Contains(err.Error(), "no such table") {
		if err := c.session.refresh(ctx, c.inner.Raw()); err != nil {
			return nil, err
		}
		s, err = c.prepare(ctx, text)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (c *conn) prepare(ctx context.Context, text string) (s *stmt, err error) {
	s = &stmt{conn: c, text: text}
	r := rewrite(text, c.session.schema)
	if r.text != "" {
		if s.fast, err = c.prepareInner(ctx, r.text, r); err == nil {
			return s, nil
		}
		s.fast = nil // for example, SQLite did not pass all conditions to the table
	}
	s.plain, err = c.prepareInner(ctx, text, r)
	return s, err
}

func (c *conn) prepareInner(ctx context.Context, text string, r rewritten) (*prepared, error) {
	c.session.needs, c.session.conditions, c.session.ctx = nil, r.conditions, ctx
	var inner driver.Stmt
	err := c.within(func() (err error) {
		inner, err = c.inner.PrepareContext(ctx, text)
		return err
	})
	if err != nil {
		return nil, err
	}
	p := &prepared{inner, c.session.needs, r.conditions, r.point}
	// For a text without a statement, SQLite's driver returns a statement that must not be used.
	if defect := emptiness(p); defect != nil {
		return nil, defect
	}
	return p, nil
}

func emptiness(p *prepared) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("vastsql: the text has no statement")
		}
	}()
	p.NumInput()
	return nil
}

// NumInput returns the number of parameters.
func (s *stmt) NumInput() int {
	if s.fast != nil {
		return s.fast.NumInput()
	}
	return s.plain.NumInput()
}

// CheckNamedValue converts an argument.
func (s *stmt) CheckNamedValue(arg *driver.NamedValue) error {
	p := s.fast
	if p == nil {
		p = s.plain
	}
	return p.Stmt.(driver.NamedValueChecker).CheckNamedValue(arg)
}

// Close closes the statement.
func (s *stmt) Close() (err error) {
	for _, p := range []*prepared{s.plain, s.fast} {
		if p != nil {
			err = errors.Join(err, s.conn.within(p.Close))
		}
	}
	return err
}

// choose returns the form of the statement for the arguments. The aggregates of this package compare fields
// with numbers only.
func (s *stmt) choose(ctx context.Context, args []driver.NamedValue) (p *prepared, err error) {
	if s.fast != nil {
		for _, a := range args {
			switch a.Value.(type) {
			case int, int64, bool:
				continue
			case float64:
				if v := a.Value.(float64); v == v { // SQLite takes NaN for NULL
					continue
				}
			}
			if s.plain == nil {
				if s.plain, err = s.conn.prepareInner(ctx, s.text, rewritten{}); err != nil {
					return nil, err
				}
			}
			return s.plain, nil
		}
		return s.fast, nil
	}
	return s.plain, nil
}

// Exec returns an error: database/sql calls ExecContext instead.
func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }

// Query returns an error: database/sql calls QueryContext instead.
func (s *stmt) Query([]driver.Value) (driver.Rows, error) { return nil, driver.ErrSkip }

// ExecContext runs a statement and ignores its rows.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	r, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	for err = r.(*rows).Next(make([]driver.Value, len(r.Columns()))); err == nil; {
		err = r.(*rows).Next(make([]driver.Value, len(r.Columns())))
	}
	if closing := r.Close(); err == io.EOF {
		err = closing
	}
	return driver.RowsAffected(0), err
}

// QueryContext starts a statement. The world is read when the first row is asked for.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	p, err := s.choose(ctx, args)
	if err != nil {
		return nil, err
	}
	r := s.conn.session.reader
	inside, cancel := context.WithTimeoutCause(ctx, r.o.MaxTime, r.tooLong)
	var inner driver.Rows
	err = s.conn.within(func() (err error) {
		inner, err = p.Stmt.(driver.StmtQueryContext).QueryContext(inside, args)
		return err
	})
	if err != nil {
		cancel()
		return nil, err
	}
	return &rows{columnTypes: inner.(columnTypes), statement: s, args: args, conn: s.conn, prepared: p,
		ctx: inside, cancel: cancel}, nil
}

// columnTypes has the methods that the rows of SQLite's driver have.
type columnTypes interface {
	driver.Rows
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypeScanType
}

type rows struct {
	columnTypes
	statement *stmt
	args      []driver.NamedValue
	conn      *conn
	prepared  *prepared
	ctx       context.Context
	cancel    context.CancelFunc
	moment    *moment
	n         int         // rows so far
	instead   *storedStmt // the statement about a checkpoint that columnTypes belongs to, or nil
}

// Next reads the next row.
func (r *rows) Next(dest []driver.Value) error {
	if r.instead != nil {
		return r.columnTypes.Next(dest)
	}
	s, p := r.conn.session, r.prepared
	s.ctx, s.needs, s.conditions, s.point, s.moment = r.ctx, p.needs, p.conditions, p.point, r.moment
	s.err = nil
	err := r.conn.within(func() error { return r.columnTypes.Next(dest) })
	p.needs = s.needs // SQLite may have prepared the statement again
	r.moment = s.moment
	if err == nil {
		if r.n++; r.n > s.reader.o.MaxRows {
			return &LimitError{"MaxRows", fmt.Sprintf("the statement has more than %d rows: use LIMIT, or "+
				"raise the limit", s.reader.o.MaxRows)}
		}
		return nil
	}
	var limit *LimitError
	if errors.As(err, &limit) {
		return err
	}
	if s.err != nil {
		err = s.err
	}
	if errors.As(err, &limit) && r.n == 0 && s.reader.past.dir != "" &&
		(limit.Option == "MaxCopyBytes" || limit.Option == "MaxPause") {
		return r.readStored(dest, limit)
	}
	if ended := r.ctx.Err(); ended != nil && (errors.Is(err, sqlite3.INTERRUPT) || errors.Is(err, ended)) {
		return context.Cause(r.ctx)
	}
	return err
}

// readStored reads the first row from the newest checkpoint, because the world's columns reach a limit.
func (r *rows) readStored(dest []driver.Value, limit *LimitError) error {
	s, err := r.conn.session.reader.past.prepare(r.ctx, r.statement.text, newest)
	if err != nil {
		return fmt.Errorf("%w (the newest checkpoint does not help: %w)", limit, err)
	}
	inner, err := s.QueryContext(r.ctx, r.args)
	if err != nil {
		return errors.Join(fmt.Errorf("%w (the newest checkpoint does not help: %w)", limit, err), s.Close())
	}
	_ = r.conn.within(r.columnTypes.Close) // SQLite returns the error of the limit again
	r.columnTypes, r.instead = inner.(columnTypes), s
	r.Columns() // the driver's Next needs an earlier call
	sqlnote.Send(r.ctx, fmt.Sprintf("the rows are those of tick %d, from a checkpoint, because of "+
		"vastsql.Options.%s", s.tick, limit.Option))
	return r.columnTypes.Next(dest)
}

// Close ends the statement and gives back the memory of its copies.
func (r *rows) Close() error {
	if r.instead != nil {
		err := errors.Join(r.columnTypes.Close(), r.instead.Close())
		r.cancel()
		return err
	}
	err := r.conn.within(r.columnTypes.Close)
	r.cancel()
	if r.moment != nil {
		r.conn.session.moment = nil
		r.moment.lease.release()
		r.moment = nil
	}
	return err
}
