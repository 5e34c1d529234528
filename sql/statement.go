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

// stmt is a prepared statement.
type stmt struct {
	*prepared
	conn *conn
	text string
	busy bool // rows of prepared are open
}

// prepared is a statement that SQLite has prepared.
type prepared struct {
	driver.Stmt
	needs  map[*table]need
	point  bool    // whether the statement reads the row of one entity only
	write  *write  // nil for a statement that only reads
	lookup *lookup // nil if SQLite computes the rows
}

// PrepareContext prepares a statement. A statement that ends in AS OF TICK n reads a checkpoint. If any other
// statement names an unknown table, PrepareContext makes tables for new columns of the world and tries again.
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
		refresh := func() error { return c.session.refresh(ctx, c.inner.Raw()) }
		if err := c.within(refresh); err != nil {
			return nil, err
		}
		s, err = c.prepare(ctx, text)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (c *conn) prepare(ctx context.Context, text string) (*stmt, error) {
	p, err := c.prepareRewritten(ctx, text)
	if err != nil {
		return nil, err
	}
	return &stmt{prepared: p, conn: c, text: text}, nil
}

// maxMisfits limits how often a statement is prepared again.
const maxMisfits = 8

// prepareRewritten prepares a statement with the aggregates of this package. If SQLite does not pass all
// conditions of a SELECT to the SELECT's table of aggregates, prepareRewritten restores the original text of
// this SELECT.
func (c *conn) prepareRewritten(ctx context.Context, text string) (*prepared, error) {
	r := rewrite(text, c.session.schema)
	point := r.point || looksUpEdges(r.single, c.session.schema)
	for range maxMisfits {
		if len(r.selects) == 0 {
			break
		}
		c.session.misfit = 0
		p, err := c.prepareInner(ctx, r.apply(), point)
		if err == nil {
			return p, nil
		}
		if c.broken {
			return nil, err
		}
		if !r.drop(c.session.misfit) {
			break // the statement has an error
		}
	}
	p, err := c.prepareInner(ctx, text, point)
	if err == nil {
		p.lookup = lookupOf(r.single, c.session.schema, p)
	}
	return p, err
}

func (c *conn) prepareInner(ctx context.Context, text string, point bool) (*prepared, error) {
	c.session.needs, c.session.ctx = nil, ctx
	c.session.text = text
	c.session.write, c.session.dropped, c.session.err = nil, "", nil
	var inner driver.Stmt
	err := c.within(func() (err error) {
		inner, err = c.inner.PrepareContext(ctx, text)
		return err
	})
	if c.session.err != nil {
		return nil, c.session.err
	}
	if err != nil {
		return nil, interrupted(ctx, err)
	}
	p := &prepared{Stmt: inner, needs: c.session.needs, point: point, write: c.session.write}
	if err := checkNotEmpty(p); err != nil {
		return nil, err
	}
	if p.write != nil {
		if err := c.within(func() error { return p.prepareWrite(text) }); err != nil {
			return nil, errors.Join(err, c.within(p.Close))
		}
	}
	return p, nil
}

// checkNotEmpty returns an error if SQLite's driver found no statement in the text. The methods of the
// driver's statement then panic.
func checkNotEmpty(p *prepared) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("vastsql: the text has no statement")
		}
	}()
	p.NumInput()
	return nil
}

// CheckNamedValue converts an argument.
func (s *stmt) CheckNamedValue(arg *driver.NamedValue) error {
	return s.Stmt.(driver.NamedValueChecker).CheckNamedValue(arg)
}

// Close closes the statement.
func (s *stmt) Close() error { return s.conn.within(s.prepared.Close) }

// Exec returns an error: database/sql calls ExecContext instead.
func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }

// Query returns an error: database/sql calls QueryContext instead.
func (s *stmt) Query([]driver.Value) (driver.Rows, error) { return nil, driver.ErrSkip }

// ExecContext runs a statement and ignores its rows.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	r, err := s.query(ctx, args)
	if err != nil {
		return nil, err
	}
	for err = r.Next(make([]driver.Value, len(r.Columns()))); err == nil; {
		err = r.Next(make([]driver.Value, len(r.Columns())))
	}
	if closing := r.Close(); err == io.EOF {
		err = closing
	}
	if err != nil {
		return nil, err
	}
	return r.result(), nil
}

