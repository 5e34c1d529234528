package vastsql

import "github.com/rqlite/sql"

// eachPart calls f for each part of an expression, a source or a SELECT, until f returns false. Parts are
// for example operands, arguments, sources and subqueries. The parts of all arms of a compound SELECT, such
// as a UNION, count as parts of the first arm. eachPart returns false if f returned false, if n is a call
// with OVER or a SELECT with WINDOW, or if eachPart does not know the kind of node.
func eachPart(n sql.Node, f func(part sql.Node) bool) bool {
	switch n := n.(type) {
	case *sql.Ident, *sql.QualifiedRef, *sql.NumberLit, *sql.StringLit, *sql.BlobLit, *sql.BoolLit,
		*sql.NullLit, *sql.BindExpr, *sql.QualifiedTableName, *sql.UsingConstraint:
		return true
	case *sql.ParenExpr:
		return f(n.X)
	case *sql.UnaryExpr:
		return f(n.X)
	case *sql.BinaryExpr:
		return f(n.X) && f(n.Y)
	case *sql.Range:
		return f(n.X) && f(n.Y)
	case *sql.Null:
		return f(n.X)
	case *sql.CastExpr:
		return f(n.X)
	case *sql.ExprList:
		return eachOf(n.Exprs, f)
	case *sql.CaseExpr:
		return optional(n.Operand, f) && eachOf(n.Blocks, f) && optional(n.ElseExpr, f)
	case *sql.CaseBlock:
		return f(n.Condition) && f(n.Body)
	case *sql.Call:
		return n.Over == nil && eachOf(n.Args, f) && (n.Filter == nil || f(n.Filter.X))
	case sql.SelectExpr:
		return f(n.SelectStatement)
	case *sql.Exists:
		return f(n.Select)
	case *sql.ResultColumn:
		return optional(n.Expr, f)
	case *sql.OrderingTerm:
		return f(n.X)
	case *sql.ParenSource:
		return f(n.X)
	case *sql.QualifiedTableFunctionName:
		return eachOf(n.Args, f)
	case *sql.JoinClause:
		return f(n.X) && f(n.Y) && optional(n.Constraint, f)
	case *sql.OnConstraint:
		return f(n.X)
	case *sql.SelectStatement:
		return eachPartOfSelect(n, f)
	}
	return false
}

func eachPartOfSelect(q *sql.SelectStatement, f func(part sql.Node) bool) bool {
	if q.WithClause != nil {
		for _, c := range q.WithClause.CTEs {
			if !f(c.Select) {
				return false
			}
		}
	}
	return q.Windows == nil && eachOf(q.ValueLists, f) && eachOf(q.Columns, f) && optional(q.Source, f) &&
		optional(q.WhereExpr, f) && eachOf(q.GroupByExprs, f) && optional(q.HavingExpr, f) &&
		(q.Compound == nil || eachPartOfSelect(q.Compound, f)) && eachOf(q.OrderingTerms, f) &&
		optional(q.LimitExpr, f) && optional(q.OffsetExpr, f)
}

func eachOf[T sql.Node](list []T, f func(part sql.Node) bool) bool {
	for _, n := range list {
		if !f(n) {
			return false
		}
	}
	return true
}

func optional(n sql.Node, f func(part sql.Node) bool) bool { return n == nil || f(n) }
