// Package useafter finds functions that use a container after they have closed it, or memory after they have
// released it.
package useafter

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/cfg"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/flow"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// Analyzer finds uses after Close, Release, Reset, Truncate and Free.
var Analyzer = check.New("useafter", `find uses after Close, Release, Reset, Truncate or Free

Close returns memory to the system. A container panics if it is used after Close. A pointer or slice that the
container returned before Close leads to unmapped memory or to newer data. Other calls also make pointers and
slices invalid, such as Clear, Reset of an arena, Release of an older mark, Truncate(0), Free, and the removal
of an element or entity.

	first := ships.At(0)
	ships.Close()
	return first.Fuel // wrong

	fuel := ships.At(0).Fuel
	ships.Close()
	return fuel // right

If only one of several paths has such a call, the analyzer reports nothing after the point where the paths
join. It does not follow deferred calls.`, run)

func run(p *check.Pass) {
	var values *trace.Values
	rewritten := map[*types.Var]bool{}
	p.Functions(func(node ast.Node, _ *ast.FuncType, body *ast.BlockStmt) {
		if !mayEnd(p.TypesInfo, body) {
			return
		}
		if values == nil {
			values = trace.New(p.TypesInfo, p.Inspector)
			for n := range p.Inspector.PreorderSeq((*ast.AssignStmt)(nil), (*ast.RangeStmt)(nil)) {
				assigned(p.TypesInfo, n, rewritten)
			}
		}
		f := &function{p: p, node: node, values: values, rewritten: rewritten, shared: map[*types.Var]bool{},
			written: map[ast.Node]bool{}, shown: map[ast.Node]bool{}, dropped: map[ast.Expr]bool{}}
		f.analyze(body)
	})
}

// assigned adds the variables that a statement assigns, but does not declare, to the map known.
func assigned(info *types.Info, n ast.Node, known map[*types.Var]bool) {
	var targets []ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		targets = n.Lhs
	case *ast.RangeStmt:
		targets = []ast.Expr{n.Key, n.Value}
	}
	for _, e := range targets {
		if id, ok := e.(*ast.Ident); ok {
			if x, ok := info.Uses[id].(*types.Var); ok {
				known[x] = true
			}
		}
	}
}

// mayEnd reports whether a function has a call that may close, empty, release, free or remove something.
func mayEnd(info *types.Info, body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && !found {
			name := lib.Callee(info, call)
			_, last := lib.Split(name)
			found = name != "" && (last == "Close" || last == "Release" || in(ends, name) ||
				in(truncates, name) ||
				in(frees, name) || in(removes, name) || in(unsure, name))
		}
		return !found
	})
	return found
}

// function is the analysis of one function.
type function struct {
	p         *check.Pass
	node      ast.Node
	values    *trace.Values
	rewritten map[*types.Var]bool // variables of the package that are assigned after their declaration
	shared    map[*types.Var]bool // variables that a function literal in the function assigns
	written   map[ast.Node]bool   // targets of range and select statements, which do not count as uses
	shown     map[ast.Node]bool   // operands that switch statements compare
	dropped   map[ast.Expr]bool   // calls whose result is dropped
	say       bool                // whether to report: true in the last pass
}

// analyze repeats the analysis until the states no longer change. One further pass reports the mistakes.
func (f *function) analyze(body *ast.BlockStmt) {
	f.prepare(body)
	g := flow.Graph(f.p.TypesInfo, body)
	before := make([]*state, len(g.Blocks))
	before[0] = newState()
	for work := []*cfg.Block{g.Blocks[0]}; len(work) > 0; {
		b := work[0]
		work = work[1:]
		after := before[b.Index].clone()
		f.block(b, after)
		for i, next := range b.Succs {
			after := f.edge(b, i == 0, after)
			switch known := before[next.Index]; {
			case known == nil && i == len(b.Succs)-1:
				before[next.Index] = after
			case known == nil:
				before[next.Index] = after.clone()
			case !known.meet(after):
				continue
			}
			work = append(work, next)
		}
	}
	f.say = true
	for _, b := range g.Blocks {
		if s := before[b.Index]; s != nil {
			f.block(b, s)
		}
	}
}

// prepare fills the maps written, shown, dropped and shared.
func (f *function) prepare(body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			f.written[n.Key], f.written[n.Value] = true, true
		case *ast.CommClause:
			if a, ok := n.Comm.(*ast.AssignStmt); ok {
				f.written[a.Lhs[0]] = true
			}
		case *ast.SwitchStmt:
			if n.Tag == nil {
				break
			}
			f.shown[n.Tag] = true
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					f.shown[e] = true
				}
			}
		case *ast.ExprStmt:
			f.dropped[ast.Unparen(n.X)] = true
		case *ast.AssignStmt:
			if len(n.Rhs) == 1 && len(n.Lhs) == 1 && blank(n.Lhs[0]) {
				f.dropped[ast.Unparen(n.Rhs[0])] = true
			}
		case *ast.FuncLit:
			ast.Inspect(n.Body, func(n ast.Node) bool {
				assigned(f.p.TypesInfo, n, f.shared)
				return true
			})
			return false
		}
		return true
	})
}

