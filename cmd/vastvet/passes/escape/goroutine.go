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

// start describes the start of a goroutine.
type start struct {
	in   ast.Decl // surrounding declaration
	at   ast.Node // go statement, or call that starts the goroutine
	fun  ast.Expr
	args []ast.Expr
	wait ast.Expr // WaitGroup whose method Go starts the goroutine, or nil
}

func (l *look) started(in ast.Decl, call *ast.CallExpr) {
	f, ok := typeutil.Callee(l.TypesInfo, call).(*types.Func)
	if !ok {
		return
	}
	switch f.FullName() {
	case "time.AfterFunc":
		l.goroutine(start{in: in, at: call, fun: call.Args[1]})
	case "(*sync.WaitGroup).Go":
		l.goroutine(start{in: in, at: call, fun: call.Args[0], wait: lib.Receiver(call)})
	}
}

// goroutine reports the pointers that a goroutine uses. It reports nothing if the starting function waits for
// the goroutine, or if other code may wait for the goroutine.
func (l *look) goroutine(s start) {
	pointers, remedies := l.taken(s)
	if len(pointers) == 0 || l.waits(s.in, s.at, l.literal(s.fun)) || l.maySignal(s) {
		return
	}
	for i, p := range pointers {
		l.Say(p, "%s leads to memory off the Go heap and belongs to a goroutine "+
			"that the function does not wait for: wait for the goroutine, or %s", types.ExprString(p),
			remedies[i])
	}
}

// literal returns the function literal of an expression, or nil. The expression is the literal itself, or a
// variable that holds the literal.
func (l *look) literal(fun ast.Expr) *ast.FuncLit {
	lit, _ := ast.Unparen(l.values.Only(fun).Expr).(*ast.FuncLit)
	return lit
}

// taken returns the pointers with a limited lifetime that a goroutine uses, and the advice for each.
func (l *look) taken(s start) (at []ast.Expr, remedies []string) {
	take := func(e ast.Expr, remedy string) {
		at, remedies = append(at, e), append(remedies, remedy)
	}
	for _, arg := range s.args {
		if e, remedy := l.pointer(arg); e != nil {
			take(e, remedy)
		}
	}
	if fun, ok := ast.Unparen(s.fun).(*ast.SelectorExpr); ok {
		if method := l.TypesInfo.Selections[fun]; method != nil && method.Kind() == types.MethodVal {
			// A receiver that is not a pointer is copied before the goroutine begins.
			_, pointer := types.Unalias(method.Obj().(*types.Func).Signature().Recv().Type()).(*types.Pointer)
			if remedy := l.adviceFor(fun.X, 0); pointer && remedy != "" {
				take(fun.X, remedy)
			}
		}
	}
	lit := l.literal(s.fun)
	if lit == nil {
		return at, remedies
	}
	said := map[*types.Var]bool{}
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		if _, another := n.(*ast.GoStmt); another {
			return false
		}
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := l.TypesInfo.Uses[id].(*types.Var)
		if !ok || v.IsField() || said[v] || within(lit, v.Pos()) || l.global(id) != nil {
			return true
		}
		if remedy := l.adviceFor(id, 0); remedy != "" {
			said[v] = true
			take(id, remedy)
		}
		return true
	})
	return at, remedies
}

func within(n ast.Node, pos token.Pos) bool { return n.Pos() <= pos && pos < n.End() }

// waits reports whether a declaration waits after a node, which is a send or the start of a goroutine.
// Waiting means a receive from a channel, or a call of a function whose name suggests waiting. If the node is
// a start, the code of new goroutines does not count. lit is the literal of the started goroutine, or nil.
func (l *look) waits(in ast.Decl, after ast.Node, lit *ast.FuncLit) (found bool) {
	_, send := after.(*ast.SendStmt)
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if !send && (n == after || !within(n, after.Pos())) {
				return false
			}
		case *ast.FuncLit:
			if n == lit {
				return false
			}
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW && n.Pos() > after.Pos()
		case *ast.RangeStmt:
			if _, ok := l.TypesInfo.TypeOf(n.X).Underlying().(*types.Chan); ok && n.End() > after.Pos() {
				found = true
			}
		case *ast.CallExpr:
			if n == after {
				return false
			}
			if n.Pos() > after.Pos() {
				name := strings.ToLower(types.ExprString(n.Fun))
				name = name[strings.LastIndexByte(name, '.')+1:]
				for _, part := range [...]string{"wait", "join", "done", "finish", "sync", "drain",
					"collect"} {
					found = found || strings.Contains(name, part) && name != "done"
				}
			}
			// The function that is called may wait later, as t.Cleanup(group.Wait) does.
			found = found || slices.ContainsFunc(n.Args, l.waiter)
		case *ast.DeferStmt:
			// The deferred call runs at the end of the function.
			ast.Inspect(n.Call, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					found = found || strings.Contains(strings.ToLower(s.Sel.Name), "wait")
				}
				if u, ok := n.(*ast.UnaryExpr); ok {
					found = found || u.Op == token.ARROW
				}
				return true
			})
		}
		return !found
	})
	return found
}

func (l *look) waiter(e ast.Expr) bool {
	s, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok || !strings.Contains(strings.ToLower(s.Sel.Name), "wait") {
		return false
	}
	method := l.TypesInfo.Selections[s]
	return method != nil && method.Kind() == types.MethodVal
}