// QueryContext starts a statement. A lookup reads the world at once. Other statements read the world when the
// caller asks for the first row.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if r, err := s.lookUp(ctx, args); r != nil || err != nil {
		return r, err
	}
	r, err := s.query(ctx, args)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// query starts a statement in SQLite. If rows of an earlier execution are still open, query prepares the
// statement again, because SQLite runs only one execution of a prepared statement at a time.
func (s *stmt) query(ctx context.Context, args []driver.NamedValue) (*rows, error) {
	if s.busy {
		other, err := s.conn.prepare(ctx, s.text)
		if err != nil {
			return nil, err
		}
		r, err := other.query(ctx, args)
		if err != nil {
			return nil, errors.Join(err, other.Close())
		}
		r.closes = true
		return r, nil
	}
	r := s.conn.session.reader
	inside, cancel := context.WithTimeoutCause(ctx, r.o.MaxTime, r.tooLong)
	var inner driver.Rows
	err := s.conn.within(func() (err error) {
		inner, err = s.Stmt.(driver.StmtQueryContext).QueryContext(inside, args)
		return err
	})
	if err != nil {
		cancel()
		return nil, err
	}
	s.busy = true
	return &rows{columnTypes: inner.(columnTypes), statement: s, args: args, conn: s.conn, ctx: inside,
		cancel: cancel}, nil
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
	closes    bool // whether Close closes the statement
	conn      *conn
	ctx       context.Context
	cancel    context.CancelFunc
	moment    *moment
	n         int         // number of rows that Next has returned
	instead   *storedStmt // the statement on a checkpoint whose rows columnTypes reads, or nil
	ran       bool        // whether the statement has written its rows
	written   []uint64    // the IDs of the entities of the written rows
}

// Next reads the next row.
func (r *rows) Next(dest []driver.Value) error {
	if r.instead != nil {
		return r.columnTypes.Next(dest)
	}
	s := r.conn.session
	if w := r.statement.prepared.write; w != nil && !w.explained {
		return r.nextWritten(dest)
	}
	err := r.step(dest)
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
	if errors.As(err, &limit) && r.n == 0 && s.reader.past.dir != "" && !s.reader.stored() &&
		(limit.Option == "MaxCopyBytes" || limit.Option == "MaxPause") {
		return r.readStored(dest, limit)
	}
	return interrupted(r.ctx, err)
}

// step makes SQLite compute the next row.
func (r *rows) step(dest []driver.Value) error {
	s, p := r.conn.session, r.statement.prepared
	s.ctx, s.needs, s.point, s.moment = r.ctx, p.needs, p.point, r.moment
	s.err, s.write = nil, p.write
	err := r.conn.within(func() error { return r.columnTypes.Next(dest) })
	p.needs = s.needs // SQLite may have prepared the statement again
	r.moment = s.moment
	if errors.Is(err, sqlite3.FULL) {
		return tooMuchMemory(s.reader.o)
	}
	return err
}

// interrupted returns the cause of the context's end if err is a consequence of this end, and err otherwise.
func interrupted(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil && (errors.Is(err, sqlite3.INTERRUPT) || errors.Is(err, ended)) {
		return context.Cause(ctx)
	}
	return err
}

// readStored reads the first row from the newest checkpoint, because a copy of the world's columns exceeds
// limit.
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
	r.Columns() // the driver's Next needs a call of Columns before it
	sqlnote.Send(r.ctx, fmt.Sprintf("the rows are those of tick %d, from a checkpoint, because of "+
		"vastsql.Options.%s", s.tick, limit.Option))
	return r.columnTypes.Next(dest)
}

// Close ends the statement and releases the memory of its copies.
func (r *rows) Close() (err error) {
	if r.instead != nil {
		err = errors.Join(r.columnTypes.Close(), r.instead.Close())
	} else {
		err = r.conn.within(r.columnTypes.Close)
	}
	r.cancel()
	if r.moment != nil {
		r.conn.session.moment = nil
		r.moment.lease.release()
		r.moment = nil
	}
	r.statement.busy = false
	if r.closes {
		err = errors.Join(err, r.statement.Close())
	}
	return err
}
