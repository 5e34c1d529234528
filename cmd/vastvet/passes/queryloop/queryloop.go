// Package queryloop finds structural changes of a world inside loops over its queries.
package queryloop

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/cfg"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/flow"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// Analyzer finds structural changes of a world inside loops over its queries.
var Analyzer = check.New("queryloop", `find changes of the structure inside loops over queries

A loop over the entities of a query, a sparse column, a tracker or an order, over links or edges, or over
probe.Extents may write values. It must not make, move or delete entities, add or remove components, change
links, edges or names, apply commands, make templates or instances, make or close groups or trackers, or close
the world. After such a change, the next step of the loop panics.

	for e := range q.All() {
		if hp.Get(e).Points == 0 {
			w.Delete(e) // wrong
		}
	}

	for e := range q.All() {
		if hp.Get(e).Points == 0 {
			commands.Delete(e) // right, with w.Apply(commands) after the loop
		}
	}

A change is allowed if break or return leaves the loop after the change. The analyzer reports no change after
which the loop may end, for example because of a flag that the program sets together with the change. It
reports no changes of another world. It reports no Add of a component that the query requires, because this
Add only overwrites the value.`, run)

func init() { Analyzer.Requires = append(Analyzer.Requires, ctrlflow.Analyzer) }

func run(p *check.Pass) {
	var values *trace.Values
	var oneWorld bool
	graphs := p.ResultOf[ctrlflow.Analyzer].(*ctrlflow.CFGs)
	p.Functions(func(function ast.Node, _ *ast.FuncType, body *ast.BlockStmt) {
		var found []*ast.RangeStmt
		ast.Inspect(body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.RangeStmt:
				if _, ok := p.TypesInfo.TypeOf(n.X).Underlying().(*types.Signature); ok &&
					changes(p.TypesInfo, n.Body) {
					found = append(found, n)
				}
			}
			return true
		})
		if found == nil {
			return
		}
		if values == nil {
			values = trace.New(p.TypesInfo, p.Inspector)
			oneWorld = single(p)
		}
		said := map[*ast.CallExpr]bool{}
		for _, r := range found {
			if over, ok := values.Only(r.X).Expr.(*ast.CallExpr); ok &&
				loops[lib.Callee(p.TypesInfo, over)] && !p.Provoked(r) {
				l := &loop{
					p: p, values: values, worlds: worlds{values, p.Inspector, function}, graphs: graphs,
					function: function, oneWorld: oneWorld, r: r, over: over,
					inPlace: map[*ast.FuncLit]*ast.CallExpr{}, said: said,
				}
				l.look()
			}
		}
	})
}

// changes reports whether a loop body may change the structure of a world.
func changes(info *types.Info, body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && !found {
			_, found = verbs[lib.Callee(info, call)]
		}
		return !found
	})
	return found
}

type loop struct {
	p        *check.Pass
	values   *trace.Values
	worlds   worlds
	graphs   *ctrlflow.CFGs
	function ast.Node // the function around the loop
	oneWorld bool     // whether the program has one world
	r        *ast.RangeStmt
	over     *ast.CallExpr                  // the call that returned the iterator
	inPlace  map[*ast.FuncLit]*ast.CallExpr // the calls func() { … }(), by function literal
	said     map[*ast.CallExpr]bool         // calls that were reported for this loop or an outer loop
}

func (l *loop) look() {
	var statement ast.Expr
	ast.Inspect(l.r.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return l.inPlace[n] != nil
		case *ast.DeferStmt, *ast.GoStmt:
			return false // the call runs at another time
		case *ast.ExprStmt:
			statement = ast.Unparen(n.X)
		case *ast.CallExpr:
			if lit, ok := ast.Unparen(n.Fun).(*ast.FuncLit); ok {
				l.inPlace[lit] = n
			}
			name := lib.Callee(l.p.TypesInfo, n)
			if v, ok := verbs[name]; ok && !l.said[n] && l.concerns(n, name, v) && l.goesOn(n) {
				l.said[n] = true
				l.say(n, name, v, statement == n)
			}
		}
		return true
	})
}

func (l *loop) say(call *ast.CallExpr, name string, v verb, statement bool) {
	_, last := lib.Split(name)
	remedy := "make the change after the loop"
	if v.later != "" {
		remedy = "record it with " + v.later + " and apply it after the loop"
	}
	if v.later == "AddLater" {
		remedy += ", or use Set if the component is already there"
	}
	l.p.SayWithFix(call, "Record the change", l.later(call, v, statement),
		"%s changes the structure during the loop over %s, so the next step of the loop panics: %s",
		last, types.ExprString(l.over.Fun), remedy)
}

