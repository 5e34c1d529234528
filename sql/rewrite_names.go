package vastsql

import (
	"slices"
	"strings"

	"github.com/rqlite/sql"
)

// scalars are functions whose results depend only on their arguments. min and max are such functions if they
// have several arguments; with one argument, they are aggregates.
var scalars = []string{"abs", "ceil", "ceiling", "coalesce", "floor", "format", "ifnull", "iif", "max", "min",
	"mod", "nullif", "pow", "power", "printf", "round", "sign", "sqrt", "trunc", "typeof"}

// value reports whether an expression names no column of the table and calls only scalars, so that SQLite may
// evaluate the expression once instead of for each row. If results is set, the expression may also contain
// calls of aggregates, and value replaces these calls.
func (c *candidate) value(x sql.Node, results bool) bool {
	switch x := x.(type) {
	case *sql.Ident:
		return c.isForeign(x)
	case *sql.QualifiedRef:
		return x.Column != nil && !sameName(x.Table.Name, c.alias)
	case *sql.Call:
		if results && c.call(x, "+") {
			return true
		}
		name := strings.ToLower(x.Name.Name)
		if x.Distinct.IsValid() || x.Filter != nil || !slices.Contains(scalars, name) ||
			len(x.Args) < 2 && (name == opMin || name == opMax) {
			return false
		}
	case *sql.SelectStatement:
		return c.isUnrelated(x, nil)
	}
	return eachPart(x, func(part sql.Node) bool { return c.value(part, results) })
}

// column returns the index of the field that an expression names, or -1.
func (c *candidate) column(x sql.Expr) int {
	switch x := x.(type) {
	case *sql.Ident:
		return c.table.fieldNamed(x.Name)
	case *sql.QualifiedRef:
		if x.Column != nil && sameName(x.Table.Name, c.alias) {
			return c.table.fieldNamed(x.Column.Name)
		}
	}
	return -1
}

// fieldNamed returns the index of the field with a name, or -1.
func (t *table) fieldNamed(name string) int {
	return slices.IndexFunc(t.fields, func(f field) bool { return sameName(f.name, name) })
}

// isForeign reports whether a name without a table can name neither a column of the candidate's table nor one
// of its table of aggregates. The latter columns have parentheses in their names.
func (c *candidate) isForeign(x *sql.Ident) bool {
	switch strings.ToLower(x.Name) {
	case "rowid", "oid", "_rowid_":
		return false
	}
	return c.table.fieldNamed(x.Name) < 0 && !strings.Contains(x.Name, "(")
}

// scope is a table that a subquery reads.
type scope struct {
	table *table
	alias string
}

// isUnrelated reports whether x, a subquery or a part of one, names no column of the candidate's table.
// scopes are the tables of the subqueries around x. Their columns hide those of the candidate's table.
func (c *candidate) isUnrelated(x sql.Node, scopes []scope) bool {
	switch x := x.(type) {
	case *sql.Ident:
		return c.isForeign(x) ||
			slices.ContainsFunc(scopes, func(s scope) bool { return s.table.fieldNamed(x.Name) >= 0 })
	case *sql.QualifiedRef:
		return x.Column == nil || !sameName(x.Table.Name, c.alias) ||
			slices.ContainsFunc(scopes, func(s scope) bool {
				return sameName(s.alias, x.Table.Name) && s.table.fieldNamed(x.Column.Name) >= 0
			})
	case *sql.SelectStatement:
		if x.WithClause != nil {
			return false
		}
		if x.Compound == nil {
			scopes = append(slices.Clip(scopes), c.scopesOf(x.Source)...)
		}
	}
	return eachPart(x, func(part sql.Node) bool { return c.isUnrelated(part, scopes) })
}

// scopesOf returns the tables of FROM. It returns nil if FROM also has other sources, because a subquery in
// FROM does not see the tables beside it.
func (c *candidate) scopesOf(source sql.Source) []scope {
	if join, ok := source.(*sql.JoinClause); ok {
		x, y := c.scopesOf(join.X), c.scopesOf(join.Y)
		if x == nil || y == nil {
			return nil
		}
		return append(x, y...)
	}
	t, named := c.tableOf(source)
	if t == nil {
		return nil
	}
	return []scope{{t, named.TableName()}}
}

// keepNames adds an alias to each column of a result that has no alias and whose text an edit changes.
// Without an alias, SQLite would name the column after the changed text.
func (w *rewriter) keepNames(q *sql.SelectStatement) {
	if len(w.selects) == 0 || len(q.Columns) == 0 {
		return
	}
	first := q.Select.Offset
	scanner := sql.NewScanner(strings.NewReader(w.text[w.at(first):]))
	// start is the offset of the current column, and depth counts the open parentheses.
	start, depth, column := -1, 0, 0
	for {
		pos, token, _ := scanner.Scan()
		at := w.at(first + pos.Offset)
		if token == sql.EOF {
			at = len(w.text)
		}
		switch {
		case token == sql.COMMENT,
			start < 0 && (token == sql.SELECT || token == sql.DISTINCT || token == sql.ALL):
			continue
		case depth == 0 && token == sql.COMMA, depth == 0 && slices.Contains(endOfResult, token):
			if q.Columns[column].Alias == nil && w.changes(start, at) {
				name := quote(strings.TrimSpace(w.text[start:at]))
				w.names = append(w.names, edit{at, at, "\nAS " + name + " "}) // a comment may end at \n
			}
			if column++; column == len(q.Columns) {
				return
			}
			start = -1
			continue
		case token == sql.EOF:
			return // the statement has an error
		case token == sql.LP:
			depth++
		case token == sql.RP:
			depth--
		}
		if start < 0 {
			start = at
		}
	}
}

// endOfResult lists the tokens that may follow the last column of a result.
var endOfResult = []sql.Token{sql.FROM, sql.WHERE, sql.GROUP, sql.HAVING, sql.WINDOW, sql.ORDER, sql.LIMIT,
	sql.UNION, sql.INTERSECT, sql.EXCEPT, sql.RP, sql.SEMI, sql.EOF}

// changes reports whether an edit of a SELECT begins in text[start:end].
func (w *rewriter) changes(start, end int) bool {
	return slices.ContainsFunc(w.selects, func(s rewrittenSelect) bool {
		return slices.ContainsFunc(s.edits, func(e edit) bool { return e.start >= start && e.start < end })
	})
}

// constant reports whether an expression is a number or a parameter.
func constant(x sql.Expr) bool {
	switch x := x.(type) {
	case *sql.NumberLit, *sql.BindExpr:
		return true
	case *sql.UnaryExpr:
		_, number := x.X.(*sql.NumberLit)
		return number && (x.Op == sql.MINUS || x.Op == sql.PLUS)
	}
	return false
}