// maySignal reports whether a goroutine may signal its end to waiting code. If the goroutine's code is
// unknown, one of several arguments may serve as the signal.
func (l *look) maySignal(s start) bool {
	if s.wait != nil && l.heard(s, nil, s.wait) {
		return true
	}
	var typ *ast.FuncType
	var body *ast.BlockStmt
	if lit := l.literal(s.fun); lit != nil {
		typ, body = lit.Type, lit.Body
	} else if d := l.function(s.fun); d != nil {
		typ, body = d.Type, d.Body
	} else {
		return len(s.args) > 1
	}
	e := &endSignals{look: l}
	e.body(body)
	return e.unknown ||
		slices.ContainsFunc(e.signalled, func(to ast.Expr) bool { return l.heard(s, typ, to) })
}

// function returns the declaration of the function that an expression refers to, or nil if this package does
// not declare the function.
func (l *look) function(fun ast.Expr) *ast.FuncDecl {
	var id *ast.Ident
	switch x := ast.Unparen(fun).(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	default:
		return nil
	}
	f, ok := l.TypesInfo.Uses[id].(*types.Func)
	if !ok {
		return nil
	}
	return l.functions[f.Origin()]
}

// heard reports whether other code may wait for a signal of a goroutine. If the starting function makes the
// value that carries the signal, and keeps this value in a local variable, only code in that function can
// wait. If the signal may be a parameter of the goroutine's function, typ is the type of this function.
// Otherwise typ is nil.
func (l *look) heard(s start, typ *ast.FuncType, signal ast.Expr) bool {
	v := l.root(signal)
	if v == nil {
		return true
	}
	if typ != nil {
		number := 0
		for _, field := range typ.Params.List {
			for _, name := range field.Names {
				if l.TypesInfo.Defs[name] == v && number < len(s.args) {
					return l.heard(s, nil, s.args[number])
				}
				number++
			}
		}
	}
	if v.Parent() == v.Pkg().Scope() || l.values.Parameter(v) {
		return true
	}
	sources, _ := l.values.Sources(v)
	for _, from := range sources {
		if from.Range != nil || from.Expr == nil || !l.fresh(from.Expr) {
			return true
		}
	}
	return l.mayWaitOn(s, v)
}

// root returns the variable from which an expression is reached, or nil.
func (l *look) root(e ast.Expr) *types.Var {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			v, _ := l.TypesInfo.ObjectOf(x).(*types.Var)
			return v
		case *ast.SelectorExpr:
			if v, ok := l.TypesInfo.Uses[x.Sel].(*types.Var); ok && !v.IsField() {
				return v
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.UnaryExpr:
			if x.Op != token.AND {
				return nil
			}
			e = x.X
		default:
			return nil
		}
	}
}

// fresh reports whether an expression makes a new value, which no other code has.
func (l *look) fresh(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		return x.Op == token.AND && l.fresh(x.X)
	case *ast.CallExpr:
		id, ok := ast.Unparen(x.Fun).(*ast.Ident)
		return ok && l.TypesInfo.Types[x.Fun].IsBuiltin() && (id.Name == "make" || id.Name == "new")
	}
	return l.TypesInfo.Types[e].Value != nil || l.TypesInfo.Types[e].IsNil()
}

// mayWaitOn reports whether code outside of a goroutine may wait for the signal that a local variable
// carries.
func (l *look) mayWaitOn(s start, v *types.Var) (found bool) {
	lit := l.literal(s.fun)
	var stack []ast.Node
	ast.Inspect(s.in, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if found || s.wait == nil && n == s.at || lit != nil && n == lit {
			return false
		}
		if id, ok := n.(*ast.Ident); ok && l.TypesInfo.Uses[id] == v &&
			!l.signalsOrStarts(stack, id, s.at.End()) {
			found = true
		}
		stack = append(stack, n)
		return true
	})
	return found
}

// signalsOrStarts reports whether a use of a variable is itself a signal, or belongs to the start of a
// goroutine that signals through the variable. Such a use does not wait. started is the end of the code that
// starts the goroutine.
func (l *look) signalsOrStarts(stack []ast.Node, id *ast.Ident, started token.Pos) bool {
	before := id.Pos() < started
	var child ast.Node = id
	for i := len(stack) - 1; i >= 0; i-- {
		switch n := stack[i].(type) {
		case *ast.ParenExpr, *ast.IndexExpr:
		case *ast.UnaryExpr:
			if n.Op != token.AND {
				return false
			}
		case *ast.SelectorExpr:
			call, ok := stack[max(i-1, 0)].(*ast.CallExpr)
			if !ok || call.Fun != n {
				break // a field
			}
			switch n.Sel.Name {
			case "Add", "Done", "Go", "Store", "Unlock", "RUnlock", "Release":
				return true
			case "Lock", "RLock", "Acquire":
				return before
			}
			return false
		case *ast.AssignStmt:
			return slices.ContainsFunc(n.Lhs, func(to ast.Expr) bool { return to == child })
		case *ast.SendStmt:
			return n.Chan == child && (before || slices.ContainsFunc(stack, isGo))
		case *ast.CallExpr:
			id, ok := ast.Unparen(n.Fun).(*ast.Ident)
			return ok && l.TypesInfo.Types[n.Fun].IsBuiltin() && id.Name == "close"
		default:
			return false
		}
		child = stack[i]
	}
	return false
}

func isGo(n ast.Node) bool { _, ok := n.(*ast.GoStmt); return ok }
