// Package queryloop finds changes of a world's structure inside loops over its queries.
package queryloop

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/cfg"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/flow"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// Analyzer finds structural changes after which a loop over a query takes its next step.
var Analyzer = check.New("queryloop", `find changes of the structure inside loops over queries

While a loop goes over a query, a relation's sources, a tracker or an order, values may be written, but nothing may make or
delete entities, add or remove components, or change links: the loop's next step panics.

	for e := range q.All() {
		if hp.Get(e).Points == 0 {
			w.Delete(e) // wrong
		}
	}

	for e := range q.All() {
		if hp.Get(e).Points == 0 {
			commands.Delete(e) // right: w.Apply(commands) behind the loop
		}
	}

A change that the loop is left after, by break or return, is right too. Changes of another world are not reported, and neither is Add
for a component that the query asks for, because that overwrites.`, run)

func run(p *check.Pass) {
	var values *trace.Values
	p.Functions(func(_ ast.Node, _ *ast.FuncType, body *ast.BlockStmt) {
		var found []*ast.RangeStmt
		ast.Inspect(body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.RangeStmt:
				if _, ok := p.TypesInfo.TypeOf(n.X).Underlying().(*types.Signature); ok && changes(p.TypesInfo, n.Body) {
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
		}
		g := flow.Graph(p.TypesInfo, body)
		said := map[*ast.CallExpr]bool{}
		for _, r := range found {
			if over, ok := values.Only(r.X).Expr.(*ast.CallExpr); ok && loops[lib.Callee(p.TypesInfo, over)] && !p.Provoked(r) {
				l := &loop{p, values, g, r, over, said}
				l.look()
			}
		}
	})
}

// changes reports whether anything in a loop may change the structure of a world.
func changes(info *types.Info, body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && !found {
			_, found = verbs[lib.Callee(info, call)]
		}
		return !found
	})
	return found
}

// loop is one that must not see the structure change.
type loop struct {
	p      *check.Pass
	values *trace.Values
	graph  *cfg.CFG
	r      *ast.RangeStmt
	over   *ast.CallExpr
	said   map[*ast.CallExpr]bool // in a loop further out
}

func (l *loop) look() {
	var statement ast.Expr
	ast.Inspect(l.r.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
			return false // runs at another time
		case *ast.ExprStmt:
			statement = ast.Unparen(n.X)
		case *ast.CallExpr:
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
	remedy := "make the change behind the loop"
	if v.later != "" {
		remedy = "record it with " + v.later + " and apply it behind the loop"
	}
	if v.later == "AddLater" {
		remedy += ", or use Set where the component is there already"
	}
	l.p.SayWithFix(call, "Record the change", later(l.p, call, v, statement),
		"%s changes the structure while the loop over %s runs, whose next step panics: %s",
		last, types.ExprString(l.over.Fun), remedy)
}

// concerns reports whether a change is one of the world that the loop goes over, and changes something.
func (l *loop) concerns(call *ast.CallExpr, name string, v verb) bool {
	on := lib.Receiver(call)
	if on == nil {
		return false
	}
	own := v.entity >= 0 && len(call.Args) > v.entity && l.yields(call.Args[v.entity])
	if v.adds {
		if !own {
			return false // may overwrite
		}
		n := columns(l.values, l.query())
		return n.ok && (l.names(n.without, on) || !l.among(n.with, on))
	}
	if own {
		return true // an entity of this world would be stale in another one
	}
	a, b := worldOf(l.values, l.over), worldOf(l.values, on)
	return a == b && a != world{}
}

// query returns the query that the loop goes over, or what takes its place.
func (l *loop) query() ast.Expr {
	x := lib.Receiver(l.over)
	switch lib.Callee(l.p.TypesInfo, l.over) {
	case "vast.Order.All", "vast.Order.Descending":
		if made, ok := l.values.Only(x).Expr.(*ast.CallExpr); ok && lib.Callee(l.p.TypesInfo, made) == "vast.NewOrder" {
			return made.Args[0]
		}
	case "vast.Relation.InDepthOrder":
		return l.over.Args[0]
	}
	return x
}

// names reports whether a column is one of some for certain.
func (l *loop) names(list []ast.Expr, col ast.Expr) bool {
	c := l.values.Only(col).Expr
	return slices.ContainsFunc(list, func(e ast.Expr) bool {
		d := l.values.Only(e).Expr
		return c == d || l.values.Var(c) != nil && l.values.Var(c) == l.values.Var(d)
	})
}

// among reports whether a column is, or may be, one of some.
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
		if u := l.p.TypesInfo.TypeOf(e); !(madeHere && madeThere) && (types.Identical(t, u) || types.IsInterface(u)) {
			return true // may be another name of it
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
	return ok && s.Range == nil && lib.Callee(l.p.TypesInfo, call) == "vast.Run.Entity" &&
		l.values.Only(lib.Receiver(call)).Range == l.r
}

// goesOn reports whether the loop may take its next step after a call that did what it says.
func (l *loop) goesOn(call *ast.CallExpr) bool {
	b, i := flow.Find(l.graph, call)
	if b == nil {
		return false
	}
	from := b.Succs
	if i == len(b.Nodes)-1 && len(b.Succs) == 2 {
		// A condition: when it reports that it changed nothing the loop may go on.
		switch x := ast.Unparen(b.Nodes[i].(ast.Expr)).(type) {
		case *ast.CallExpr:
			if x == call {
				from = b.Succs[:1]
			}
		case *ast.UnaryExpr:
			if x.Op == token.NOT && ast.Unparen(x.X) == call {
				from = b.Succs[1:]
			}
		}
	}
	head := func(b *cfg.Block) bool { return b.Kind == cfg.KindRangeLoop && b.Stmt == l.r }
	return flow.Reaches(from, head, func(b *cfg.Block) bool {
		return slices.Contains(b.Nodes, ast.Node(l.r.X)) // here the loop begins anew
	})
}
