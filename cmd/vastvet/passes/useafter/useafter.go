// Package useafter finds what is used in a function after the same function has ended its use.
package useafter

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/cfg"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/flow"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// Analyzer finds uses after Close, Release, Reset, Truncate and Free.
var Analyzer = check.New("useafter", `find uses after Close, Release, Reset, Truncate or Free

Close gives memory back to the system: a container that is used afterwards panics, and a pointer or a slice that it handed out
before leads to nothing, or to what was put there since. The same holds for what was allocated in an arena before Reset, or
between a Mark and its Release; for elements cut off by Truncate(0); and for what was freed.

	first := ships.At(0)
	ships.Close()
	return first.Fuel // wrong

	fuel := ships.At(0).Fuel
	ships.Close()
	return fuel // right

What ends on one way through the function only is not reported where the ways have met again, and neither is what ends in a
deferred call.`, run)

func run(p *check.Pass) {
	var values *trace.Values
	p.Functions(func(_ ast.Node, _ *ast.FuncType, body *ast.BlockStmt) {
		if !ending(p.TypesInfo, body) {
			return
		}
		if values == nil {
			values = trace.New(p.TypesInfo, p.Inspector)
		}
		f := &function{p: p, values: values, shared: map[*types.Var]bool{}, ranged: map[ast.Node]bool{}}
		f.look(body)
	})
}

// ending reports whether a function ends the use of something.
func ending(info *types.Info, body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && !found {
			name := lib.Callee(info, call)
			_, last := lib.Split(name)
			found = name != "" && (last == "Close" || last == "Release" || ends[name] != "" || in(truncates, name) || in(frees, name))
		}
		return !found
	})
	return found
}

// function is one that is looked at.
type function struct {
	p      *check.Pass
	values *trace.Values
	shared map[*types.Var]bool // variables that a function literal in the function gives values
	ranged map[ast.Node]bool   // the variables of range statements, where they stand in these
	say    bool                // whether what is found is reported, in the last pass
}

