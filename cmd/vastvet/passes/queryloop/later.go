package queryloop

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
)

// later returns the edits that make a call record its change in Commands. It returns nil if no method records
// the change, if the program uses the result of the call, if commandsAt finds no Commands, or if the edited
// program would not compile.
func (l *loop) later(call *ast.CallExpr, v verb, statement bool) []analysis.TextEdit {
	s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || !statement || v.later == "" {
		return nil
	}
	commands := l.commandsAt(call)
	if commands == "" {
		return nil
	}
	switch v.later {
	case "Commands.Delete":
		if !l.usedElsewhere(s.X) {
			return nil
		}
		return []analysis.TextEdit{{Pos: s.X.Pos(), End: s.X.End(), NewText: []byte(commands)}}
	case "Commands.New":
		return []analysis.TextEdit{
			{Pos: call.Pos(), End: s.X.Pos(), NewText: []byte(commands + ".New(")},
			{Pos: s.X.End(), End: call.End(), NewText: []byte(")")},
		}
	}
	return []analysis.TextEdit{
		{Pos: s.Sel.Pos(), End: s.Sel.End(), NewText: []byte(v.later)},
		{Pos: call.Lparen + 1, End: call.Lparen + 1, NewText: []byte(commands + ", ")},
	}
}

// usedElsewhere reports whether each local variable and each package in the expression world has a use
// outside the receivers of World.Delete. The fixes remove these receivers, and Go allows no unused variables
// or imports. Parameters need no use.
func (l *loop) usedElsewhere(world ast.Expr) bool {
	info := l.p.TypesInfo
	gone := map[*ast.Ident]bool{}
	for n := range l.p.Inspector.PreorderSeq((*ast.CallExpr)(nil)) {
		if call := n.(*ast.CallExpr); lib.Callee(info, call) == "vast.World.Delete" {
			ast.Inspect(lib.Receiver(call), func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					gone[id] = true
				}
				return true
			})
		}
	}
	needed := map[types.Object]bool{}
	for id := range gone {
		if id.Pos() < world.Pos() || world.End() < id.End() {
			continue
		}
		switch x := info.Uses[id].(type) {
		case *types.PkgName:
			needed[x] = true
		case *types.Var:
			if !x.IsField() && x.Parent() != l.p.Pkg.Scope() && !l.values.Parameter(x) {
				needed[x] = true
			}
		}
	}
	for id, x := range info.Uses {
		if needed[x] && !gone[id] {
			delete(needed, x)
		}
	}
	return len(needed) == 0
}

// commandsAt returns an expression for Commands that code at a node can use: a variable of type
// *vast.Commands that the function applies after the loop, or the Commands of a *sched.Context, which the
// schedule applies. Inner scopes take precedence. commandsAt returns an empty string if it finds no Commands,
// or several in one scope.
func (l *loop) commandsAt(at ast.Node) string {
	innermost := l.p.Pkg.Scope().Innermost(at.Pos())
	for scope := innermost; scope != nil && scope != l.p.Pkg.Scope(); scope = scope.Parent() {
		var found []string
		for _, name := range scope.Names() {
			x, ok := scope.Lookup(name).(*types.Var)
			if !ok || x.Pos() >= at.Pos() || name == "_" {
				continue
			}
			if _, seen := innermost.LookupParent(name, at.Pos()); seen != x {
				continue
			}
			if _, pointer := types.Unalias(x.Type()).(*types.Pointer); !pointer {
				continue
			}
			switch lib.TypeName(x.Type()) {
			case "vast.Commands":
				if l.applied(x) {
					found = append(found, name)
				}
			case "sched.Context":
				found = append(found, name+".Commands()")
			}
		}
		if len(found) > 0 {
			if len(found) > 1 {
				return ""
			}
			return found[0]
		}
	}
	return ""
}

// applied reports whether the function applies cs after the loop, to a world that may be the loop's world.
func (l *loop) applied(cs *types.Var) (found bool) {
	ast.Inspect(l.function, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Pos() < l.r.End() || lib.Callee(l.p.TypesInfo, call) != "vast.World.Apply" {
			return true
		}
		for _, arg := range call.Args {
			found = found || l.values.Var(arg) == cs &&
				!l.worlds.of(lib.Receiver(call)).differs(l.worlds.of(l.over))
		}
		return true
	})
	return found
}
