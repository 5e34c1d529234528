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

// start is where a goroutine begins.
type start struct {
	in   ast.Decl // the declaration in which it is
	at   ast.Node // the go statement, or the call that makes a goroutine
	fun  ast.Expr
	args []ast.Expr
	wait ast.Expr // the WaitGroup that counts it, or nil
}

// started looks at a call that makes a goroutine.
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

// goroutine reports what a goroutine that nobody waits for is handed.
func (l *look) goroutine(s start) {
	at, remedies := l.taken(s)
	if len(at) == 0 || l.waits(s.in, s.at, l.literal(s.fun)) || l.ends(s) {
		return
	}
	for i, at := range at {
		l.Say(at, "%s leads to memory off the Go heap and belongs to a goroutine that nobody waits for here, and that may use "+
			"it when it is gone: wait for the goroutine, or %s", types.ExprString(at), remedies[i])
	}
}

// literal returns the function literal that an expression is or is a variable for, or nil.
func (l *look) literal(fun ast.Expr) *ast.FuncLit {
	lit, _ := ast.Unparen(l.values.Only(fun).Expr).(*ast.FuncLit)
	return lit
}

// taken returns what a goroutine has of what is handed out for a while, and what to keep in its place.
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
			// Another receiver than a pointer is copied before the goroutine begins.
			_, pointer := types.Unalias(method.Obj().(*types.Func).Signature().Recv().Type()).(*types.Pointer)
			if remedy := l.handed(fun.X, 0); pointer && remedy != "" {
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
		if remedy := l.handed(id, 0); remedy != "" {
			said[v] = true
			take(id, remedy)
		}
		return true
	})
	return at, remedies
}

func within(n ast.Node, pos token.Pos) bool { return n.Pos() <= pos && pos < n.End() }

// waits reports whether a declaration waits for somebody behind a node: it receives, or calls a function of such a name.
// What the goroutine that begins there does, be it in a literal, is no wait for it, nor is what other goroutines do.
func (l *look) waits(in ast.Decl, behind ast.Node, lit *ast.FuncLit) (found bool) {
	_, send := behind.(*ast.SendStmt)
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if !send && (n == behind || !within(n, behind.Pos())) {
				return false
			}
		case *ast.FuncLit:
			if n == lit {
				return false
			}
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW && n.Pos() > behind.Pos()
		case *ast.RangeStmt:
			if _, ok := l.TypesInfo.TypeOf(n.X).Underlying().(*types.Chan); ok && n.End() > behind.Pos() {
				found = true
			}
		case *ast.CallExpr:
			if n == behind {
				return false
			}
			if n.Pos() > behind.Pos() {
				name := strings.ToLower(types.ExprString(n.Fun))
				name = name[strings.LastIndexByte(name, '.')+1:]
				for _, part := range [...]string{"wait", "join", "done", "finish", "sync", "drain", "collect"} {
					found = found || strings.Contains(name, part) && name != "done"
				}
			}
			// Such as t.Cleanup(group.Wait), which calls it later.
			found = found || slices.ContainsFunc(n.Args, l.waiter)
		case *ast.DeferStmt:
			// Runs behind everything.
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

// waiter reports whether an expression is a method that waits.
func (l *look) waiter(e ast.Expr) bool {
	s, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok || !strings.Contains(strings.ToLower(s.Sel.Name), "wait") {
		return false
	}
	method := l.TypesInfo.Selections[s]
	return method != nil && method.Kind() == types.MethodVal
}

// ends reports whether a goroutine may say its end to somebody who waits for it, or what it does is not known.
func (l *look) ends(s start) bool {
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
	e := &end{look: l}
	e.body(body)
	return e.unknown || slices.ContainsFunc(e.told, func(to ast.Expr) bool { return l.heard(s, typ, to) })
}

// function returns the declaration of a function of the package that an expression names, or nil.
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

// heard reports whether somebody may wait for what a goroutine tells its end to: where it is a local variable that is
// made in the function which starts the goroutine, only that can. typ is the goroutine's function, or nil.
func (l *look) heard(s start, typ *ast.FuncType, to ast.Expr) bool {
	v := l.root(to)
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
	return l.used(s, v)
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

// fresh reports whether a value is made where it stands, so that nobody else has it.
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

// used reports whether a local variable is used outside of a goroutine in a way by which somebody may wait: other than to
// count the goroutine, or for its beginning.
func (l *look) used(s start, v *types.Var) (found bool) {
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
		if id, ok := n.(*ast.Ident); ok && l.TypesInfo.Uses[id] == v && !l.counts(stack, id, s.at.End()) {
			found = true
		}
		stack = append(stack, n)
		return true
	})
	return found
}

// counts reports whether a use of a variable only prepares the goroutines that tell it their end, or is one of theirs.
func (l *look) counts(stack []ast.Node, id *ast.Ident, behind token.Pos) bool {
	front := id.Pos() < behind
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
				return front
			}
			return false
		case *ast.AssignStmt:
			return slices.ContainsFunc(n.Lhs, func(to ast.Expr) bool { return to == child })
		case *ast.SendStmt:
			return n.Chan == child && (front || slices.ContainsFunc(stack, isGo))
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