// concerns reports whether a call changes the structure of the world that the loop runs over.
func (l *loop) concerns(call *ast.CallExpr, name string, v verb) bool {
	on := lib.Receiver(call)
	if of, _ := lib.Split(name); !strings.Contains(of, ".") && len(call.Args) > 0 {
		on = call.Args[0] // the call of a function
	}
	if on == nil {
		return false
	}
	a, b := l.worlds.of(l.over), l.worlds.of(on)
	own := v.entity >= 0 && len(call.Args) > v.entity && l.yields(call.Args[v.entity]) && !a.differs(b)
	// A call changes the loop's world if its receiver is a column that the query names, or if an argument is
	// an entity that the loop yields or a query of this world. Other worlds do not accept these.
	same := own || l.oneWorld || a.same(b) || l.named(on)
	same = same || slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		return lib.TypeName(l.p.TypesInfo.TypeOf(arg)) == "vast.Query" && l.worlds.of(arg).same(a)
	})
	if !v.adds {
		return same
	}
	// An Add that overwrites an existing component is allowed.
	q := l.query()
	if v.entity < 0 {
		q = call.Args[0]
	} else if !own {
		return false
	}
	n := columns(l.values, q)
	return same && (l.names(n.excluded, on) || n.complete && !l.among(n.included, on) && !l.testsHas(on))
}

// named reports whether the query of the loop names a column.
func (l *loop) named(col ast.Expr) bool {
	n := columns(l.values, l.query())
	return slices.ContainsFunc(slices.Concat(n.included, n.excluded), func(e ast.Expr) bool {
		// Two structs of one type may hold columns of different worlds in the same field.
		return l.names([]ast.Expr{e}, col) && l.worlds.of(col).same(l.worlds.of(e))
	})
}

// testsHas reports whether the body of the loop calls Has of a column.
func (l *loop) testsHas(col ast.Expr) (found bool) {
	ast.Inspect(l.r.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			_, last := lib.Split(lib.Callee(l.p.TypesInfo, call))
			found = found || last == "Has" && l.names([]ast.Expr{lib.Receiver(call)}, col)
		}
		return !found
	})
	return found
}

// query returns the query that selects the loop's entities. If this query is unknown, query returns the
// receiver of the call l.over.
func (l *loop) query() ast.Expr {
	x := lib.Receiver(l.over)
	switch lib.Callee(l.p.TypesInfo, l.over) {
	case "vast.Order.Ascending", "vast.Order.Descending":
		if made, ok := l.values.Only(x).Expr.(*ast.CallExpr); ok &&
			lib.Callee(l.p.TypesInfo, made) == "vast.NewOrder" {
			return made.Args[0]
		}
	case "shared.Column.GroupBy", "shared.GroupByTarget", "vast.Relation.InDepthOrder", "vast.Relation.Pairs":
		return l.over.Args[0]
	}
	return x
}

// names reports whether a column is certainly in a list.
func (l *loop) names(list []ast.Expr, col ast.Expr) bool {
	c := l.values.Only(col).Expr
	x := l.values.Var(c)
	return slices.ContainsFunc(list, func(e ast.Expr) bool {
		d := l.values.Only(e).Expr
		return (c == d || x != nil && x == l.values.Var(d)) && !l.worlds.of(col).differs(l.worlds.of(e))
	})
}

// among reports whether a column may be in a list.
func (l *loop) among(list []ast.Expr, col ast.Expr) bool {
	if l.names(list, col) {
		return true
	}
	t := l.p.TypesInfo.TypeOf(col)
	c := l.values.Only(col).Expr
	for _, e := range list {
		d := l.values.Only(e).Expr
		_, madeHere := c.(*ast.CallExpr)
		_, madeThere := d.(*ast.CallExpr)
		if u := l.p.TypesInfo.TypeOf(e); !(madeHere && madeThere) &&
			(types.Identical(t, u) || types.IsInterface(u)) {
			return true
		}
	}
	return false
}

// yields reports whether an expression is an entity that the loop yields.
func (l *loop) yields(e ast.Expr) bool {
	s := l.values.Only(e)
	if s.Range == l.r {
		return lib.TypeName(l.p.TypesInfo.TypeOf(e)) == "vast.Entity"
	}
	call, ok := ast.Unparen(s.Expr).(*ast.CallExpr)
	if !ok || s.Range != nil {
		return false
	}
	of := lib.Callee(l.p.TypesInfo, call)
	return (of == "vast.Run.Entity" || of == "vast.Slot.Entity") &&
		l.values.Only(lib.Receiver(call)).Range == l.r
}

type change struct {
	call    *ast.CallExpr // the call that makes the change, or the call of a function literal around it
	within  bool          // whether call is the call of a function literal
	results []ast.Expr    // the variables that get the results of call
}

