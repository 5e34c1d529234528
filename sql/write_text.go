package vastsql

import (
	"slices"
	"strings"

	"github.com/rqlite/sql"
)

// read reads from the text of a statement what the authorizer does not report: EXPLAIN, and the columns and
// the RETURNING clause of an INSERT. columns is the number of columns that the statement returns.
func (w *write) read(text string, columns int) error {
	w.text, w.columns = text, columns
	t := &textReader{scanner: sql.NewScanner(strings.NewReader(text))}
	t.next()
	if w.explained = t.token == sql.EXPLAIN; w.explained || w.verb != verbInsert {
		return nil
	}
	for t.token != sql.EOF && (t.depth > 0 || t.token != sql.INTO) {
		t.next() // skip the WITH clause and OR IGNORE
	}
	listed, all, err := t.list()
	if err != nil {
		return err
	}
	for i, f := range w.table.fields {
		at := slices.IndexFunc(listed, func(name string) bool { return strings.EqualFold(name, f.name) })
		if at >= 0 {
			listed = slices.Delete(listed, at, at+1)
		}
		if !w.table.isValue(i) || w.table.isEntities() || !all && at < 0 {
			continue
		}
		if err := w.table.settable(&w.table.fields[i]); err != nil {
			return err
		}
		w.fields = append(w.fields, i)
	}
	if len(listed) > 0 {
		return refuse(codeFixedColumn, "column %s of table %s cannot be set", listed[0], w.table.name)
	}
	if columns == 0 {
		return nil
	}
	w.returns = true
	return t.returning(w.table)
}

// textReader reads the tokens of a statement.
type textReader struct {
	scanner *sql.Scanner
	token   sql.Token
	text    string
	depth   int // number of open parentheses before token
}

func (t *textReader) next() {
	switch t.token {
	case sql.LP:
		t.depth++
	case sql.RP:
		t.depth--
	}
	for {
		if _, t.token, t.text = t.scanner.Scan(); t.token != sql.COMMENT {
			return
		}
	}
}

// list reads the names of the columns that an INSERT sets. all is true if the INSERT lists no columns, and so
// sets all columns. DEFAULT VALUES sets no column: names is then empty, and all is false.
func (t *textReader) list() (names []string, all bool, err error) {
	for t.token != sql.LP {
		switch t.next(); t.token {
		case sql.DEFAULT:
			return nil, false, nil
		case sql.VALUES, sql.SELECT, sql.WITH, sql.EOF:
			return nil, true, nil
		}
	}
	for t.token != sql.RP {
		t.next()
		names = append(names, t.text)
		if t.next(); t.token != sql.COMMA && t.token != sql.RP {
			return nil, false, refuse(codeUnsupported,
				`the columns of the INSERT cannot be read: write x or "x" for each column`)
		}
	}
	return names, false, nil
}

// returning checks that a RETURNING clause names only the first column of a table, which holds the entity.
// SQLite evaluates the clause before the rows are written, so the clause could return wrong values of other
// columns.
func (t *textReader) returning(of *table) error {
	for t.token != sql.EOF && (t.depth > 0 || t.token != sql.RETURNING) {
		t.next()
	}
	var names []string
	for t.next(); t.token != sql.EOF && t.token != sql.SEMI; t.next() {
		switch t.token {
		case sql.DOT:
			names = nil // the name before the dot is the table's
		case sql.AS:
		case sql.IDENT, sql.QIDENT:
			names = append(names, t.text)
		default:
			names = append(names, "", "", "") // more names than a column and its alias: the check below fails
		}
	}
	if len(names) == 0 || len(names) > 2 || !strings.EqualFold(names[0], of.fields[0].name) {
		return refuse(codeUnsupported, "RETURNING can only return %s: read the other columns in a second "+
			"statement", of.fields[0].name)
	}
	return nil
}

// readsOne reports whether an UPDATE or DELETE reads only the row of one entity, or only the edges of one
// entity.
func (w *write) readsOne(text string) bool {
	if len(text) > maxParsed || strings.Contains(strings.ToLower(text), "select") {
		return false
	}
	statement, err := sql.NewParser(strings.NewReader(text)).ParseStatement()
	if err != nil {
		return false
	}
	switch q := statement.(type) {
	case *sql.UpdateStatement:
		found, simple := w.findsEntity(q.WhereExpr)
		return found && simple
	case *sql.DeleteStatement:
		found, simple := w.findsEntity(q.WhereExpr)
		return found && simple
	}
	return false
}

// findsEntity examines a WHERE clause. found reports whether the clause requires that the entity equals a
// constant. simple reports whether the clause consists only of comparisons, which AND joins.
func (w *write) findsEntity(x sql.Expr) (found, simple bool) {
	if p, ok := x.(*sql.ParenExpr); ok {
		return w.findsEntity(p.X)
	}
	b, ok := x.(*sql.BinaryExpr)
	if !ok {
		return false, false
	}
	switch b.Op {
	case sql.AND:
		found, simple = w.findsEntity(b.X)
		also, simpleToo := w.findsEntity(b.Y)
		return found || also, simple && simpleToo
	case sql.EQ:
		return w.isEntity(b.X) && constant(b.Y) || constant(b.X) && w.isEntity(b.Y), true
	case sql.NE, sql.LT, sql.LE, sql.GT, sql.GE:
		return false, true
	}
	return false, false
}

// isEntity reports whether an expression is the column that holds the entity, or the source or the target of
// an edge.
func (w *write) isEntity(x sql.Expr) bool {
	if ref, ok := x.(*sql.QualifiedRef); ok && ref.Column != nil {
		x = ref.Column
	}
	name, ok := x.(*sql.Ident)
	t := w.table
	return ok && (strings.EqualFold(name.Name, t.fields[0].name) ||
		t.edges != nil && strings.EqualFold(name.Name, t.fields[partTarget].name))
}
