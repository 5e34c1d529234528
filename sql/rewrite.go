package vastsql

import (
	"slices"
	"strings"
	"unicode"

	"github.com/rqlite/sql"
)

// rewritten is the result of rewrite.
type rewritten struct {
	text    string               // the statement as the user wrote it
	selects []rewrittenSelect    // the SELECTs that can change, each independently of the others
	names   []edit               // edits that insert an alias for each result column whose text changes
	point   bool                 // the statement reads one table once, and only the row of one entity
	single  *sql.SelectStatement // the statement, if it is one SELECT without others; otherwise nil
}

// rewrittenSelect is a SELECT that can read aggregates of this package.
type rewrittenSelect struct {
	mark  int64 // argument of its table of aggregates
	edits []edit
}

// edit replaces text[start:end].
type edit struct {
	start, end int
	text       string
}

// maxParsed is the length in bytes up to which this package parses a statement.
const maxParsed = 16 << 10

// rewrite finds each SELECT over one table whose conditions compare columns with values that do not depend on
// the row. If the results of the SELECT consist of aggregates that this package computes, rewrite returns
// edits that replace the table by its table of aggregates, and each call of an aggregate by a column of that
// table. The rest of the text stays as the user wrote it.
func rewrite(text string, s *schema) rewritten {
	r := rewritten{text: text}
	if len(text) > maxParsed { // the parser is recursive
		return r
	}
	w := rewriter{text: text, schema: s}
	for _, c := range text {
		if c > unicode.MaxASCII && w.starts == nil {
			w.starts = offsets(text)
		}
		if unicode.IsSpace(c) && (c > ' ' || c == '\v') || c == 0 {
			return r // some of these characters are spaces for the parser, but not for SQLite
		}
	}
	statement, err := sql.NewParser(strings.NewReader(text)).ParseStatement()
	if err != nil {
		return r
	}
	e, explained := statement.(*sql.ExplainStatement)
	if explained {
		statement = e.Stmt
	}
	if q, ok := statement.(*sql.SelectStatement); ok {
		w.query(q, outermost)
		r.selects, r.names = w.selects, w.names
		single := w.count == 1 && !w.unknown
		r.point = single && w.lookup
		if single && !explained && q.WithClause == nil && q.Compound == nil {
			r.single = q
		}
	}
	return r
}

// offsets returns the offset in bytes of each character.
func offsets(text string) (all []int) {
	for i := range text {
		all = append(all, i)
	}
	return append(all, len(text))
}

// apply returns the text with the edits of r.names and of all r.selects.
func (r *rewritten) apply() string {
	edits := slices.Clone(r.names)
	for _, s := range r.selects {
		edits = append(edits, s.edits...)
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(r.text[at:e.start] + e.text)
		at = e.end
	}
	return b.String() + r.text[at:]
}

// drop removes the SELECT with a mark from r.selects, so that apply leaves this SELECT as the user wrote it.
// drop reports whether r has such a SELECT.
func (r *rewritten) drop(mark int64) bool {
	n := len(r.selects)
	r.selects = slices.DeleteFunc(r.selects, func(s rewrittenSelect) bool { return s.mark == mark })
	return len(r.selects) < n
}

// rewriter walks over the SELECTs of a statement.
type rewriter struct {
	text    string
	starts  []int // byte offset of each character, because the parser counts characters; nil if all are ASCII
	schema  *schema
	ctes    []string // names of the common table expressions that the current SELECT may read
	selects []rewrittenSelect
	names   []edit // see rewritten
	count   int    // number of SELECTs
	lookup  bool   // a SELECT has the condition entity = value
	unknown bool   // part of the statement was not visited
}

// at converts an offset of the parser to an offset in bytes.
func (w *rewriter) at(offset int) int {
	if w.starts == nil {
		return offset
	}
	return w.starts[offset]
}

// place is the position of a SELECT in the statement.
type place int

const (
	outermost    place = iota
	inExpression       // or an arm of UNION, INTERSECT or EXCEPT in the outermost SELECT
	inSource           // a subquery in FROM or WITH
	inExists
)

// query visits a SELECT and the SELECTs that UNION, INTERSECT or EXCEPT combine with it.
func (w *rewriter) query(q *sql.SelectStatement, p place) {
	outer := len(w.ctes)
	if q.WithClause != nil {
		for _, c := range q.WithClause.CTEs {
			w.ctes = append(w.ctes, c.TableName.Name)
		}
	}
	if p == outermost && q.Compound != nil {
		p = inExpression
	}
	for arm := q; arm != nil; arm = arm.Compound {
		w.count++
		if p != inExists && (q.Compound == nil || ordersByNames(q)) {
			w.try(arm, p) // not in EXISTS, where SQLite reads no results
		}
	}
	w.parts(q)
	for arm := q; arm != nil; arm = arm.Compound {
		w.keepNames(arm)
	}
	w.ctes = w.ctes[:outer]
}

// ordersByNames reports whether all terms of ORDER BY are names or numbers of columns. After a UNION, SQLite
// looks for any other term among the results of the arms. SQLite would not find a call that was replaced.
func ordersByNames(q *sql.SelectStatement) bool {
	return !slices.ContainsFunc(q.OrderingTerms, func(t *sql.OrderingTerm) bool {
		switch t.X.(type) {
		case *sql.Ident, *sql.NumberLit:
			return false
		}
		return true
	})
}

// parts visits the SELECTs in the parts of a node.
func (w *rewriter) parts(n sql.Node) {
	known := eachPart(n, func(part sql.Node) bool {
		switch part := part.(type) {
		case sql.SelectExpr:
			w.query(part.SelectStatement, inExpression)
		case *sql.Exists:
			w.query(part.Select, inExists)
		case *sql.SelectStatement:
			w.query(part, inSource)
		default:
			w.parts(part)
		}
		return true
	})
	w.unknown = w.unknown || !known
}

// tableOf returns the table of the world that a source consists of, or nil.
func (w *rewriter) tableOf(s sql.Source) (*table, *sql.QualifiedTableName) {
	source, ok := s.(*sql.QualifiedTableName)
	if !ok || source.Index != nil || source.NotIndexed.IsValid() {
		return nil, nil
	}
	name := source.Name.Name
	t := w.schema.find(name)
	if t == nil || !sameName(t.name, name) {
		return nil, nil
	}
	if source.Schema != nil {
		if !sameName(source.Schema.Name, "main") {
			return nil, nil
		}
	} else if w.schema.temp[strings.ToLower(name)] != nil ||
		slices.ContainsFunc(w.ctes, func(cte string) bool { return sameName(cte, name) }) {
		return nil, nil
	}
	return t, source
}

// sameName reports whether two names are equal for SQLite, which ignores the case of ASCII letters only.
func sameName(a, b string) bool {
	lower := func(c byte) byte {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

// identEnd returns the byte offset after an identifier. In a quoted identifier, each quote is written twice.
func (w *rewriter) identEnd(i *sql.Ident) int {
	at := w.at(i.NamePos.Offset)
	if !i.Quoted {
		return at + len(i.Name)
	}
	return at + 2 + len(i.Name) + strings.Count(i.Name, `"`)
}
