package vastsql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rqlite/sql"
)

// candidate is a SELECT over one table. The rewriter checks whether a table of aggregates can replace that
// table (see rewrite).
type candidate struct {
	*rewriter
	table      *table
	alias      string
	lookup     bool         // a condition is entity = value
	conditions int          // number of conditions on the table
	equal      map[int]bool // columns with a condition, and whether it is an equality
	calls      int          // number of calls of aggregates
	edits      []edit
}

// try adds a SELECT to w.selects if a table of aggregates can replace the table of the SELECT.
func (w *rewriter) try(q *sql.SelectStatement, p place) {
	t, source := w.tableOf(q.Source)
	if t == nil || q.ValueLists != nil || q.GroupByExprs != nil || q.HavingExpr != nil || q.Windows != nil {
		return
	}
	c := candidate{rewriter: w, table: t, alias: source.TableName()}
	if !c.where(q.WhereExpr) {
		return
	}
	w.lookup = w.lookup || c.lookup
	if t.noAggregates || c.conditions > maxAggregateConditions {
		return
	}
	for _, column := range q.Columns {
		// In the outermost result, a column without a sign gives clients the declared type of the aggregate.
		// Elsewhere, the method value puts a + before the column, so that the column has no affinity. The
		// replaced call has no affinity either, so comparisons stay the same.
		if call, ok := column.Expr.(*sql.Call); ok && p == outermost && c.call(call, "") {
			continue
		}
		if column.Expr == nil || !c.value(column.Expr, true) {
			return
		}
	}
	for _, term := range q.OrderingTerms {
		if !isAlias(q, term.X) && !c.value(term.X, true) {
			return
		}
	}
	if c.calls == 0 {
		return
	}
	mark := markOf(len(w.selects), c.conditions)
	replacement := "temp." + quote(t.name+aggregateSuffix) + "(" + strconv.FormatInt(mark, 10) + ")"
	if source.Alias == nil {
		replacement += " AS " + quote(source.Name.Name)
	}
	start := source.Name
	if source.Schema != nil {
		start = source.Schema
	}
	c.replace(w.at(start.NamePos.Offset), w.identEnd(source.Name), replacement)
	if p == inSource {
		c.addDistinct(q)
	}
	w.selects = append(w.selects, rewrittenSelect{mark, c.edits})
}

// isAlias reports whether a term of ORDER BY is an alias of a column of the result.
func isAlias(q *sql.SelectStatement, term sql.Expr) bool {
	name, ok := term.(*sql.Ident)
	return ok && slices.ContainsFunc(q.Columns, func(column *sql.ResultColumn) bool {
		return column.Alias != nil && sameName(column.Alias.Name, name.Name)
	})
}

// addDistinct turns a SELECT into a SELECT DISTINCT. DISTINCT does not change the single row of the SELECT.
// Without DISTINCT, SQLite may merge a subquery into the SELECT that reads it, and then compute the
// aggregates once for each row of another table.
func (c *candidate) addDistinct(q *sql.SelectStatement) {
	switch {
	case q.All.IsValid():
		at := c.at(q.All.Offset)
		c.replace(at, at+len("ALL"), "DISTINCT")
	case !q.Distinct.IsValid():
		at := c.at(q.Select.Offset) + len("SELECT")
		c.replace(at, at, " DISTINCT")
	}
}

func (c *candidate) replace(start, end int, text string) {
	c.edits = append(c.edits, edit{start, end, text})
}

// where reports whether the virtual table can evaluate all conditions of an expression.
func (c *candidate) where(x sql.Expr) bool {
	switch x := x.(type) {
	case nil:
		return true
	case *sql.ParenExpr:
		return c.where(x.X)
	case *sql.BinaryExpr:
		switch x.Op {
		case sql.AND:
			return c.where(x.X) && c.where(x.Y)
		case sql.BETWEEN:
			r, ok := x.Y.(*sql.Range)
			return ok && c.between(x.X, r)
		case sql.EQ, sql.LT, sql.LE, sql.GT, sql.GE:
			return c.condition(x.X, x.Y, x.Op == sql.EQ) || c.condition(x.Y, x.X, x.Op == sql.EQ)
		}
	}
	return false
}

// between reports whether the virtual table can evaluate x BETWEEN lo AND hi. The parser includes the
// conditions that follow: for x BETWEEN 1 AND 2 AND y > 3, r.X is 1 AND 2, and r.Y is y > 3. So between
// splits the chain of ANDs, and checks the conditions after hi too.
func (c *candidate) between(x sql.Expr, r *sql.Range) bool {
	all := append(terms(r.X), r.Y)
	for _, bound := range all[:2] {
		switch bound := bound.(type) {
		case *sql.Null:
			return false // for SQLite, ISNULL or NOTNULL after a bound tests the result of BETWEEN
		case *sql.BinaryExpr:
			if bound.Op.Precedence() <= sql.GE.Precedence() {
				return false
			}
		}
		if !c.condition(x, bound, false) {
			return false
		}
	}
	for _, rest := range all[2:] {
		if !c.where(rest) {
			return false
		}
	}
	return true
}

// terms returns the operands of a chain of ANDs.
func terms(x sql.Expr) []sql.Expr {
	if and, ok := x.(*sql.BinaryExpr); ok && and.Op == sql.AND {
		return append(terms(and.X), and.Y)
	}
	return []sql.Expr{x}
}

// condition reports whether the virtual table can compare x with y, and counts the condition.
func (c *candidate) condition(x, y sql.Expr, equal bool) bool {
	i := c.column(x)
	if i < 0 || !c.value(y, false) {
		return false
	}
	switch {
	case equal && c.table.unique(i):
		c.lookup = true
	case equal && c.table.fields[i].kind == kindEntity:
	case !c.table.fields[i].summable():
		return false
	}
	c.conditions++
	// For x = 3 AND x < 2, SQLite first compares 3 with 2. If this is false, SQLite does not read the table,
	// and the result would lack the row of aggregates.
	if _, again := c.equal[i]; again && (equal || c.equal[i]) {
		return false
	}
	if c.equal == nil {
		c.equal = map[int]bool{}
	}
	c.equal[i] = equal
	return true
}

// call replaces a call of an aggregate by a column with the given sign in front, and reports whether this
// package computes the aggregate.
func (c *candidate) call(x *sql.Call, sign string) bool {
	if x.Distinct.IsValid() || x.Filter != nil || x.Over != nil {
		return false
	}
	name := strings.ToLower(x.Name.Name)
	column := ""
	switch {
	case name == opCount && (x.Star.IsValid() || len(x.Args) == 0):
		column = "count(*)"
	case len(x.Args) == 1 && slices.Contains([]string{opCount, opSum, opTotal, opAvg, opMin, opMax}, name):
		i := c.column(x.Args[0])
		if i == 0 && name == opCount {
			column = "count(*)"
			break
		}
		if i < 1 || !c.table.fields[i].summable() {
			return false
		}
		column = name + "(" + c.table.fields[i].name + ")"
	default:
		return false
	}
	c.calls++
	c.replace(c.at(x.Name.NamePos.Offset), c.at(x.Rparen.Offset)+1, sign+quote(column))
	return true
}