// edge returns the state on an edge that leaves a block. holds reports whether the program takes this edge if
// the condition of the block holds. The condition may compare the error of an ending in s.ends with nil. Then
// edge applies the ending to the state of the edge where the error is nil, and drops it on the other edge.
func (f *function) edge(b *cfg.Block, holds bool, s *state) *state {
	if len(s.ends) == 0 || len(b.Succs) != 2 || len(b.Nodes) == 0 {
		return s
	}
	c, ok := b.Nodes[len(b.Nodes)-1].(*ast.BinaryExpr)
	if !ok || c.Op != token.EQL && c.Op != token.NEQ || !f.p.TypesInfo.Types[c.Y].IsNil() {
		return s
	}
	errPlace, ok := f.place(c.X)
	e, known := s.ends[errPlace]
	if !ok || !known {
		return s
	}
	s = s.clone()
	delete(s.ends, errPlace)
	if holds == (c.Op == token.EQL) {
		s.settle(e)
	}
	return s
}

// block applies the statements of a block to a state.
func (f *function) block(b *cfg.Block, s *state) {
	switch stmt := b.Stmt.(type) {
	case *ast.RangeStmt:
		if !f.quiet(stmt.X) {
			s.forget(f.changes)
		}
		if b.Kind == cfg.KindRangeBody {
			f.write(stmt.Key, s)
			f.write(stmt.Value, s)
		}
	case *ast.CommClause:
		if b.Kind == cfg.KindSelectCaseBody {
			s.forget(f.changes)
			if a, ok := stmt.Comm.(*ast.AssignStmt); ok {
				for _, to := range a.Lhs {
					f.write(to, s)
				}
			}
		}
	}
	for _, n := range b.Nodes {
		if f.written[n] {
			continue
		}
		switch n := n.(type) {
		case *ast.DeferStmt, *ast.GoStmt:
			// The call runs later.
		case *ast.AssignStmt:
			for _, e := range n.Rhs {
				if len(n.Lhs) == 1 && blank(n.Lhs[0]) {
					f.calls(e, s)
				} else {
					f.expr(e, s)
				}
			}
			for _, to := range n.Lhs {
				if p, ok := f.target(to); !ok || n.Tok != token.ASSIGN && n.Tok != token.DEFINE ||
					f.outermostBad(p, s) != p {
					f.expr(to, s)
				}
			}
			f.assign(n.Lhs, n.Rhs, s)
		case *ast.ValueSpec:
			for _, e := range n.Values {
				f.expr(e, s)
			}
			to := make([]ast.Expr, len(n.Names))
			for i, name := range n.Names {
				to[i] = name
			}
			f.assign(to, n.Values, s)
		case ast.Expr:
			if p, ok := f.place(n); !f.shown[n] || !ok || s.bad[p] == "" {
				f.expr(n, s)
			}
		default:
			f.expr(n, s)
		}
	}
}

// quiet reports whether a loop over x runs only the loop body and does not wait. This is so if x is a value
// such as a slice, or an iterator of Vast that runs no callback.
func (f *function) quiet(x ast.Expr) bool {
	switch f.p.TypesInfo.TypeOf(x).Underlying().(type) {
	case *types.Chan:
		return false
	case *types.Signature:
		call, ok := ast.Unparen(x).(*ast.CallExpr)
		if !ok {
			return false
		}
		name := lib.Callee(f.p.TypesInfo, call)
		return name != "" && !runsCallbacks(name)
	}
	return true
}

func blank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// target is like place, but for the left side of an assignment. There, *p is a place only if p points to a
// pointer.
func (f *function) target(e ast.Expr) (place, bool) {
	if _, ok := ast.Unparen(e).(*ast.StarExpr); ok && !pointer(f.p.TypesInfo.TypeOf(e)) {
		return place{}, false
	}
	return f.place(e)
}

// outermostBad returns the outermost place in s.bad that contains p. If there is none, it returns p.
func (f *function) outermostBad(p place, s *state) place {
	found := p
	for q := range s.bad {
		if p.below(q) && len(q.path) < len(found.path) {
			found = q
		}
	}
	return found
}

// write forgets the facts about the place that an expression refers to, and about other places that may be in
// the same memory.
func (f *function) write(e ast.Expr, s *state) {
	if e == nil || blank(e) {
		return
	}
	e = ast.Unparen(e)
	_, variable := e.(*ast.Ident)
	if p, ok := f.target(e); ok {
		s.assign(p)
		if variable {
			return
		}
	} else if p, ok = f.place(e); ok {
		s.overwrite(p)
	}
	names := map[string]bool{"*": true}
	if selector, ok := e.(*ast.SelectorExpr); ok {
		names[selector.Sel.Name] = true
	}
	if t := f.p.TypesInfo.TypeOf(e); t != nil { // nil for the variable of a type switch
		fields(t, names, map[types.Type]bool{})
	}
	s.forget(func(p place) bool { return p.through(names) })
}

func (f *function) assign(to, values []ast.Expr, s *state) {
	origins := make([]*origin, len(to))
	for i := range to {
		switch {
		case len(values) == len(to):
			origins[i] = f.origin(values[i], 0, s)
		case len(values) == 1:
			origins[i] = f.origin(values[0], i, s)
		}
	}
	for _, e := range to {
		f.write(e, s)
	}
	for i, e := range to {
		p, ok := f.target(e)
		o := origins[i]
		if !ok || o == nil || o.owner.below(p) {
			continue
		}
		if o.by == mark {
			s.remark(o.at)
		}
		if r := returned[o.by]; r.number == 1 && len(to) == 2 && i == 1 {
			o.key, _ = f.place(to[0])
		}
		if o.key.below(p) {
			o.key = place{}
		}
		s.origins[p] = *o
	}
	if len(values) == 1 {
		f.unsure(to, values[0], s)
	}
}

// expr reports the bad uses in a statement or expression. Then it applies the effects of the calls.
func (f *function) expr(n ast.Node, s *state) {
	if f.say {
		f.report(n, s)
	}
	f.calls(n, s)
}
