package declared

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
)

// goesToAdd reports whether the value of an expression is passed unchanged to Schedule.Add, and to no other
// code: other code might add declarations. stack holds the nodes from the file down to the expression.
func (l *look) goesToAdd(stack []ast.Node) bool {
	i := len(stack) - 1
	for i > 0 && isParen(stack[i-1]) {
		i--
	}
	if i == 0 {
		return false
	}
	e := stack[i]
	switch p := stack[i-1].(type) {
	case *ast.CallExpr:
		if p.Fun == e {
			return l.goesToAdd(stack[:i]) // e is the function that returns the value
		}
		return lib.Callee(l.TypesInfo, p) == "sched.Schedule.Add" || l.passedForAdd(p, e)
	case *ast.SelectorExpr:
		return p.Sel == e && l.goesToAdd(stack[:i])
	case *ast.ReturnStmt:
		return l.returnedForAdd(stack[:i])
	case *ast.AssignStmt:
		for j, value := range p.Rhs {
			if value == e && len(p.Lhs) == len(p.Rhs) {
				return l.heldForAdd(p.Lhs[j])
			}
		}
	case *ast.ValueSpec:
		for j, value := range p.Values {
			if value == e && len(p.Names) == len(p.Values) {
				return l.heldForAdd(p.Names[j])
			}
		}
	case *ast.RangeStmt:
		return p.X == e && p.Value != nil && l.heldForAdd(p.Value)
	case *ast.CompositeLit:
		return holds(l.TypesInfo.TypeOf(p), "sched.System") && l.goesToAdd(stack[:i])
	}
	return false
}

func isParen(n ast.Node) bool {
	_, ok := n.(*ast.ParenExpr)
	return ok
}

// heldForAdd is like goesToAdd, for a local variable that holds the value.
func (l *look) heldForAdd(to ast.Expr) bool {
	x := l.values.Var(to)
	if x == nil || x.IsField() || x.Parent() == l.Pkg.Scope() {
		return false
	}
	all, sure := l.values.Sources(x)
	return sure && len(all) == 1 && l.usedForAdd(x)
}

// passedForAdd is like goesToAdd, for an argument of a call.
func (l *look) passedForAdd(call *ast.CallExpr, argument ast.Node) bool {
	d := l.callee(call)
	if d == nil {
		return false
	}
	x := parameter(l.TypesInfo, d, slices.IndexFunc(call.Args, func(e ast.Expr) bool {
		return e == argument
	}))
	if x == nil || lib.TypeName(x.Type()) != "sched.System" || l.values.Taken(x) {
		return false
	}
	all, _ := l.values.Sources(x)
	return len(all) == 0 && l.usedForAdd(x)
}

// parameter returns parameter i of a function. It returns nil if the parameter is variadic or does not exist.
func parameter(info *types.Info, d *ast.FuncDecl, i int) *types.Var {
	signature := info.Defs[d.Name].(*types.Func).Signature()
	params := signature.Params()
	if i < 0 || i >= params.Len() || signature.Variadic() && i == params.Len()-1 {
		return nil
	}
	return params.At(i)
}

// returnedForAdd is like goesToAdd, for a returned value. stack ends at the return statement. The result is
// false for an exported function, because other packages may add declarations.
func (l *look) returnedForAdd(stack []ast.Node) bool {
	for _, n := range slices.Backward(stack) {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.FuncDecl:
			f := l.TypesInfo.Defs[n.Name].(*types.Func)
			results := f.Signature().Results()
			return !f.Exported() && results.Len() == 1 && results.At(0).Name() == "" && l.usedForAdd(f)
		}
	}
	return false
}

// usedForAdd reports whether all uses of a variable, or all results of a function, are passed to
// Schedule.Add.
func (l *look) usedForAdd(x types.Object) bool {
	if known, ok := l.adds[x]; ok {
		return known
	}
	l.adds[x] = false // the answer for uses that form a cycle
	l.adds[x] = len(l.uses[x]) > 0 && !slices.ContainsFunc(l.uses[x], func(use []ast.Node) bool {
		return !l.goesToAdd(use)
	})
	return l.adds[x]
}