// goesOn reports whether the loop certainly takes its next step after a change. A branch that leaves the loop
// makes the next step uncertain, because the condition may test a flag that the program sets with the change.
// goesOn ignores the branches that the method next omits.
func (l *loop) goesOn(call *ast.CallExpr) bool {
	at := change{call: call}
	for {
		inner := l.literal(at.call)
		if inner == nil {
			break
		}
		returns := func(b *cfg.Block) bool { return b.Return() != nil }
		if !l.arrives(l.graphs.FuncLit(inner), at, returns, func(*cfg.Block) bool { return false }) {
			return false
		}
		at = change{call: l.inPlace[inner], within: true}
	}
	var g *cfg.CFG
	switch f := l.function.(type) {
	case *ast.FuncDecl:
		g = l.graphs.FuncDecl(f)
	case *ast.FuncLit:
		g = l.graphs.FuncLit(f)
	}
	head := func(b *cfg.Block) bool { return b.Kind == cfg.KindRangeLoop && b.Stmt == l.r }
	return l.arrives(g, at, head, func(b *cfg.Block) bool {
		return slices.Contains(b.Nodes, ast.Node(l.r.X)) // a surrounding loop starts this loop again
	})
}

// literal returns the innermost function literal of inPlace that contains a call, or nil.
func (l *loop) literal(call *ast.CallExpr) (inner *ast.FuncLit) {
	for lit := range l.inPlace {
		if lit.Pos() <= call.Pos() && call.End() <= lit.End() && (inner == nil || lit.Pos() > inner.Pos()) {
			inner = lit
		}
	}
	return inner
}

// arrives reports whether every path from a change reaches a goal block before a barrier block.
func (l *loop) arrives(g *cfg.CFG, at change, goal, barrier func(*cfg.Block) bool) bool {
	if g == nil {
		return false
	}
	b, i := flow.Find(g, at.call)
	if b == nil {
		return false
	}
	if assign, ok := b.Nodes[i].(*ast.AssignStmt); ok {
		at.results = assign.Lhs
	}
	seen := map[*cfg.Block]bool{}
	var all func(*cfg.Block) bool
	all = func(b *cfg.Block) bool {
		if seen[b] || goal(b) {
			return true
		}
		seen[b] = true
		if !flow.Reaches([]*cfg.Block{b}, goal, barrier) {
			return false
		}
		return !slices.ContainsFunc(l.next(b, at, false), func(next *cfg.Block) bool { return !all(next) })
	}
	if goal(b) {
		return true
	}
	first := l.next(b, at, true)
	return len(first) > 0 && !slices.ContainsFunc(first, func(next *cfg.Block) bool { return !all(next) })
}

// next returns the successors of a block. It omits the branch on which the change did nothing, and the branch
// on which an unrelated call failed. here reports whether the change is in the block.
func (l *loop) next(b *cfg.Block, at change, here bool) []*cfg.Block {
	if len(b.Succs) != 2 || len(b.Nodes) == 0 {
		return b.Succs
	}
	cond, ok := b.Nodes[len(b.Nodes)-1].(ast.Expr)
	if !ok {
		return b.Succs // a select or a type switch
	}
	yes, no := b.Succs[:1], b.Succs[1:]
	cond = ast.Unparen(cond)
	if not, ok := cond.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		cond = ast.Unparen(not.X)
		yes, no = no, yes
	}
	here = here && !at.within
	if here && cond == at.call {
		return yes
	}
	// The condition's operand is known if the statement directly before the condition assigns it.
	if len(b.Nodes) < 2 {
		return b.Succs
	}
	assign, ok := b.Nodes[len(b.Nodes)-2].(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 {
		return b.Succs
	}
	call, ok := ast.Unparen(assign.Rhs[0]).(*ast.CallExpr)
	if !ok {
		return b.Succs
	}
	own := here && call == at.call
	if own && l.is(cond, assign.Lhs[0]) {
		return yes
	}
	x, ok := cond.(*ast.BinaryExpr)
	last := assign.Lhs[len(assign.Lhs)-1]
	if !ok || !l.is(x.X, last) || !l.p.TypesInfo.Types[x.Y].IsNil() ||
		!types.Identical(l.p.TypesInfo.TypeOf(last), errorType) {
		return b.Succs
	}
	switch {
	case own && x.Op == token.EQL:
		return yes
	case x.Op == token.NEQ && (own || !l.regards(call, at)):
		return no
	}
	return b.Succs
}

// regards reports whether a call makes the change, or has a result of the change in an argument.
func (l *loop) regards(call *ast.CallExpr, at change) (found bool) {
	ast.Inspect(call, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		found = found || n == at.call || ok && slices.ContainsFunc(at.results, func(r ast.Expr) bool {
			return l.is(e, r)
		})
		return !found
	})
	return found
}

var errorType = types.Universe.Lookup("error").Type()

// is reports whether two expressions are the same variable.
func (l *loop) is(a, b ast.Expr) bool {
	x, ok := ast.Unparen(a).(*ast.Ident)
	y, too := ast.Unparen(b).(*ast.Ident)
	return ok && too && l.p.TypesInfo.ObjectOf(x) == l.p.TypesInfo.ObjectOf(y)
}
