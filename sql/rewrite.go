package vastsql

import (
	"slices"
	"strings"

	"github.com/rqlite/sql"
)

// rewritten is what rewrite finds in the text of a statement.
type rewritten struct {
	text       string // the statement with aggregates of this package; empty if it cannot use them
	conditions int    // number of conditions on the table
	point      bool   // the statement reads one table once, and only the row of one entity
}

// maxParsed limits the bytes of a statement that rewrite parses.
const maxParsed = 16 << 10

// rewrite looks for a SELECT over one table whose conditions compare columns with constants. If the results
// of the SELECT are made of aggregates that this package computes, rewrite replaces the name of the table by
// that of its table of aggregates, and each call of an aggregate by a column. The rest of the text stays as
// the user wrote it.
func rewrite(text string, s *schema) (r rewritten) {
	if strings.IndexFunc(text, func(c rune) bool { return c > 126 }) >= 0 {
		return r // the parser's offsets count characters, not bytes
	}
	if len(text) > maxParsed {
		return r // the parser is recursive
	}
	statement, err := sql.NewParser(strings.NewReader(text)).ParseStatement()
	if err != nil {
		return r
	}
	if e, ok := statement.(*sql.ExplainStatement); ok {
		statement = e.Stmt
	}
	q, ok := statement.(*sql.SelectStatement)
	if !ok || q.WithClause != nil || q.Compound != nil || q.ValueLists != nil || q.Distinct.IsValid() ||
		q.GroupByExprs != nil || q.HavingExpr != nil || q.Windows != nil {
		return r
	}
	source, ok := q.Source.(*sql.QualifiedTableName)
	if !ok || source.Schema != nil || source.Index != nil || source.NotIndexed.IsValid() {
		return r
	}
	t := s.find(source.Name.Name)
	if t == nil || t.noAggregates || s.temp[strings.ToLower(t.name)] {
		return r
	}
	w := rewriter{text: text, table: t, alias: source.TableName()}
	if !w.where(q.WhereExpr) {
		return r
	}
	r.point = w.lookup && !w.hasSubquery()
	r.conditions = w.conditions
	if q.OrderingTerms != nil {
		return r
	}
	for _, c := range q.Columns {
		if !w.result(c) {
			return r
		}
	}
	if w.calls == 0 {
		return r
	}
	replacement := quote(t.name + aggregateSuffix)
	if source.Alias == nil {
		replacement += " AS " + quote(source.Name.Name)
	}
	start := source.Name.NamePos.Offset
	w.replace(start, w.identEnd(source.Name), replacement)
	r.text = w.apply()
	return r
}

// rewriter collects the replacements in a statement.
type rewriter struct {
	text       string
	table      *table
	alias      string
	conditions int
	lookup     bool         // a condition is entity = constant
	equal      map[int]bool // columns with a condition, and whether it is an equality
	calls      int
	edits      []edit
}

// edit replaces text[start:end].
type edit struct {
	start, end int
	text       string
}

func (w *rewriter) replace(start, end int, text string) {
	w.edits = append(w.edits, edit{start, end, text})
}

func (w *rewriter) apply() string {
	slices.SortFunc(w.edits, func(a, b edit) int { return a.start - b.start })
	var b strings.Builder
	at := 0
	for _, e := range w.edits {
		b.WriteString(w.text[at:e.start] + e.text)
		at = e.end
	}
	return b.String() + w.text[at:]
}

// identEnd returns the offset after an identifier. A quoted identifier may contain quotes.
func (w *rewriter) identEnd(i *sql.Ident) int {
	at := i.NamePos.Offset
	if q := w.text[at]; q == '"' || q == '`' || q == '[' {
		if q == '[' {
			q = ']'
		}
		for at++; at < len(w.text); at++ {
			if w.text[at] == q {
				if at+1 < len(w.text) && w.text[at+1] == q {
					at++
					continue
				}
				return at + 1
			}
		}
	}
	return at + len(i.Name)
}

