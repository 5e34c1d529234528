package vastsql

import (
	"reflect"
	"strings"
	"unsafe"

	"github.com/rqlite/sql"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// The parts of a table of edges.
const (
	partSource = iota
	partTarget
	partValue
)

// newEdgesTable makes the table of the edges whose column of sources is c. It returns nil if c is no column
// of sources of edges.
func newEdgesTable(w *vast.World, c vast.AnyColumn) *table {
	edges, ok := probe.EdgesOf(c)
	if !ok {
		return nil
	}
	t := &table{name: tableName(probe.Describe(c)), column: c, query: probe.All(w.Query(c)), edges: &edges}
	t.fields = []field{{name: "source", kind: kindEntity, part: partSource},
		{name: "target", kind: kindEntity, part: partTarget}}
	typ := edges.Type()
	if typ.Size() > 0 {
		for _, f := range fieldsOf(layoutOf(typ)) {
			f.part = partValue
			t.fields = append(t.fields, f)
		}
	}
	t.makeNamesUnique()
	end := part{size: int(entityType.Size()), info: probe.ColumnInfo{Type: entityType}}
	info := probe.Describe(c)
	t.parts = []part{end, end, {column: c, size: int(typ.Size()),
		info: probe.ColumnInfo{ID: info.ID, Name: info.Name, Type: typ}}}
	return t
}

// keys returns the fields that identify the row of a statement in addition to the entity. In an UPDATE or
// DELETE of edges, this is the target. Other statements have no such fields.
func (t *table) keys(v verb) []int {
	if t.edges == nil || v == verbInsert {
		return nil
	}
	return []int{partTarget}
}

// copyEdges returns the image of a table of edges. The rows have the order of the slots of their sources.
func (c *copier) copyEdges(t *table, n need) (*image, error) {
	rows, err := c.countEdges(t)
	if err != nil {
		return nil, err
	}
	m, err := c.newEdges(t, n, rows, rows*t.bytesPerRow(n))
	if err != nil || n.parts == 0 {
		return m, err
	}
	row := 0
	for e := range t.query.All() {
		if row, err = c.addEdges(m, row, e, true); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// countEdges returns the number of edges.
func (c *copier) countEdges(t *table) (rows int, err error) {
	sources := 0
	for e := range t.query.All() {
		if sources%256 == 0 {
			if err := c.checkPause(t); err != nil {
				return 0, err
			}
		}
		rows += t.edges.CountTargets(e)
		sources++
	}
	return rows, nil
}

// copyEdgesOf returns the image of the edges of an entity. If column is the column of sources, the image has
// the edges out of the entity. Otherwise the image has the edges into the entity.
func (c *copier) copyEdgesOf(t *table, column int, id int64) (*image, error) {
	e := vast.EntityOf(uint64(id))
	out := column == partSource
	rows := 0
	if out {
		rows = t.edges.CountTargets(e)
	} else {
		rows = t.edges.CountSources(e)
	}
	all := need{parts: 1 << 63}
	m, err := c.newEdges(t, all, rows, rows*t.bytesPerRow(all))
	if err == nil {
		_, err = c.addEdges(m, 0, e, out)
	}
	return m, err
}

// newEdges returns an image with memory for rows. bytes is the size of all rows together.
func (c *copier) newEdges(t *table, n need, rows, bytes int) (*image, error) {
	if err := c.spend(bytes); err != nil {
		return nil, err
	}
	m := &image{table: t, rows: rows, bases: make([]base, len(t.parts))}
	for i, p := range t.parts {
		if n.has(i) && p.size > 0 {
			m.bases[i] = base{first: c.buffers.take(rows * p.size), size: uintptr(p.size)}
		}
	}
	return m, nil
}

// addEdges fills the rows from row on with the edges out of e if out is set, and with the edges into e
// otherwise. It returns the row after the last one.
func (c *copier) addEdges(m *image, row int, e vast.Entity, out bool) (next int, err error) {
	others := m.table.edges.Sources
	endOfE, endOfOther := &m.bases[partTarget], &m.bases[partSource]
	if out {
		others, endOfE, endOfOther = m.table.edges.Targets, endOfOther, endOfE
	}
	typ := m.table.parts[partValue].info.Type
	for other, v := range others(e) {
		if row%256 == 0 {
			if err := c.checkPause(m.table); err != nil {
				return 0, err
			}
		}
		endOfE.putEntity(row, e)
		endOfOther.putEntity(row, other)
		if b := &m.bases[partValue]; b.first != nil {
			// Sound because the base has room for a value in each row, and because values of edges contain no
			// Go pointers.
			reflect.NewAt(typ, unsafe.Add(b.first, uintptr(row)*b.size)).Elem().Set(v)
		}
		row++
	}
	return row, nil
}

// putEntity writes an entity into a row, if the statement uses the part.
func (b *base) putEntity(row int, e vast.Entity) {
	if b.first != nil {
		*(*vast.Entity)(unsafe.Add(b.first, uintptr(row)*b.size)) = e
	}
}

// looksUpEdges reports whether a statement is a SELECT over one table of edges that reads only the edges out
// of one entity, or only the edges into one entity. The world finds these edges without reading others. q is
// the statement, or nil if the statement is not a single SELECT.
func looksUpEdges(q *sql.SelectStatement, s *schema) bool {
	if q == nil || q.ValueLists != nil {
		return false
	}
	from, ok := q.Source.(*sql.QualifiedTableName)
	if !ok || from.Schema != nil {
		return false
	}
	t := s.find(from.Name.Name)
	return t != nil && t.edges != nil && s.temp[strings.ToLower(t.name)] == nil && fixesEnd(q.WhereExpr)
}

// fixesEnd reports whether an expression consists of comparisons of columns with constants, which AND joins.
// One of the comparisons must be source = constant or target = constant.
func fixesEnd(x sql.Expr) bool {
	fixed := false
	var simple func(x sql.Expr) bool
	simple = func(x sql.Expr) bool {
		switch x := x.(type) {
		case *sql.ParenExpr:
			return simple(x.X)
		case *sql.BinaryExpr:
			switch x.Op {
			case sql.AND:
				return simple(x.X) && simple(x.Y)
			case sql.EQ, sql.NE, sql.LT, sql.LE, sql.GT, sql.GE:
				column, other := x.X, x.Y
				if constant(column) {
					column, other = other, column
				}
				name, ok := referredColumn(column)
				fixed = fixed || x.Op == sql.EQ && (name == "source" || name == "target")
				return ok && constant(other)
			}
		}
		return false
	}
	return simple(x) && fixed
}

// referredColumn returns the column name, in lower case, if an expression is just a column.
func referredColumn(x sql.Expr) (name string, ok bool) {
	switch x := x.(type) {
	case *sql.Ident:
		return strings.ToLower(x.Name), true
	case *sql.QualifiedRef:
		if x.Column != nil {
			return strings.ToLower(x.Column.Name), true
		}
	}
	return "", false
}