// look goes over a function until no more is learned, and then once more to report.
func (f *function) look(body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			f.ranged[n.Key], f.ranged[n.Value] = true, true
		case *ast.FuncLit:
			ast.Inspect(n.Body, func(n ast.Node) bool {
				if a, ok := n.(*ast.AssignStmt); ok {
					for _, to := range a.Lhs {
						if _, root := trace.Path(f.p.TypesInfo, to); root != nil {
							f.shared[root] = true
						}
					}
				}
				return true
			})
			return false
		}
		return true
	})
	g := flow.Graph(f.p.TypesInfo, body)
	before := make([]*state, len(g.Blocks))
	before[0] = newState()
	for work := []*cfg.Block{g.Blocks[0]}; len(work) > 0; {
		b := work[0]
		work = work[1:]
		after := before[b.Index].clone()
		f.block(b, after)
		for _, next := range b.Succs {
			switch known := before[next.Index]; {
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

// block applies what a block does to a state.
func (f *function) block(b *cfg.Block, s *state) {
	if r, ok := b.Stmt.(*ast.RangeStmt); ok && b.Kind == cfg.KindRangeBody {
		for _, x := range []ast.Expr{r.Key, r.Value} {
			if p, ok := f.place(x); ok {
				s.assign(p)
			}
		}
	}
	for _, n := range b.Nodes {
		if f.ranged[n] {
			continue
		}
		switch n := n.(type) {
		case *ast.DeferStmt, *ast.GoStmt:
			// Runs later.
		case *ast.AssignStmt:
			for _, e := range n.Rhs {
				if len(n.Lhs) == 1 && blank(n.Lhs[0]) {
					f.calls(e, s)
				} else {
					f.expr(e, s)
				}
			}
			for _, to := range n.Lhs {
				if p, ok := f.target(to); !ok || n.Tok != token.ASSIGN && n.Tok != token.DEFINE || f.bad(p, s) != p {
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
		default:
			f.expr(n, s)
		}
	}
}

func blank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// place returns what an expression names, if that can be followed.
func (f *function) place(e ast.Expr) (place, bool) {
	if e == nil {
		return place{}, false
	}
	path, root := trace.Path(f.p.TypesInfo, e)
	if root == nil || f.shared[root] || f.values.Taken(root) || path == "_" {
		return place{}, false
	}
	return place{root, path}, true
}

// target is place for what an assignment writes: behind a pointer it writes nothing that is followed.
func (f *function) target(e ast.Expr) (place, bool) {
	if _, ok := ast.Unparen(e).(*ast.StarExpr); ok {
		return place{}, false
	}
	return f.place(e)
}

// bad returns the bad place that a place is or lies in, else the place itself.
func (f *function) bad(p place, s *state) place {
	for q := range s.bad {
		if p.below(q) {
			return q
		}
	}
	return p
}

// assign notes that variables get values.
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
	for i, e := range to {
		if p, ok := f.target(e); ok {
			s.assign(p)
			if o := origins[i]; o != nil && !o.owner.below(p) {
				s.from[p] = *o
			}
		}
	}
}

// origin returns where a value was handed out, if that is known. number is which of a call's results it is.
func (f *function) origin(e ast.Expr, number int, s *state) *origin {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		name := lib.Callee(f.p.TypesInfo, e)
		r, ok := from[name]
		if !ok || r.number != number {
			return nil
		}
		owner, ok := f.owner(e)
		if !ok {
			return nil
		}
		marks := ""
		for p, o := range s.from {
			if o.owner == owner && o.by == "arena.Arena.Mark" && s.closed[p] == "" {
				marks += p.path + ","
			}
		}
		return &origin{owner, r.part, name, marks}
	case *ast.SliceExpr:
		return f.origin(e.X, 0, s)
	case *ast.UnaryExpr:
		if x, ok := ast.Unparen(e.X).(*ast.IndexExpr); ok && e.Op == token.AND {
			return f.origin(x.X, 0, s)
		}
	case *ast.Ident, *ast.SelectorExpr:
		if p, ok := f.place(e.(ast.Expr)); ok {
			if o, ok := s.from[p]; ok && !o.part {
				return &o
			}
		}
	}
	return nil
}

// owner returns what a call is made on or for.
func (f *function) owner(call *ast.CallExpr) (place, bool) {
	x := lib.Receiver(call)
	if x == nil || !f.p.TypesInfo.Types[x].IsValue() {
		if len(call.Args) == 0 {
			return place{}, false
		}
		x = call.Args[0]
	}
	return f.place(x)
}

// expr reports the bad uses in a statement or expression, and then applies its calls.
func (f *function) expr(n ast.Node, s *state) {
	if f.say {
		f.report(n, s)
	}
	f.calls(n, s)
}

// calls applies what the calls in a statement or expression do.
func (f *function) calls(n ast.Node, s *state) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			defer f.call(n, s)
		}
		return true
	})
}

// call applies what a call does.
func (f *function) call(call *ast.CallExpr, s *state) {
	name := lib.Callee(f.p.TypesInfo, call)
	if !f.harmless(call, name) {
		s.unknown()
	}
	of, last := lib.Split(name)
	switch {
	case last == "Close" && (needsOpen[of] != nil || in(closes, of)):
		if p, ok := f.owner(call); ok {
			s.close(p, types.ExprString(call.Fun))
		}
	case ends[name] != "":
		if p, ok := f.owner(call); ok {
			s.empty(p, types.ExprString(call.Fun), func(origin) bool { return true })
		}
	case in(truncates, name) && len(call.Args) == 1 && f.zero(call.Args[0]):
		if p, ok := f.owner(call); ok {
			if o, known := s.from[p]; known && o.part {
				p = o.owner
			}
			s.empty(p, types.ExprString(call), func(origin) bool { return true })
		}
	case name == "arena.Arena.Release" && len(call.Args) == 1:
		p, ok := f.owner(call)
		m, known := f.place(call.Args[0])
		if o := s.from[m]; ok && known && o.owner == p && o.by == "arena.Arena.Mark" {
			s.empty(p, types.ExprString(call), func(o origin) bool { return strings.Contains(","+o.marks, ","+m.path+",") })
			s.closed[m] = types.ExprString(call)
		}
	case in(frees, name) && len(call.Args) == 2:
		if p, ok := f.place(call.Args[1]); ok {
			s.bad[p] = types.ExprString(call)
		}
	}
}

