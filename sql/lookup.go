package vastsql

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/rqlite/sql"
	"github.com/vastgo/vast"
)

// lookup is a SELECT of fields of one entity, such as SELECT x, y FROM position WHERE entity = ?. SQLite
// prepares the statement, and this package computes the row.
type lookup struct {
	table  *table
	fields []int
	need   need
	names  []string // of the columns of the result
}

// lookupOf returns the lookup that replaces a statement, or nil if SQLite must compute the rows. q is the
// statement, or nil if the statement is not a single SELECT. p is the prepared statement.
func lookupOf(q *sql.SelectStatement, s *schema, p *prepared) *lookup {
	if q == nil || !p.point {
		return nil
	}
	named, ok := p.Stmt.(interface {
		ColumnCount() int
		ColumnName(int) string
	})
	if !ok {
		return nil
	}
	if q.Distinct.IsValid() || q.GroupByExprs != nil || q.HavingExpr != nil ||
		q.Windows != nil || q.OrderingTerms != nil || q.LimitExpr != nil || q.OffsetExpr != nil {
		return nil
	}
	from, ok := q.Source.(*sql.QualifiedTableName)
	if !ok {
		return nil
	}
	l := &lookup{table: s.find(from.Name.Name)}
	if l.table == nil || len(l.table.parts) == 0 || l.table.edges != nil || l.table.list != nil {
		return nil
	}
	column := func(x sql.Expr) int {
		name := ""
		switch x := x.(type) {
		case *sql.Ident:
			name = x.Name
		case *sql.QualifiedRef:
			if x.Column != nil && sameName(x.Table.Name, from.TableName()) {
				name = x.Column.Name
			}
		}
		return slices.IndexFunc(l.table.fields, func(f field) bool { return sameName(f.name, name) })
	}
	where, ok := q.WhereExpr.(*sql.BinaryExpr)
	if !ok || where.Op != sql.EQ || column(where.X) != 0 {
		return nil
	}
	if b, ok := where.Y.(*sql.BindExpr); !ok || b.Name != "?" && b.Name != "?1" {
		return nil
	}
	for _, c := range q.Columns {
		i := column(c.Expr)
		if i < 0 || l.table.fields[i].computed != nil || l.table.fields[i].kind == kindTime {
			return nil
		}
		l.fields = append(l.fields, i)
		l.need.add(l.table.uses(i))
	}
	for i := range named.ColumnCount() {
		l.names = append(l.names, named.ColumnName(i))
	}
	if len(l.names) != len(l.fields) {
		return nil
	}
	return l
}

// lookUp returns the rows of a statement that is a lookup. lookUp returns nil if SQLite must compute the
// rows: if the statement is no lookup, or if the arguments are not one int64.
func (s *stmt) lookUp(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	l := s.lookup
	if l == nil || len(args) != 1 {
		return nil, nil
	}
	id, ok := args[0].Value.(int64)
	if !ok {
		return nil, nil
	}
	r := s.conn.session.reader
	until := &deadline{Context: ctx, at: time.Now().Add(r.o.MaxTime)}
	defer until.stop()
	var m *moment
	err := s.conn.within(func() (err error) {
		m, err = r.takeOne(until, l.table, 0, id, l.need)
		return err
	})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, interrupted(ctx, err)
	case errors.Is(err, context.DeadlineExceeded):
		return nil, r.tooLong
	default:
		return nil, err
	}
	m.lease.release() // the image of one row has no buffers
	return &lookupRows{lookup: l, image: m.one}, nil
}

// lookupRows is the result of a lookup: one row or no row.
type lookupRows struct {
	lookup *lookup
	image  *image
	read   bool
}

// Columns returns the names of the columns.
func (r *lookupRows) Columns() []string { return r.lookup.names }

// Next reads the row.
func (r *lookupRows) Next(dest []driver.Value) error {
	if r.read || r.image.rows == 0 {
		return io.EOF
	}
	r.read = true
	for i, f := range r.lookup.fields {
		dest[i] = r.image.value(f)
	}
	return nil
}

// Close does nothing.
func (r *lookupRows) Close() error { return nil }

// ColumnTypeDatabaseTypeName returns the SQL type of a column.
func (r *lookupRows) ColumnTypeDatabaseTypeName(i int) string { return r.lookup.kind(i).decl() }

// ColumnTypeNullable returns true, because no table declares a column as NOT NULL.
func (r *lookupRows) ColumnTypeNullable(int) (nullable, ok bool) { return true, true }

// ColumnTypeScanType returns the Go type of a column.
func (r *lookupRows) ColumnTypeScanType(i int) reflect.Type {
	switch r.lookup.kind(i).decl() {
	case "BOOLEAN":
		return reflect.TypeFor[bool]()
	case "TEXT":
		return reflect.TypeFor[string]()
	case "BLOB":
		return reflect.TypeFor[[]byte]()
	case "REAL":
		return reflect.TypeFor[float64]()
	}
	return reflect.TypeFor[int64]()
}

func (l *lookup) kind(i int) kind { return l.table.fields[l.fields[i]].kind }

// value returns the value of a column in an image of one row, as SQLite's driver would return it.
func (m *image) value(column int) driver.Value {
	f := &m.table.fields[column]
	if f.part < 0 {
		return m.entity(0, m.slot(0, 0))
	}
	p := m.at(f, 0)
	switch {
	case f.kind == kindBool:
		return *(*bool)(p)
	case f.kind.isInt():
		return f.kind.intAt(p)
	case f.kind.isFloat():
		if v := f.kind.floatAt(p); v == v {
			return v
		}
		return nil // SQLite stores NaN as NULL
	case f.kind == kindUint64:
		if v := *(*uint64)(p); v > math.MaxInt64 {
			return float64(v)
		}
		return *(*int64)(p)
	case f.kind == kindEntity:
		if e := *(*vast.Entity)(p); !e.IsZero() {
			return int64(e.ID())
		}
		return nil
	case f.kind == kindText:
		return *(*string)(p)
	}
	switch text := m.textAt(column, 0); {
	case text == nil:
		return nil
	case f.kind == kindBlob:
		return text
	default:
		return string(text)
	}
}

// deadline is a context that ends at a time. Only Done starts a timer, so a context on which no caller waits
// costs no timer.
type deadline struct {
	context.Context
	at     time.Time
	timed  context.Context // nil before the first call of Done
	cancel context.CancelFunc
}

// Done returns a channel that is closed when the context ends. Calls of Done must not overlap.
func (d *deadline) Done() <-chan struct{} {
	if d.timed == nil {
		d.timed, d.cancel = context.WithDeadline(d.Context, d.at)
	}
	return d.timed.Done()
}

// Err returns why the context has ended, or nil. Before the first call of Done, Err ignores the deadline.
func (d *deadline) Err() error {
	if d.timed != nil {
		return d.timed.Err()
	}
	return d.Context.Err()
}

func (d *deadline) stop() {
	if d.cancel != nil {
		d.cancel()
	}
}
