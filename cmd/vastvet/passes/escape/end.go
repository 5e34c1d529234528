package escape

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
)

// endSignals collects the signals by which a goroutine may announce its end.
type endSignals struct {
	*look
	signalled []ast.Expr          // channels, WaitGroups and other values that carry a signal
	unknown   bool                // whether the goroutine may send other signals
	seen      []*ast.FuncDecl     // examined functions
	locked    map[string]struct{} // mutexes that the goroutine itself locks
}

func (e *endSignals) body(body *ast.BlockStmt) {
	e.locked = map[string]struct{}{}
	ast.Inspect(body, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && strings.HasSuffix(s.Sel.Name, "Lock") {
			e.locked[types.ExprString(s.X)] = struct{}{}
		}
		return true
	})
	if last := len(body.List) - 1; last >= 0 {
		if s, ok := body.List[last].(*ast.ExprStmt); ok {
			e.receive(s.X)
		}
	}
	e.walk(body, false)
}

// receive adds a channel that the goroutine receives from. Such a receive may release a semaphore.
func (e *endSignals) receive(x ast.Expr) {
	if u, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && u.Op == token.ARROW {
		e.signalled = append(e.signalled, u.X)
	}
}

// walk collects the signals in root. endless reports whether root is in a loop without a condition. Most
// signals in such a loop do not announce the end of the goroutine.
func (e *endSignals) walk(root ast.Node, endless bool) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.ForStmt:
			if n.Cond == nil && !endless {
				e.walk(n.Body, true)
				return false
			}
		case *ast.BlockStmt:
			return e.list(n, n.List, root, endless)
		case *ast.CaseClause:
			return e.list(n, n.Body, root, endless)
		case *ast.CommClause:
			return e.list(n, n.Body, root, endless)
		case *ast.DeferStmt:
			e.deferred(n.Call)
			return false
		case *ast.SendStmt:
			if !endless {
				e.signalled = append(e.signalled, n.Chan)
			}
		case *ast.CallExpr:
			e.call(n, endless)
		}
		return true
	})
}

// list handles a statement list in an endless loop. If the last statement is a return, a goto or a break with
// a label, the list probably leaves the loop, and list examines the statements as code outside of the loop.
// Otherwise list returns true, and the caller must examine the statements. A break without a label may leave
// only a switch or a select.
func (e *endSignals) list(n ast.Node, list []ast.Stmt, root ast.Node, endless bool) bool {
	if !endless || n == root || len(list) == 0 {
		return true
	}
	switch s := list[len(list)-1].(type) {
	case *ast.ReturnStmt:
	case *ast.BranchStmt:
		if s.Tok == token.CONTINUE || s.Tok == token.FALLTHROUGH || s.Tok == token.BREAK && s.Label == nil {
			return true
		}
	default:
		return true
	}
	e.walk(n, false)
	return false
}

// deferred examines a deferred call. A call of any method may be a signal. A call of Unlock or RUnlock is a
// signal only if the goroutine does not lock the mutex.
func (e *endSignals) deferred(call *ast.CallExpr) {
	before := len(e.signalled)
	e.call(call, false)
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		e.walk(lit.Body, false)
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			if x, ok := n.(ast.Expr); ok {
				e.receive(x)
			}
			return true
		})
		return
	}
	if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && len(e.signalled) == before &&
		e.TypesInfo.Selections[s] != nil && !strings.HasSuffix(s.Sel.Name, "Unlock") {
		e.signalled = append(e.signalled, s.X)
	}
}

func (e *endSignals) call(call *ast.CallExpr, endless bool) {
	callee := typeutil.Callee(e.TypesInfo, call)
	if b, ok := callee.(*types.Builtin); ok {
		if b.Name() == "close" {
			e.signalled = append(e.signalled, call.Args[0])
		}
		return
	}
	f, ok := callee.(*types.Func)
	if ok && f.Name() == "Done" && f.Signature().Results().Len() == 0 && lib.Receiver(call) != nil {
		e.signalled = append(e.signalled, lib.Receiver(call))
		return
	}
	if endless {
		return
	}
	if !ok {
		if v, ok := callee.(*types.Var); ok && len(call.Args) == 0 && e.TypesInfo.Types[call].IsVoid() {
			e.unknown = e.unknown || !v.IsField() // for example cancel() or onEnd()
		}
	} else if pkg := f.Pkg(); pkg != nil && !lib.Own(pkg) {
		e.method(f, call)
	}
	for _, arg := range call.Args {
		if e.signals(e.TypesInfo.TypeOf(arg)) {
			e.signalled = append(e.signalled, arg)
		}
	}
	if d := e.function(call.Fun); d != nil && !slices.Contains(e.seen, d) {
		e.inside(d)
	}
}

// method adds a signal if the name or the package of the called function suggests one.
func (e *endSignals) method(f *types.Func, call *ast.CallExpr) {
	x := lib.Receiver(call)
	if x == nil {
		return
	}
	standard := f.Pkg().Path() == "sync" || f.Pkg().Path() == "sync/atomic"
	switch name := f.Name(); {
	case f.Signature().Recv() == nil:
		if standard && len(call.Args) > 0 {
			e.signalled = append(e.signalled, call.Args[0])
		}
	case name == "Unlock" || name == "RUnlock":
		if _, own := e.locked[types.ExprString(x)]; !own {
			e.signalled = append(e.signalled, x)
		}
	case name == "Release" || name == "Signal" || name == "Broadcast",
		standard && (name == "Store" || name == "Add" || name == "Swap" || name == "CompareAndSwap"):
		e.signalled = append(e.signalled, x)
	}
}

// signals reports whether a function may signal through an argument of type t.
func (e *endSignals) signals(t types.Type) bool {
	switch u := types.Unalias(t).(type) {
	case *types.Chan:
		return u.Dir() != types.RecvOnly
	case *types.Pointer:
		named, ok := types.Unalias(u.Elem()).(*types.Named)
		return ok && named.Obj().Pkg() != nil && strings.HasPrefix(named.Obj().Pkg().Path(), "sync")
	}
	return false
}

// inside examines d, a function of the analysed package. The goroutine calls d. A signal through a parameter
// of d sets unknown, because inside does not trace the parameter back to the argument. A signal through a
// package variable, or through an expression without a root, sets unknown, too.
func (e *endSignals) inside(d *ast.FuncDecl) {
	called := &endSignals{look: e.look, seen: append(slices.Clip(e.seen), d)}
	called.body(d.Body)
	e.unknown = e.unknown || called.unknown || slices.ContainsFunc(called.signalled, func(to ast.Expr) bool {
		v := e.root(to)
		return v == nil || v.Parent() == v.Pkg().Scope() || e.values.Parameter(v)
	})
}