func (f *function) zero(e ast.Expr) bool {
	v := f.p.TypesInfo.Types[e].Value
	return v != nil && v.Kind() == constant.Int && constant.Sign(v) == 0
}

// harmless reports whether a call changes no variables of the package: it is one of Vast's, a conversion, or one of the language's
// own functions.
func (f *function) harmless(call *ast.CallExpr, name string) bool {
	if t := f.p.TypesInfo.Types[call.Fun]; t.IsType() || t.IsBuiltin() {
		return true
	}
	callee := typeutil.Callee(f.p.TypesInfo, call)
	return name != "" && callee.Pkg() != f.p.Pkg
}

// report reports the bad uses in a statement or expression.
func (f *function) report(n ast.Node, s *state) {
	if len(s.closed) == 0 && len(s.bad) == 0 {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BinaryExpr:
			// To compare addresses is no use of what they lead to.
			if n.Op == token.EQL || n.Op == token.NEQ {
				for _, x := range []ast.Expr{n.X, n.Y} {
					if p, ok := f.place(x); !ok || s.bad[p] == "" {
						f.report(x, s)
					}
				}
				return false
			}
		case *ast.CallExpr:
			if t := f.p.TypesInfo.Types[n.Fun]; t.IsBuiltin() {
				if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok && (id.Name == "len" || id.Name == "cap") {
					return false
				}
			}
			f.reportCall(n, s)
		case *ast.Ident, *ast.SelectorExpr:
			p, ok := f.place(n.(ast.Expr))
			if !ok {
				return true
			}
			q := f.bad(p, s)
			if address(q) {
				return false
			}
			if s.bad[q] != "" {
				f.sayBad(n, q, s)
				return false
			}
		}
		return true
	})
}

func (f *function) sayBad(n ast.Node, p place, s *state) {
	f.p.Say(n, "%s is used after %s: what it leads to is gone; take what you need from it before", p.path, s.bad[p])
}

// address reports whether a place holds an address only, which can be shown and compared when nothing is there any more.
func address(p place) bool { return p.root.Type().Underlying() == types.Typ[types.UnsafePointer] }

// reportCall reports a call that needs open what is closed.
func (f *function) reportCall(call *ast.CallExpr, s *state) {
	name := lib.Callee(f.p.TypesInfo, call)
	of, last := lib.Split(name)
	if t := f.p.TypesInfo.Types[call.Fun]; t.IsType() && len(call.Args) == 1 {
		if _, pointer := t.Type.Underlying().(*types.Pointer); pointer {
			if p, ok := f.place(call.Args[0]); ok && address(p) && s.bad[p] != "" {
				f.sayBad(call, p, s)
			}
		}
	}
	if in(needsOpen[of], last) || in(uses, name) {
		if p, ok := f.owner(call); ok && s.closed[p] != "" {
			f.p.Say(call, "%s is used after %s: %s panics then; end its use when nothing needs it any more", p.path, s.closed[p], last)
		}
	}
	if owner, ok := f.owner(call); ok && name == "arena.Arena.Release" && s.closed[owner] == "" {
		if m, ok := f.place(call.Args[0]); ok && s.closed[m] != "" {
			f.p.Say(call, "the mark %s is released after %s: a mark is good for one release, and for none after Reset", m.path, s.closed[m])
		}
	}
}