// column returns the index of the field that an expression names, or -1.
func (w *rewriter) column(x sql.Expr) int {
	name := ""
	switch x := x.(type) {
	case *sql.Ident:
		name = x.Name
	case *sql.QualifiedRef:
		if x.Column != nil && strings.EqualFold(x.Table.Name, w.alias) {
			name = x.Column.Name
		}
	}
	return slices.IndexFunc(w.table.fields, func(f field) bool { return strings.EqualFold(f.name, name) })
}

// where reports whether the virtual table can evaluate all conditions of an expression.
func (w *rewriter) where(x sql.Expr) bool {
	switch x := x.(type) {
	case nil:
		return true
	case *sql.ParenExpr:
		return w.where(x.X)
	case *sql.BinaryExpr:
		switch x.Op {
		case sql.AND:
			return w.where(x.X) && w.where(x.Y)
		case sql.BETWEEN:
			r, ok := x.Y.(*sql.Range)
			return ok && constant(r.X) && constant(r.Y) && w.condition(x.X, false, 2)
		case sql.EQ, sql.LT, sql.LE, sql.GT, sql.GE:
			return constant(x.Y) && w.condition(x.X, x.Op == sql.EQ, 1) ||
				constant(x.X) && w.condition(x.Y, x.Op == sql.EQ, 1)
		}
	}
	return false
}

// condition counts n conditions on a column, and reports whether the virtual table can evaluate them.
func (w *rewriter) condition(x sql.Expr, equal bool, n int) bool {
	i := w.column(x)
	switch {
	case i == 0 && equal:
		w.lookup = true
	case i < 1 || w.table.fields[i].part < 0 || !w.table.fields[i].kind.isNumber():
		return false
	}
	w.conditions += n
	// For x = 3 AND x < 2, SQLite first compares 3 with 2, and does not read the table if this is false. Then
	// the result would lack the row of aggregates.
	if _, again := w.equal[i]; again && (equal || w.equal[i]) {
		return false
	}
	if w.equal == nil {
		w.equal = map[int]bool{}
	}
	w.equal[i] = equal
	return true
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

// result replaces the aggregates in a column of the result. It reports whether the column consists of
// aggregates and constants.
func (w *rewriter) result(c *sql.ResultColumn) bool {
	call, whole := c.Expr.(*sql.Call)
	if c.Star.IsValid() || c.Alias == nil && !whole {
		return false // without an alias, SQLite names the column after its text, which would change
	}
	if !w.expression(c.Expr) {
		return false
	}
	if c.Alias == nil {
		start, end := call.Name.NamePos.Offset, call.Rparen.Offset+1
		w.replace(end, end, " AS "+quote(w.text[start:end]))
	}
	return true
}

func (w *rewriter) expression(x sql.Expr) bool {
	switch x := x.(type) {
	case *sql.NumberLit, *sql.NullLit: // a text would be converted to the type of the column of the aggregate
		return true
	case *sql.ParenExpr:
		return w.expression(x.X)
	case *sql.UnaryExpr:
		return w.expression(x.X)
	case *sql.BinaryExpr:
		return w.expression(x.X) && w.expression(x.Y)
	case *sql.Call:
		return w.call(x)
	}
	return false
}

// call replaces a call of an aggregate.
func (w *rewriter) call(x *sql.Call) bool {
	if x.Distinct.IsValid() || x.Filter != nil || x.Over != nil {
		return false
	}
	name := strings.ToLower(x.Name.Name)
	column := ""
	switch {
	case name == opCount && (x.Star.IsValid() || len(x.Args) == 0):
		column = "count(*)"
	case len(x.Args) == 1 && slices.Contains([]string{opCount, opSum, opTotal, opAvg, opMin, opMax}, name):
		i := w.column(x.Args[0])
		if i == 0 && name == opCount {
			column = "count(*)"
			break
		}
		if i < 1 || w.table.fields[i].part < 0 || !w.table.fields[i].kind.isNumber() {
			return false
		}
		column = name + "(" + w.table.fields[i].name + ")"
	default:
		return false
	}
	w.calls++
	w.replace(x.Name.NamePos.Offset, x.Rparen.Offset+1, quote(column))
	return true
}

// hasSubquery reports whether a statement may contain a subquery: its text contains "select" more than once.
func (w *rewriter) hasSubquery() bool {
	return strings.Count(strings.ToLower(w.text), "select") > 1
}