// end collects what a goroutine tells its end to.
type end struct {
	*look
	told    []ast.Expr
	unknown bool                // whether it may tell its end to something else too
	seen    []*ast.FuncDecl     // functions that were looked into
	locked  map[string]struct{} // mutexes that the goroutine itself locks
}

func (e *end) body(body *ast.BlockStmt) {
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

// receive notes a channel that is received from, as that of a semaphore is to leave it.
func (e *end) receive(x ast.Expr) {
	if u, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && u.Op == token.ARROW {
		e.told = append(e.told, u.X)
	}
}

// walk looks for signals. endless says that the node is a part of a loop that never ends of itself, where most of what
// looks like a signal is none.
func (e *end) walk(root ast.Node, endless bool) {
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
				e.told = append(e.told, n.Chan)
			}
		case *ast.CallExpr:
			e.call(n, endless)
		}
		return true
	})
}

// list looks at a part of an endless loop that leaves it as at what stands outside of the loop. It reports whether that is
// still to be looked at.
func (e *end) list(n ast.Node, list []ast.Stmt, root ast.Node, endless bool) bool {
	if !endless || n == root || len(list) == 0 {
		return true
	}
	switch s := list[len(list)-1].(type) {
	case *ast.ReturnStmt:
	case *ast.BranchStmt:
		if s.Tok == token.CONTINUE || s.Tok == token.BREAK && s.Label == nil {
			return true
		}
	default:
		return true
	}
	e.walk(n, false)
	return false
}

// deferred looks at a deferred call: whatever it calls of what the goroutine was given may be the signal.
func (e *end) deferred(call *ast.CallExpr) {
	before := len(e.told)
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
	if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && len(e.told) == before && e.TypesInfo.Selections[s] != nil &&
		!strings.HasSuffix(s.Sel.Name, "Unlock") {
		e.told = append(e.told, s.X)
	}
}

// call looks at a call that may be a signal.
func (e *end) call(call *ast.CallExpr, endless bool) {
	callee := typeutil.Callee(e.TypesInfo, call)
	if b, ok := callee.(*types.Builtin); ok {
		if b.Name() == "close" {
			e.told = append(e.told, call.Args[0])
		}
		return
	}
	f, ok := callee.(*types.Func)
	if ok && f.Name() == "Done" && f.Signature().Results().Len() == 0 && lib.Receiver(call) != nil {
		e.told = append(e.told, lib.Receiver(call))
		return
	}
	if endless {
		return
	}
	if !ok {
		if v, ok := callee.(*types.Var); ok && len(call.Args) == 0 && e.TypesInfo.Types[call].IsVoid() {
			e.unknown = e.unknown || !v.IsField() // such as cancel() and onEnd()
		}
	} else if of := f.Pkg(); of != nil && !lib.Own(of) {
		e.method(f, call)
	}
	for _, arg := range call.Args {
		if e.signals(e.TypesInfo.TypeOf(arg)) {
			e.told = append(e.told, arg)
		}
	}
	if d := e.function(call.Fun); d != nil && !slices.Contains(e.seen, d) {
		e.inside(d)
	}
}

// method looks at a call of a function that may be a signal by its name.
func (e *end) method(f *types.Func, call *ast.CallExpr) {
	x := lib.Receiver(call)
	if x == nil {
		return
	}
	standard := f.Pkg().Path() == "sync" || f.Pkg().Path() == "sync/atomic"
	switch name := f.Name(); {
	case f.Signature().Recv() == nil:
		if standard && len(call.Args) > 0 {
			e.told = append(e.told, call.Args[0])
		}
	case name == "Unlock" || name == "RUnlock":
		if _, own := e.locked[types.ExprString(x)]; !own {
			e.told = append(e.told, x)
		}
	case name == "Release" || name == "Signal" || name == "Broadcast",
		standard && (name == "Store" || name == "Add" || name == "Swap" || name == "CompareAndSwap"):
		e.told = append(e.told, x)
	}
}

// signals reports whether a value of a type, handed to a function, may be what that tells its end to.
func (e *end) signals(t types.Type) bool {
	switch u := types.Unalias(t).(type) {
	case *types.Chan:
		return u.Dir() != types.RecvOnly
	case *types.Pointer:
		named, ok := types.Unalias(u.Elem()).(*types.Named)
		return ok && named.Obj().Pkg() != nil && strings.HasPrefix(named.Obj().Pkg().Path(), "sync")
	}
	return false
}

// inside looks at a function of the package that the goroutine calls. What that tells its end to is not followed back.
func (e *end) inside(d *ast.FuncDecl) {
	called := &end{look: e.look, seen: append(slices.Clip(e.seen), d)}
	called.body(d.Body)
	e.unknown = e.unknown || called.unknown || slices.ContainsFunc(called.told, func(to ast.Expr) bool {
		v := e.root(to)
		return v == nil || v.Parent() == v.Pkg().Scope() || e.values.Parameter(v)
	})
}
