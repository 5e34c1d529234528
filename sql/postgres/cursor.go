package postgres

import (
	"context"
	"database/sql"
	"io"
	"strings"
	"time"
)

// A column is a column of a result.
type column struct {
	name      string
	oid       oid
	timeOfDay bool // the declared type is TIME
}

// A cursor is the result of a query, or rows in memory. The result of a query may hold a connection to SQLite
// until close.
type cursor struct {
	columns []column
	fixed   [][]any // the rows in memory

	ctx     context.Context
	cancel  context.CancelCauseFunc
	rows    *sql.Rows
	release func()
	values  []any
	fields  []any // pointers to values
	peeked  bool  // values holds a row that next has not returned
	ended   bool
}

// fixedCursor returns a cursor over rows in memory.
func fixedCursor(columns []column, rows [][]any) *cursor {
	return &cursor{columns: columns, fixed: rows, ended: true}
}

// source says where a statement runs.
type source struct {
	db      *sql.DB
	text    string // for SQLite
	columns columnTypes

	columnsOf func(table string) []string // the names of a table's columns

	release func() // releases the catalog; nil for the user's database
}

// columnName returns the name of a column. SQLite names a column after the text of its expression. If this
// text was translated, the client does not know it.
func (s source) columnName(name string, item []token) string {
	translated := s.release != nil // statements for the catalog are translated
	for _, t := range item {
		translated = translated || t.is("::") || t.kind == tokenParam
	}
	if translated && len(item) > 0 {
		if better := columnName(item); better != "" {
			return better
		}
	}
	return name
}

// openCursor starts a query. original is the text of the client. A column has the type that SQLite declares
// or that the text tells, otherwise oidUnspecified. SQLite computes no row yet. The cursor's method close
// calls cancel and releases the source. If openCursor fails, openCursor itself does both.
func openCursor(ctx context.Context, cancel context.CancelCauseFunc, from source, original string,
	arguments []any,
) (*cursor, error) {
	c := &cursor{ctx: ctx, cancel: cancel, release: from.release}
	var err error
	if c.rows, err = from.db.QueryContext(ctx, from.text, arguments...); err != nil {
		return nil, c.abandon(err)
	}
	types, err := c.rows.ColumnTypes()
	if err != nil {
		return nil, c.abandon(err)
	}
	items := columnItems(original, len(types))
	inferred := inferColumns(items, from.columns)
	for i, t := range types {
		o := ofDeclared(t.DatabaseTypeName())
		if o == oidUnspecified {
			o = inferred[i]
		}
		c.columns = append(c.columns, column{
			name: from.columnName(t.Name(), items[i]), oid: o,
			timeOfDay: strings.EqualFold(t.DatabaseTypeName(), "TIME"),
		})
	}
	c.values, c.fields = make([]any, len(types)), make([]any, len(types))
	for i := range c.values {
		c.fields[i] = &c.values[i]
	}
	return c, nil
}

// abandon closes c and returns the error for the client. It calls failureOf before close: close ends the
// context, and after that failureOf takes each error without an SQLSTATE for a cancellation.
func (c *cursor) abandon(err error) error {
	f := failureOf(c.ctx, err)
	c.close()
	return f
}

// describe gives a type to columns that have none: the type of the first row's value, or text.
func (c *cursor) describe() error {
	unknown := false
	for i := range c.columns {
		unknown = unknown || c.columns[i].oid == oidUnspecified
	}
	if !unknown {
		return nil
	}
	if c.rows != nil && !c.peeked {
		if err := c.step(); err != nil && err != io.EOF {
			return err
		}
		c.peeked = !c.ended
	}
	for i := range c.columns {
		if c.columns[i].oid != oidUnspecified {
			continue
		}
		c.columns[i].oid = oidText
		if c.peeked {
			if o := ofValue(c.values[i]); o != oidUnspecified {
				c.columns[i].oid = o
			}
		}
	}
	return nil
}

// step reads a row into values.
func (c *cursor) step() error {
	if c.ended {
		return io.EOF
	}
	if !c.rows.Next() {
		c.ended = true
		if err := c.rows.Err(); err != nil {
			return failureOf(c.ctx, err)
		}
		return io.EOF
	}
	if err := c.rows.Scan(c.fields...); err != nil {
		return failureOf(c.ctx, err)
	}
	for i := range c.columns {
		if v, ok := c.values[i].(time.Time); ok && c.columns[i].timeOfDay {
			c.values[i] = timeText(v)
		}
	}
	return nil
}

// timeText returns the text of a value of a column TIME. The driver gives the date 2000-01-01 to a value
// without a date.
func timeText(v time.Time) string {
	if v.Format(time.DateOnly) == "2000-01-01" {
		return strings.TrimSuffix(v.Format("15:04:05.999999999Z07:00"), "Z")
	}
	return v.Format(time.RFC3339Nano)
}

// next returns a row, which is valid until the next call, or io.EOF.
func (c *cursor) next() ([]any, error) {
	if len(c.fixed) > 0 {
		row := c.fixed[0]
		c.fixed = c.fixed[1:]
		return row, nil
	}
	if c.peeked {
		c.peeked = false
		return c.values, nil
	}
	if err := c.step(); err != nil {
		return nil, err
	}
	return c.values, nil
}

// close ends the query.
func (c *cursor) close() {
	c.ended, c.peeked, c.fixed = true, false, nil
	if c.rows != nil {
		c.rows.Close()
	}
	if c.cancel != nil {
		c.cancel(nil)
	}
	if c.release != nil {
		c.release()
	}
}
